import Logging
import NIOConcurrencyHelpers

/// Records the log of this process. Tests run in parallel: each searches for lines with the names of its own objects.
enum LogRecorder {
  private static let lines = NIOLockedValueBox<[(level: Logger.Level, text: String)]>([])

  private static let isInstalled: Bool = {
    LoggingSystem.bootstrap { _ in Handler() }
    return true
  }()

  static func install() { _ = isInstalled }

  static func lines(containing text: String) -> [String] {
    lines.withLockedValue { lines in lines.map(\.text).filter { $0.contains(text) } }
  }

  /// Returns the levels of the lines that contain `text`.
  static func levels(ofLinesContaining text: String) -> [String] {
    lines.withLockedValue { lines in lines.filter { $0.text.contains(text) }.map(\.level.rawValue) }
  }

  private struct Handler: LogHandler {
    var logLevel = Logger.Level.trace
    var metadata: Logger.Metadata = [:]
    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      lines.withLockedValue { $0.append((event.level, "\(event.message)")) }
    }
  }
}
