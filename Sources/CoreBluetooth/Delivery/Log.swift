import BluetoothWire
import Foundation
import Logging

/// Writes messages for the developer of an app to the log. They contain names of peers and attributes, so control characters are
/// escaped.
enum Log {
  // Made anew each time, so that a logging system that the app sets up later is used.
  private static var logger: Logger { Logger(label: "CoreBluetooth") }

  /// `COREBLUETOOTH_STRICT=1`: misuse stops the program.
  private static let isStrict = ProcessInfo.processInfo.environment["COREBLUETOOTH_STRICT"] == "1"

  /// The app did what it must not do; nothing came of it.
  static func misuse(_ text: String) {
    logger.error("API MISUSE: \(text.printable)")
    if isStrict { fatalError("API MISUSE: \(text.printable)") }
  }

  /// What was asked for happens otherwise than the app may think.
  static func warning(_ text: String) { logger.warning("\(text.printable)") }

  /// A fact that helps to explain what an app does, and that is no mistake.
  static func note(_ text: String) { logger.debug("\(text.printable)") }

  static func unknownKey(_ key: String, of object: NSObject) -> Any? {
    warning("\(object): no value for the key \"\(key)\"")
    return nil
  }
}
