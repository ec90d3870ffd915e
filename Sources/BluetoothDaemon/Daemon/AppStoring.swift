import BluetoothWire

/// The storing of the sessions that a later run of the daemon preserves.
struct AppStoring {
  /// The minimum time between two changes on the disk.
  static let pause = TimeSpan.seconds(1)

  /// True if the sessions are stored; false also if another program has reserved the place.
  var isOn: Bool
  /// True if nothing is stored any more, because the process is about to end.
  var isHeld = false
  /// The apps as they are stored.
  var last: [StoredApp] = []
  /// The time of the next change on the disk at the earliest.
  var earliestTime = Instant.zero

  init(isOn: Bool) { self.isOn = isOn }
}

extension CentralCommand {
  /// True if the command can change what is stored of its session.
  var concernsStoredApps: Bool {
    switch self {
    case .scan, .stopScan, .connect, .cancelConnection, .requestAlerts, .requireNotifications: true
    default: false
    }
  }
}

extension PeripheralCommand {
  /// True if the command can change what is stored of its session.
  var concernsStoredApps: Bool {
    switch self {
    case .startAdvertising, .stopAdvertising, .addService, .addServiceAt, .removeService, .removeAllServices: true
    default: false
    }
  }
}
