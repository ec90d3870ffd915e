import Foundation
import Logging
import NIOConcurrencyHelpers

/// A part of a terminal that is replaced again and again: a table, or a line of progress.
struct LivePart: Sendable {
  /// The file of the terminal.
  let descriptor: Int32
  /// The text and its control codes.
  let text: String
  /// The control codes that remove the text, and leave the cursor where it began.
  let erasure: String
}

/// The live part of the terminal, and the lines that appear above it.
enum Terminal {
  private static let live = NIOLockedValueBox<LivePart?>(nil)

  /// Shows a live part in place of the one before.
  ///
  /// - Parameter codes: the control codes that lead from the end of the part before to its beginning.
  static func show(_ part: LivePart, after codes: String) throws(OutputFailure) {
    let failure: OutputFailure? = live.withLockedValue { live in
      do throws(OutputFailure) { try put(octets: Array((codes + part.text).utf8), to: part.descriptor) } catch {
        return error
      }
      live = part
      return nil
    }
    if let failure { throw failure }
  }

  /// Leaves the live part as it is. Other output follows it.
  static func release() { live.withLockedValue { $0 = nil } }

  /// Removes the live part.
  static func remove() {
    live.withLockedValue { live in
      if let part = live { write(part.erasure, to: part.descriptor) }
      live = nil
    }
  }

  /// Runs `body`, which writes lines to the standard error: they appear above the live part.
  ///
  /// - Parameter isTerminal: true if the standard error is a terminal.
  static func aside(isTerminal: @autoclosure () -> Bool = isatty(STDERR_FILENO) == 1, _ body: () -> Void) {
    live.withLockedValue { live in
      guard let part = live, isTerminal() else { return body() }
      write(part.erasure, to: part.descriptor)
      body()
      write(part.text, to: part.descriptor)
    }
  }

  /// Writes a text. A failure is ignored: the next picture finds it, too.
  private static func write(_ text: String, to descriptor: Int32) {
    try? put(octets: Array(text.utf8), to: descriptor)
  }
}

/// Prints log messages on the standard error, in the form of swift-log, above the live part of the terminal.
struct TerminalLogHandler: LogHandler {
  private var base: StreamLogHandler

  init(label: String) { base = .standardError(label: label) }

  var logLevel: Logger.Level {
    get { base.logLevel }
    set { base.logLevel = newValue }
  }

  var metadata: Logger.Metadata {
    get { base.metadata }
    set { base.metadata = newValue }
  }

  var metadataProvider: Logger.MetadataProvider? {
    get { base.metadataProvider }
    set { base.metadataProvider = newValue }
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { base[metadataKey: key] }
    set { base[metadataKey: key] = newValue }
  }

  func log(event: LogEvent) { Terminal.aside { base.log(event: event) } }
}
