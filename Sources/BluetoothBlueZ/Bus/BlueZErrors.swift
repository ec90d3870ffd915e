import BluetoothDBus
import BluetoothDaemon
import BluetoothWire

// The errors of BlueZ with its texts · src/error.c of BlueZ; clients compare both.
extension DBusError {
  private static func bluez(_ name: String, _ text: String) -> DBusError { DBusError("org.bluez.Error." + name, text) }

  static let invalidCall = bluez("InvalidArguments", "Invalid arguments in method call")
  static func invalidArguments(_ text: String) -> DBusError { bluez("InvalidArguments", text) }
  static let busy = bluez("InProgress", "Operation already in progress")
  static let inProgress = bluez("InProgress", "In Progress")
  static let alreadyExists = bluez("AlreadyExists", "Already Exists")
  static let notSupported = bluez("NotSupported", "Operation is not supported")
  static let notConnected = bluez("NotConnected", "Not Connected")
  static let notAvailable = bluez("NotAvailable", "Operation currently not available")
  static let doesNotExist = bluez("DoesNotExist", "Does Not Exist")
  static let notAuthorized = bluez("NotAuthorized", "Operation Not Authorized")
  static let notReady = bluez("NotReady", "Resource Not Ready")
  static func notPermitted(_ text: String) -> DBusError { bluez("NotPermitted", text) }
  static let tooMany = bluez("Failed", "Too many registrations")
  static func failure(_ text: String) -> DBusError { bluez("Failed", text) }
  static let authenticationCanceled = bluez("AuthenticationCanceled", "Authentication Canceled")
  static let authenticationFailed = bluez("AuthenticationFailed", "Authentication Failed")
  static let authenticationRejected = bluez("AuthenticationRejected", "Authentication Rejected")
  static let authenticationTimeout = bluez("AuthenticationTimeout", "Authentication Timeout")
  static let alreadyPaired = bluez("AlreadyExists", "Already Paired")

  /// Creates the error of a GATT procedure · `create_gatt_dbus_error` of BlueZ.
  static func attribute(_ error: SessionError) -> DBusError {
    guard case .att(let code) = error else {
      return switch error {
      case .timeout: failure("Connection timed out")
      case .notSupported: notSupported
      case .invalidParameters: invalidCall
      default: failure("Not connected")
      }
    }
    switch code.rawValue {
    case 0x02: return notPermitted("Read not permitted")
    case 0x03: return notPermitted("Write not permitted")
    case 0x05, 0x0C, 0x0F: return notPermitted("Not paired")
    case 0x06: return notSupported
    case 0x07: return invalidArguments("Invalid offset")
    case 0x08: return notAuthorized
    case 0x0D: return invalidArguments("Invalid Length")
    default: return failure("Operation failed with ATT error: 0x" + code.rawValue.hexadecimal.lowercased())
    }
  }

  /// Creates the error of `Device1.Connect` · `btd_error_le_str` of BlueZ.
  static func connection(_ error: SessionError) -> DBusError {
    switch error {
    case .connectionLimitReached: failure("le-connection-concurrent-connection-limit")
    case .timeout: failure("le-connection-timeout")
    case .notSupported: failure("le-connection-not-supported")
    case .link(.remoteUserTerminatedConnection): failure("le-connection-abort-by-remote")
    default: failure("le-connection-abort-by-local")
    }
  }
}
