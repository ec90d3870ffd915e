import BluetoothHost
import BluetoothWire

/// A request of the system's user that concerns no app, from the process in which the daemon runs.
package enum SystemRequest: Hashable, Sendable {
  /// Switches the adapter on or off, also for later servers of the adapter.
  case setPower(Bool)
  /// Gives all peers new identifiers, as `Daemon.resetNetworkSettings` does if `forgetsBonds`, else as
  /// `Daemon.resetIdentifiers`.
  case resetIdentifiers(forgetsBonds: Bool)
  /// Allows or denies a bonded accessory to get the notifications of the system.
  case setNotificationSharing(Bool, with: DeviceAddress)
  /// Allows or denies an app the use of Bluetooth, also in later runs, whether or not the app has used the adapter;
  /// answered by `SystemEvent.permissionSet` with the same number.
  case setPermission(Bool, ofApp: String, number: UInt64)
  /// Takes over the user's decisions on apps about which this adapter has none.
  case adoptPermissions(AppPermissions)
  /// Prepares the directory for apps, which is answered by `readyForApps`. Otherwise it is prepared for the first app.
  case prepareForApps
  /// Stores the sessions of apps a last time: the process is about to end, and the ends of sessions are its own. Storing
  /// goes on after `prepareForApps`.
  case holdStoredApps
  /// Asks for the peers that sessions use; answered by `SystemEvent.links` with the same number.
  case reportLinks(UInt64)
  /// Pairs with a peer that has a link to this device; answered by `SystemEvent.pairingEnded`.
  case pair(PeerHandle)
  /// Sets the input and output capability for pairings that begin later.
  case setIOCapability(IOCapability)
  /// Forgets the bond with a device, and ends its link.
  case forget(DeviceAddress)
}

/// A message to the process in which the daemon runs.
package enum SystemEvent: Sendable {
  /// The directory has the identifiers of apps from now on. These apps have preserved sessions of a former run, and these
  /// are the user's decisions on apps, of this run and of former ones.
  case readyForApps(preserved: [String], AppPermissions)
  /// The peers that have a link to this device or that sessions want to connect to.
  case links(UInt64, [PeerUsage])
  /// The answer to `setPermission`: the reason why the decision is not stored and applies only to this run; nil: it is
  /// stored.
  case permissionSet(UInt64, failure: String?)
  /// A pairing with a peer has ended, whoever has started it; nil: the devices have paired, and the bond, if any, is
  /// stored.
  case pairingEnded(PeerHandle, SecurityFailure?)
  /// A link has begun. These are all links of the adapter from now on.
  case linkBegan(count: Int)
  /// A link has ended, for this reason; nil: with the adapter.
  case linkEnded(HCI.ErrorCode?, count: Int)
}

/// The receiver of the events of an adapter that belong to no app.
package protocol SystemClient: AnyObject, Sendable {
  func receive(_ event: SystemEvent)
}

/// The uses of one peer: the apps that hold its link or wait for it.
package struct PeerUsage: Hashable, Sendable {
  /// The state of a connection from the point of view of one session.
  package enum Phase: Hashable, Sendable {
    /// The attempt begins later: after its delay, or, as its platform says, when its app is in the foreground.
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
    /// The procedures whose results the session waits for, the oldest ones first; at most 16.
    package var pending: [Pending] = []

    package init(app: String?, phase: Phase, isPreserved: Bool, reconnects: Bool, isBlocked: Bool) {
      self.app = app
      self.phase = phase
      self.isPreserved = isPreserved
      self.reconnects = reconnects
      self.isBlocked = isBlocked
    }
  }

  /// A GATT procedure that has not ended.
  package struct Pending: Hashable, Sendable {
    package enum Procedure: Hashable, Sendable { case read, write, writeWithoutResponse, discovery }

    package var procedure: Procedure
    /// The type of the attribute; nil: unknown, or the procedure concerns more than one.
    package var attribute: BluetoothUUID?
    /// The time since the request in milliseconds.
    package var milliseconds: UInt32

    package init(_ procedure: Procedure, of attribute: BluetoothUUID?, milliseconds: UInt32) {
      self.procedure = procedure
      self.attribute = attribute
      self.milliseconds = milliseconds
    }
  }

  /// An app whose services the peer uses, whichever device has initiated the link.
  package struct Served: Hashable, Sendable {
    /// The name of the app; nil: the services belong to no app.
    package var app: String?
    /// The types of the characteristics to which the peer has subscribed.
    package var subscriptions: [BluetoothUUID]
    /// The peer's requests that the app has not answered, the oldest ones first; at most 16.
    package var pending: [Pending]

    package init(app: String?, subscriptions: [BluetoothUUID], pending: [Pending]) {
      self.app = app
      self.subscriptions = subscriptions
      self.pending = pending
    }
  }

  package var identifier: PeerIdentifier
  package var address: DeviceAddress
  package var name: String?
  /// True if there is a link to the peer.
  package var isLinked: Bool
  /// True if the daemon is ending the link.
  package var isEnding: Bool
  /// The sessions that use the peer, in the order of their requests; empty: the peer has initiated the link, or there is
  /// no link.
  package var users: [User]
  /// The apps whose services the peer uses.
  package var served: [Served] = []

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
