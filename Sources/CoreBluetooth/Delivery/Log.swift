import BluetoothDaemon
import BluetoothWire
import Foundation

/// Logs messages for the developer of an app.
enum Log {
  // Created for each message, so that a logging system that the app sets up later is used.
  private static var logger: PrintableLogger { PrintableLogger("CoreBluetooth") }

  /// True if `COREBLUETOOTH_STRICT=1` is set: misuse then stops the program.
  private static let isStrict = ProcessInfo.processInfo.environment["COREBLUETOOTH_STRICT"] == "1"

  /// Logs a call that violates the API and was ignored.
  static func misuse(_ text: String) {
    logger.error("API MISUSE: \(text)")
    if isStrict { fatalError("API MISUSE: \(text.printable)") }
  }

  /// Logs a request that has another effect than the app may expect.
  static func warning(_ text: String) { logger.warning(text) }

  /// Logs what the developer can do to get another result.
  static func hint(_ text: String) { logger.notice(text) }

  /// Logs a fact that helps to explain an app's behaviour and is not a mistake.
  static func note(_ text: String) { logger.debug(text) }

  static func unknownKey(_ key: String, of object: NSObject) -> Any? {
    warning("\(object): no value for the key \"\(key)\"")
    return nil
  }
}
