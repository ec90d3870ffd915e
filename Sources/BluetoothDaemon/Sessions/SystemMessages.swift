import BluetoothWire

/// A request of the system's user that concerns no app, from the process in which the daemon runs.
package enum SystemRequest: Hashable, Sendable {
  /// Switches the adapter on or off.
  case setPower(Bool)
  /// Prepares the directory for apps, which is answered by `readyForApps`. Otherwise it is prepared for the first app.
  case prepareForApps
  /// Asks for the peers that sessions use; answered by `SystemEvent.links` with the same number.
  case reportLinks(UInt64)
}

/// A message to the process in which the daemon runs.
package enum SystemEvent: Sendable {
  /// The directory has the identifiers of apps from now on.
  case readyForApps
  /// The peers that have a link to this device or that sessions want to connect to.
  case links(UInt64, [PeerUsage])
}

/// The receiver of the events of an adapter that belong to no app.
package protocol SystemClient: AnyObject, Sendable {
  func receive(_ event: SystemEvent)
}

/// The uses of one peer: the apps that hold its link or wait for it.
package struct PeerUsage: Hashable, Sendable {
  /// The state of a connection from the point of view of one session.
  package enum Phase: Hashable, Sendable {
    /// The attempt begins later.
    case delayed
    /// The daemon waits for the peer to advertise.
    case connecting
    case connected
    /// The session has cancelled the connection, and the link is being ended.
    case disconnecting
  }

  /// A session that uses the peer.
  package struct User: Hashable, Sendable {
    /// The name of the app; nil: the session belongs to no app.
    package var app: String?
    package var phase: Phase
    /// True if the app has ended and the system keeps the session.
    package var isPreserved: Bool
    /// True if the daemon re-establishes a dropped link.
    package var reconnects: Bool
    /// True if the link is held until the app handles its events.
    package var isBlocked: Bool

    package init(app: String?, phase: Phase, isPreserved: Bool, reconnects: Bool, isBlocked: Bool) {
      self.app = app
      self.phase = phase
      self.isPreserved = isPreserved
      self.reconnects = reconnects
      self.isBlocked = isBlocked
    }
  }

  package var identifier: PeerIdentifier
  package var address: DeviceAddress
  package var name: String?
  /// True if there is a link to the peer.
  package var isLinked: Bool
  /// True if the daemon is ending the link.
  package var isEnding: Bool
  /// The sessions that use the peer, in the order of their requests; empty: the peer has initiated the link.
  package var users: [User]

  package init(
    identifier: PeerIdentifier, address: DeviceAddress, name: String?, isLinked: Bool, isEnding: Bool, users: [User]
  ) {
    self.identifier = identifier
    self.address = address
    self.name = name
    self.isLinked = isLinked
    self.isEnding = isEnding
    self.users = users
  }
}
