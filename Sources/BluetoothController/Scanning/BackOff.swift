import BluetoothWire

/// The backoff procedure, which prevents scanners that receive the same device from always sending requests
/// simultaneously · Vol 6, Part B, 4.4.3.2.
struct BackOff {
  private static let largestLimit = 256

  private var upperLimit = 1
  private var backOffCount = 1
  /// The number of consecutive successes if positive, of consecutive failures if negative.
  private var run = 0

  /// Counts a scannable packet; returns true if the scanner may send a request.
  mutating func count() -> Bool {
    backOffCount -= 1
    return backOffCount <= 0
  }

  mutating func requestEnded(isSuccess: Bool, random: inout RandomStream) {
    run = isSuccess ? max(run, 0) + 1 : min(run, 0) - 1
    if run == 2 {
      upperLimit = max(1, upperLimit / 2)
      run = 0
    } else if run == -2 {
      upperLimit = min(Self.largestLimit, upperLimit * 2)
      run = 0
    }
    backOffCount = 1 + Int(random.next() % UInt64(upperLimit))
  }
}
