import BluetoothWire
import Foundation
import Logging

/// Logs messages for the developer of an app. Control characters are escaped, because the messages contain names of
/// peers and attributes.
enum Log {
  // Created for each message, so that a logging system that the app sets up later is used.
  private static var logger: Logger { Logger(label: "CoreBluetooth") }

  /// True if `COREBLUETOOTH_STRICT=1` is set: misuse then stops the program.
  private static let isStrict = ProcessInfo.processInfo.environment["COREBLUETOOTH_STRICT"] == "1"

  /// Logs a call that violates the API and was ignored.
  static func misuse(_ text: String) {
    logger.error("API MISUSE: \(text.printable)")
    if isStrict { fatalError("API MISUSE: \(text.printable)") }
  }

  /// Logs a request that has another effect than the app may expect.
  static func warning(_ text: String) { logger.warning("\(text.printable)") }

  /// Logs what the developer can do to get another result.
  static func hint(_ text: String) { logger.notice("\(text.printable)") }

  /// Logs a fact that helps to explain an app's behaviour and is not a mistake.
  static func note(_ text: String) { logger.debug("\(text.printable)") }

  static func unknownKey(_ key: String, of object: NSObject) -> Any? {
    warning("\(object): no value for the key \"\(key)\"")
    return nil
  }
}
