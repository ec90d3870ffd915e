import BluetoothWire
import Logging

/// The log of a server: lines for people, with the client as fields for machines.
enum ServerLog {
  // Created for each message, so that a logging system that the program installs later is used.
  private static func logger(_ client: ClientIdentity?) -> Logger {
    var logger = Logger(label: "CoreBluetooth.server")
    for (key, value) in client?.metadata ?? [:] { logger[metadataKey: key] = value }
    return logger
  }

  /// Logs what the operator may want to know, in one line.
  static func tell(_ line: String, about client: ClientIdentity? = nil) {
    logger(client).info("\(line.printable)")
  }

  /// Logs a detail, in one line.
  static func trace(_ line: String) { logger(nil).debug("\(line.printable)") }

  /// Logs what the operator should look at, in one line.
  static func warn(_ line: String, about client: ClientIdentity? = nil) {
    logger(client).warning("\(line.printable)")
  }
}
