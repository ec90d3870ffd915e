import BluetoothWire

/// The part of an app that the daemon stores if its managers have restore identifiers, so that a later run of the
/// daemon can preserve the same sessions. A link is stored as a connection to establish.
package struct StoredApp: Hashable, Sendable {
  /// The maximum number of apps that an adapter stores.
  package static let maximumCount = 256

  /// The state of a central manager's session.
  package struct Central: Hashable, Sendable {
    /// The restore identifier.
    package var identifier: String
    /// The peers that the session was connected to, or wanted to be connected to.
    package var peers: [Connection]
    /// The scan; nil: the session was not scanning.
    package var scan: ScanRequest?

    package init(identifier: String, peers: [Connection] = [], scan: ScanRequest? = nil) {
      self.identifier = identifier
      self.peers = peers
      self.scan = scan
    }
  }

  /// A connection of a session, with its options.
  package struct Connection: Hashable, Sendable {
    /// The identity address, or the address by which the peer is known.
    package var address: DeviceAddress
    package var name: String?
    /// True if the daemon re-establishes a dropped link.
    package var reconnects: Bool
    /// True if the session has had the link.
    package var hasBeenConnected: Bool
    package var alerts: AlertKinds
    /// True if the session requires that the peer can get the notifications of the system.
    package var requiresNotifications: Bool

    package init(
      address: DeviceAddress, name: String? = nil, reconnects: Bool = false, hasBeenConnected: Bool = false,
      alerts: AlertKinds = [], requiresNotifications: Bool = false
    ) {
      self.address = address
      self.name = name
      self.reconnects = reconnects
      self.hasBeenConnected = hasBeenConnected
      self.alerts = alerts
      self.requiresNotifications = requiresNotifications
    }
  }

  /// The state of a peripheral manager's session.
  package struct Peripheral: Hashable, Sendable {
    /// The restore identifier.
    package var identifier: String
    /// The published services, in the order of their publication.
    package var services: [LocalServiceInfo]
    /// The advertising; nil: the session was not advertising.
    package var advertising: RestoredPeripheral.Advertising?

    package init(
      identifier: String, services: [LocalServiceInfo] = [], advertising: RestoredPeripheral.Advertising? = nil
    ) {
      self.identifier = identifier
      self.services = services
      self.advertising = advertising
    }
  }

  package var name: String
  package var manifest: AppManifest
  /// True if the app had not ended, so that its process can outlive the daemon.
  package var wasRunning: Bool
  package var centrals: [Central]
  package var peripherals: [Peripheral]

  package init(
    name: String, manifest: AppManifest = AppManifest(), wasRunning: Bool = false, centrals: [Central] = [],
    peripherals: [Peripheral] = []
  ) {
    self.name = name
    self.manifest = manifest
    self.wasRunning = wasRunning
    self.centrals = centrals
    self.peripherals = peripherals
  }
}
