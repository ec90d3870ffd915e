/// The state of the radio and of the service behind a manager. Below `poweredOff` every peer is forgotten.
public enum CBManagerState: Int, Sendable {
  /// Not known yet: an update is coming.
  case unknown = 0
  /// The connection to the service was lost for a moment: an update is coming.
  case resetting = 1
  /// There is no adapter, or it has no Bluetooth Low Energy.
  case unsupported = 2
  /// The app may not use Bluetooth.
  case unauthorized = 3
  /// The radio is off.
  case poweredOff = 4
  /// Commands are accepted, in this state only.
  case poweredOn = 5
}

/// Whether the app may use Bluetooth.
public enum CBManagerAuthorization: Int, Sendable {
  /// The user was not asked yet.
  case notDetermined = 0
  /// A policy forbids it.
  case restricted = 1
  /// The user refused.
  case denied = 2
  /// The user agreed.
  case allowedAlways = 3
}

/// The old name of `CBManagerState` for centrals.
public enum CBCentralManagerState: Int, Sendable {
  /// Not known yet.
  case unknown = 0
  /// The connection to the service was lost for a moment.
  case resetting = 1
  /// There is no Bluetooth Low Energy.
  case unsupported = 2
  /// The app may not use Bluetooth.
  case unauthorized = 3
  /// The radio is off.
  case poweredOff = 4
  /// Commands are accepted.
  case poweredOn = 5
}

/// The old name of `CBManagerState` for peripherals.
public enum CBPeripheralManagerState: Int, Sendable {
  /// Not known yet.
  case unknown = 0
  /// The connection to the service was lost for a moment.
  case resetting = 1
  /// There is no Bluetooth Low Energy.
  case unsupported = 2
  /// The app may not use Bluetooth.
  case unauthorized = 3
  /// The radio is off.
  case poweredOff = 4
  /// Commands are accepted.
  case poweredOn = 5
}

/// The old name of `CBManagerAuthorization` for peripherals.
public enum CBPeripheralManagerAuthorizationStatus: Int, Sendable {
  /// The user was not asked yet.
  case notDetermined = 0
  /// A policy forbids it.
  case restricted = 1
  /// The user refused.
  case denied = 2
  /// The user agreed.
  case authorized = 3
}
