/// The state of the radio and of the Bluetooth daemon. In states below `poweredOff`, all peers are forgotten.
public enum CBManagerState: Int, Sendable {
  /// The state is not known yet; an update follows.
  case unknown = 0
  /// The connection to the Bluetooth daemon was lost for a moment; an update follows.
  case resetting = 1
  /// There is no adapter, or it does not support Bluetooth Low Energy.
  case unsupported = 2
  /// The app may not use Bluetooth.
  case unauthorized = 3
  /// The radio is off.
  case poweredOff = 4
  /// The radio is on. Commands are accepted only in this state.
  case poweredOn = 5
}

/// The permission of an app to use Bluetooth.
public enum CBManagerAuthorization: Int, Sendable {
  /// The user has not been asked yet.
  case notDetermined = 0
  /// A policy forbids the use of Bluetooth.
  case restricted = 1
  /// The user denied permission.
  case denied = 2
  /// The user granted permission.
  case allowedAlways = 3
}

/// The former `CBManagerState` for centrals.
public enum CBCentralManagerState: Int, Sendable {
  /// The state is not known yet.
  case unknown = 0
  /// The connection to the Bluetooth daemon was lost for a moment.
  case resetting = 1
  /// Bluetooth Low Energy is not supported.
  case unsupported = 2
  /// The app may not use Bluetooth.
  case unauthorized = 3
  /// The radio is off.
  case poweredOff = 4
  /// The radio is on, and commands are accepted.
  case poweredOn = 5
}

/// The former `CBManagerState` for peripherals.
public enum CBPeripheralManagerState: Int, Sendable {
  /// The state is not known yet.
  case unknown = 0
  /// The connection to the Bluetooth daemon was lost for a moment.
  case resetting = 1
  /// Bluetooth Low Energy is not supported.
  case unsupported = 2
  /// The app may not use Bluetooth.
  case unauthorized = 3
  /// The radio is off.
  case poweredOff = 4
  /// The radio is on, and commands are accepted.
  case poweredOn = 5
}

/// The former `CBManagerAuthorization` for peripherals.
public enum CBPeripheralManagerAuthorizationStatus: Int, Sendable {
  /// The user has not been asked yet.
  case notDetermined = 0
  /// A policy forbids the use of Bluetooth.
  case restricted = 1
  /// The user denied permission.
  case denied = 2
  /// The user granted permission.
  case authorized = 3
}
