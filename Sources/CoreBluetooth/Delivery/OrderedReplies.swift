/// The replies that a manager gives without the daemon, such as refusals of invalid arguments. Each one waits for the
/// `barrierReached` event with its number, so that the app gets it after the answers to its earlier calls.
struct OrderedReplies {
  private var waiting: [UInt32: () -> Void] = [:]
  private var last: UInt32 = 0

  /// Stores `reply` and returns the number for its `barrier` command.
  mutating func add(_ reply: @escaping () -> Void) -> UInt32 {
    last &+= 1
    waiting[last] = reply
    return last
  }

  /// Removes and returns the reply with this number.
  mutating func take(_ number: UInt32) -> (() -> Void)? { waiting.removeValue(forKey: number) }
}
