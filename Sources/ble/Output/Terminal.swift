import BluetoothAir
import BluetoothWire
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
    _ = stopHandler
    let failure: OutputFailure? = live.withLockedValue { live in
      do throws(OutputFailure) { try put(octets: Array((codes + part.text).utf8), to: part.descriptor) } catch {
        return error
      }
      live = part
      return nil
    }
    if let failure { throw failure }
  }

  /// Handles Ctrl-Z from the first live part on.
  private static let stopHandler = StopHandler()

  /// Stops the program, as SIGTSTP does without a handler. When the program goes on, shows the live part again at the
  /// cursor: the shell has written below the former picture.
  fileprivate static func stop() {
    // The lock keeps other pictures away until the part is shown again.
    live.withLockedValue { live in
      let handler = signal(SIGTSTP, SIG_DFL)
      var (stop, former) = (sigset_t(), sigset_t())
      sigemptyset(&stop)
      sigaddset(&stop, SIGTSTP)
      // The threads of Dispatch block all signals.
      pthread_sigmask(SIG_UNBLOCK, &stop, &former)
      raise(SIGTSTP)
      pthread_sigmask(SIG_SETMASK, &former, nil)
      signal(SIGTSTP, handler)
      if let part = live { write("\r" + part.text, to: part.descriptor) }
    }
  }

  /// Shows a text in place of the live part. The text stays, and other output follows it.
  ///
  /// - Parameter text: the control codes that lead from the end of the live part to its beginning, and the text.
  static func finish(_ text: String, on descriptor: Int32) throws(OutputFailure) {
    let failure: OutputFailure? = live.withLockedValue { live in
      do throws(OutputFailure) { try put(octets: Array(text.utf8), to: descriptor) } catch { return error }
      live = nil
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

/// Handles SIGTSTP (Ctrl-Z) until the program ends. A SIGTSTP that the parent has ignored stays ignored. Unchecked,
/// because only the initializer uses `source`.
private final class StopHandler: @unchecked Sendable {
  private let source: (any DispatchSourceSignal)?

  init() {
    guard !Interrupt.isIgnored(SIGTSTP) else {
      source = nil
      return
    }
    let source = DispatchSource.makeSignalSource(signal: SIGTSTP, queue: DispatchQueue(label: "ble stops"))
    source.setEventHandler { Terminal.stop() }
    source.activate()
    self.source = source
  }
}

/// The log messages that wait for the end of a report, so that they do not stand between its lines.
enum HeldLog {
  private static let events = NIOLockedValueBox<[@Sendable () -> Void]?>(nil)

  /// Runs `body`, which prints a report. Log messages that come meanwhile are printed behind it.
  static func during<Result>(_ body: () throws -> Result) rethrows -> Result {
    events.withLockedValue { $0 = $0 ?? [] }
    defer {
      let held = events.withLockedValue { events in
        defer { events = nil }
        return events ?? []
      }
      for event in held { event() }
    }
    return try body()
  }

  /// Prints a message with `body`: now, or behind the report.
  fileprivate static func print(_ body: @escaping @Sendable () -> Void) {
    let isHeld = events.withLockedValue { events in
      events?.append(body)
      return events != nil
    }
    if !isHeld { body() }
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

  func log(event: LogEvent) {
    // Names of peers are in messages and in metadata.
    var event = event
    event.message = "\(event.message.description.printable)"
    event.metadata = event.metadata?.mapValues { .string("\($0)".printable) }
    let (base, line) = (base, event)
    HeldLog.print { Terminal.aside { base.log(event: line) } }
  }
}
