/// Closures that answer calls without involving the daemon. The session's `echo` event runs each one in its turn.
struct Echoes {
  private var waiting: [UInt32: () -> Void] = [:]
  private var last: UInt32 = 0

  /// Stores `answer` and returns the number for its `echo` command.
  mutating func add(_ answer: @escaping () -> Void) -> UInt32 {
    last &+= 1
    waiting[last] = answer
    return last
  }

  mutating func take(_ number: UInt32) -> (() -> Void)? { waiting.removeValue(forKey: number) }
}
