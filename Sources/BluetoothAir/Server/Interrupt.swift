import BluetoothTransport
import Foundation
import NIOConcurrencyHelpers

/// Handles SIGINT, SIGTERM and SIGHUP while it exists: the first one calls a closure, a second one removes the files of
/// sockets and ends the program. A SIGHUP that the parent has ignored (`nohup`) stays ignored.
///
/// A program creates it before it creates a file and before it announces anything: a script may send a signal as soon as
/// it reads the first output.
package final class Interrupt: @unchecked Sendable {
  // Unchecked: only the initializer and `deinit` use `sources`.

  private static let numbers = Interrupt.isIgnored(SIGHUP) ? [SIGINT, SIGTERM] : [SIGINT, SIGTERM, SIGHUP]

  /// True if the program ignores a signal: before the first handler, if its parent has done so.
  package static func isIgnored(_ number: Int32) -> Bool {
    let former = signal(number, SIG_IGN)
    defer { signal(number, former) }
    return unsafeBitCast(former, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
  }

  private let sources: [any DispatchSourceSignal]
  private let state = NIOLockedValueBox(false)

  /// - Parameters:
  ///   - cleanUp: removes what the program leaves behind otherwise, before a second signal ends it.
  ///   - onFirst: called for the first signal.
  package init(cleanUp: @escaping @Sendable () -> Void, _ onFirst: @escaping @Sendable () -> Void) {
    let queue = DispatchQueue(label: "interrupts")
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
          cleanUp()
          UnixSocketFile.removeAll()
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

  package var hasOccurred: Bool { state.withLockedValue { $0 } }
}
