import Foundation
import NIOConcurrencyHelpers

/// Handles SIGINT, SIGTERM and SIGHUP while it exists: the first one calls a closure, a second one removes temporary
/// files and ends the program. A SIGHUP that the parent has ignored (`nohup`) stays ignored.
final class Interrupt: @unchecked Sendable {
  // Unchecked: only the initializer and `deinit` use `sources`.

  private static let numbers = Interrupt.isIgnored(SIGHUP) ? [SIGINT, SIGTERM] : [SIGINT, SIGTERM, SIGHUP]

  /// True if the program ignores a signal: before the first handler, if its parent has done so.
  static func isIgnored(_ number: Int32) -> Bool {
    let former = signal(number, SIG_IGN)
    defer { signal(number, former) }
    return unsafeBitCast(former, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
  }

  private let sources: [any DispatchSourceSignal]
  private let state = NIOLockedValueBox(false)

  init(_ onFirst: @escaping @Sendable () -> Void) {
    let queue = DispatchQueue(label: "ble interrupts")
    let state = state
    let registrations = DispatchGroup()
    sources = Self.numbers.map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
      source.setEventHandler {
        let isFirst = state.withLockedValue { hasOccurred in
          defer { hasOccurred = true }
          return !hasOccurred
        }
        // `data` counts the signals since the last event: two signals in quick succession cause one event.
        guard isFirst, source.data <= 1 else {
          TemporaryPath.removeAll()
          // The exit status that shells report for a signal.
          _exit(128 + number)
        }
        onFirst()
      }
      registrations.enter()
      source.setRegistrationHandler { registrations.leave() }
      source.activate()
      return source
    }
    // The system drops a signal that comes earlier: the program would go on.
    registrations.wait()
  }

  deinit {
    for source in sources { source.cancel() }
    for number in Self.numbers { signal(number, SIG_DFL) }
  }

  var hasOccurred: Bool { state.withLockedValue { $0 } }

  /// The failure of a verb that was interrupted before its end.
  static var failure: Failure { Failure("interrupted", status: ExitStatus.interrupted) }

  /// Runs work that leaves nothing behind but its output files. An interrupt ends the program at once, also while the
  /// work waits for input.
  static func endsProgram<Result>(during body: () throws -> Result) rethrows -> Result {
    let interrupt = Interrupt {
      TemporaryPath.removeAll()
      Terminal.remove()
      complain(failure.description)
      _exit(failure.status)
    }
    defer { withExtendedLifetime(interrupt) {} }
    return try body()
  }
}
