import BluetoothWire
import Logging

/// The log of a module. Its lines and their fields can have texts of others, such as names of peers and paths of
/// programs: characters that would begin another line or control a terminal are escaped. All modules of this package log
/// by it, so that none can forget that.
package struct PrintableLogger: Sendable {
  private let logger: Logger

  /// Creates a logger for few lines, so that a logging system that the app installs later is used.
  package init(_ label: String) { logger = Logger(label: label) }

  package func error(
    _ line: @autoclosure () -> String, fields: @autoclosure () -> KeyValuePairs<String, String> = [:],
    file: String = #fileID, function: String = #function, number: UInt = #line
  ) {
    log(.error, line, fields, file, function, number)
  }

  package func warning(
    _ line: @autoclosure () -> String, fields: @autoclosure () -> KeyValuePairs<String, String> = [:],
    file: String = #fileID, function: String = #function, number: UInt = #line
  ) {
    log(.warning, line, fields, file, function, number)
  }

  package func notice(
    _ line: @autoclosure () -> String, fields: @autoclosure () -> KeyValuePairs<String, String> = [:],
    file: String = #fileID, function: String = #function, number: UInt = #line
  ) {
    log(.notice, line, fields, file, function, number)
  }

  package func info(
    _ line: @autoclosure () -> String, fields: @autoclosure () -> KeyValuePairs<String, String> = [:],
    file: String = #fileID, function: String = #function, number: UInt = #line
  ) {
    log(.info, line, fields, file, function, number)
  }

  package func debug(
    _ line: @autoclosure () -> String, fields: @autoclosure () -> KeyValuePairs<String, String> = [:],
    file: String = #fileID, function: String = #function, number: UInt = #line
  ) {
    log(.debug, line, fields, file, function, number)
  }

  /// Logs a line. Neither the line nor its fields are made if the log does not show this level.
  private func log(
    _ level: Logger.Level, _ line: () -> String, _ fields: () -> KeyValuePairs<String, String>, _ file: String,
    _ function: String, _ number: UInt
  ) {
    guard logger.logLevel <= level else { return }
    let metadata = fields().map { ($0.key, Logger.MetadataValue.string($0.value.printable)) }
    logger.log(
      level: level, "\(line().printable)", metadata: metadata.isEmpty ? nil : Dictionary(metadata) { $1 }, file: file,
      function: function, line: number)
  }
}
