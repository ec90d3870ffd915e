import BluetoothWire

/// The owner of a session: an app, and the identifier under which the system preserves the session.
package struct SessionOwner: Hashable, Sendable {
  /// The name of the app, which is its identity.
  package var app: String
  /// The identifier for restoration, unique among the app's managers of one role; nil: the session is not preserved.
  package var restoreIdentifier: String?
  /// The user who runs the app.
  package var user: ClientUser

  package init(app: String, restoreIdentifier: String? = nil, user: ClientUser = .unknown) {
    self.app = app
    self.restoreIdentifier = restoreIdentifier
    self.user = user
  }
}

/// A message about the life of an app, from the process that runs it.
package enum AppRequest: Hashable, Sendable {
  /// The app has been launched, in the foreground or in the background.
  case launched(AppManifest, isInFront: Bool)
  /// The user has brought the app to the foreground, or has left it.
  case becameFrontmost(Bool)
  /// The app has been suspended before the system would have done so.
  case suspended
  /// The app has ended. Its clients get no more events.
  case terminated(AppTermination)
  /// The process can launch the app for an event now, or can't. At first it can. While it can't, the events of the
  /// terminated app wait, and clients' requests for its values fail at once.
  case launchable(Bool)
  /// The process can't launch the app for an event now, and can after a pause of at most 16 s, which `launchable` ends.
  /// Clients' requests wait meanwhile, too.
  case launchPaused
  /// The process wants the identifiers of the preserved sessions, for the launch of the app by another adapter. The
  /// answer is `AppEvent.preserved`.
  case reportPreserved
  /// The user has allowed or denied the app the use of Bluetooth in the settings.
  case permissionChanged(Bool)
}

/// A message to the process that runs an app.
package enum AppEvent: Hashable, Sendable {
  case stateChanged(AppRunState)
  /// An event has come for the preserved sessions of the terminated app: launch the app in the background.
  case launch(RestoreIdentifiers)
  /// The identifiers of the preserved sessions, as the answer to `AppRequest.reportPreserved`.
  case preserved(RestoreIdentifiers)
  /// The system ends the app for this reason.
  case stop(String)
  /// The system has ended the app, because the device restarts.
  case ended
}

/// The identifiers of the preserved sessions of an app.
package struct RestoreIdentifiers: Hashable, Sendable {
  package var centrals: [String] = []
  package var peripherals: [String] = []
  package init(centrals: [String] = [], peripherals: [String] = []) {
    self.centrals = centrals
    self.peripherals = peripherals
  }
}

/// The receiver of an app's events; see `CentralClient`.
package protocol AppClient: AnyObject, Sendable {
  func receive(_ event: AppEvent)
}

/// The state of a central manager's session when its app was terminated.
package struct RestoredCentral: Sendable {
  /// A peripheral that the session was connected to, or was connecting to.
  package struct RestoredPeer: Sendable {
    package var info: PeerInfo
    /// The maximum length of a write without response; nil: not connected yet.
    package var maximumWriteLength: Int?
    package var reconnects: Bool
    /// The discovered services; nil: the session has not discovered services.
    package var services: [Service]?

    package init(info: PeerInfo, maximumWriteLength: Int? = nil, reconnects: Bool, services: [Service]? = nil) {
      self.info = info
      self.maximumWriteLength = maximumWriteLength
      self.reconnects = reconnects
      self.services = services
    }
  }

  package struct Service: Sendable {
    package var service: RemoteServiceInfo
    /// The known characteristics; nil: they have not been discovered.
    package var characteristics: [Characteristic]?

    package init(service: RemoteServiceInfo, characteristics: [Characteristic]? = nil) {
      self.service = service
      self.characteristics = characteristics
    }
  }

  package struct Characteristic: Sendable {
    package var characteristic: RemoteCharacteristicInfo
    /// True if the session is subscribed.
    package var isNotifying: Bool
    /// The known descriptors; nil: they have not been discovered.
    package var descriptors: [RemoteDescriptorInfo]?

    package init(
      characteristic: RemoteCharacteristicInfo, isNotifying: Bool, descriptors: [RemoteDescriptorInfo]? = nil
    ) {
      self.characteristic = characteristic
      self.isNotifying = isNotifying
      self.descriptors = descriptors
    }
  }

  package var peers: [RestoredPeer]
  /// The scan; nil: the session was not scanning.
  package var scan: ScanRequest?

  package init(peers: [RestoredPeer], scan: ScanRequest?) {
    self.peers = peers
    self.scan = scan
  }
}

/// The state of a peripheral manager's session when its app was terminated.
package struct RestoredPeripheral: Sendable {
  package struct Subscription: Sendable {
    package var central: CentralInfo
    package var characteristic: LocalAttributeID

    package init(central: CentralInfo, characteristic: LocalAttributeID) {
      self.central = central
      self.characteristic = characteristic
    }
  }

  package struct Advertising: Hashable, Sendable {
    package var localName: String?
    package var services: [BluetoothUUID]

    package init(localName: String?, services: [BluetoothUUID]) {
      self.localName = localName
      self.services = services
    }
  }

  /// The published services, in the order of their publication.
  package var services: [LocalServiceInfo]
  package var subscriptions: [Subscription]
  /// The advertising; nil: the session was not advertising.
  package var advertising: Advertising?

  package init(services: [LocalServiceInfo], subscriptions: [Subscription], advertising: Advertising?) {
    self.services = services
    self.subscriptions = subscriptions
    self.advertising = advertising
  }
}
