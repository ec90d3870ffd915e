import BluetoothAir
import Foundation

extension Interrupt {
  /// Handles the signals until the end of a verb.
  convenience init(_ onFirst: @escaping @Sendable () -> Void) {
    self.init(cleanUp: TemporaryPath.removeAll, onFirst)
  }

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
