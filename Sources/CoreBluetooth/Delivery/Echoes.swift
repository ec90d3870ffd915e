/// Answers that need no service. Each waits for its turn: the session's `echo` says when that is.
struct Echoes {
  private var waiting: [UInt32: () -> Void] = [:]
  private var last: UInt32 = 0

  /// Keeps `answer` and names it for `echo`.
  mutating func add(_ answer: @escaping () -> Void) -> UInt32 {
    last &+= 1
    waiting[last] = answer
    return last
  }

  mutating func take(_ number: UInt32) -> (() -> Void)? { waiting.removeValue(forKey: number) }
}
