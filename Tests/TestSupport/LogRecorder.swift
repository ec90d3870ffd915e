import Logging
import NIOConcurrencyHelpers

/// The log lines of this process, of all levels, since the creation of this value. Tests run in parallel: each searches for lines with
/// the names of its own objects. Create the value before those objects: their names contain addresses, and an object
/// that another test has released may have had the same one.
package struct LogRecorder: Sendable {
  private static let lines = NIOLockedValueBox<[(level: Logger.Level, text: String, fields: [String: String])]>([])

  private static let isInstalled: Bool = {
    LoggingSystem.bootstrap { _ in Handler() }
    return true
  }()

  /// The number of lines that were logged before.
  private let start: Int

  package init() {
    _ = Self.isInstalled
    start = Self.lines.withLockedValue { $0.count }
  }

  package func lines(containing text: String) -> [String] { entries(containing: text).map(\.text) }

  /// Returns the levels of the lines that contain `text`.
  package func levels(ofLinesContaining text: String) -> [String] { entries(containing: text).map(\.level.rawValue) }

  /// Returns the fields of the lines that contain `text`.
  package func fields(ofLinesContaining text: String) -> [[String: String]] {
    entries(containing: text).map(\.fields)
  }

  private func entries(
    containing text: String
  ) -> [(level: Logger.Level, text: String, fields: [String: String])] {
    Self.lines.withLockedValue { lines in lines[start...].filter { $0.text.contains(text) } }
  }

  private struct Handler: LogHandler {
    var logLevel = Logger.Level.trace
    var metadata: Logger.Metadata = [:]
    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      let fields = metadata.merging(event.metadata ?? [:]) { $1 }.mapValues { "\($0)" }
      lines.withLockedValue { $0.append((event.level, "\(event.message)", fields)) }
    }
  }
}
