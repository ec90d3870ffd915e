import BluetoothWire

/// Keeps scanners that hear the same device from always asking at once · Vol 6, Part B, 4.4.3.2.
struct BackOff {
  private static let largestLimit = 256

  private var upperLimit = 1
  private var backOffCount = 1
  /// Successes in a row above zero, failures in a row below.
  private var run = 0

  /// A scannable packet has come; true: ask.
  mutating func count() -> Bool {
    backOffCount -= 1
    return backOffCount <= 0
  }

  mutating func requestEnded(isSuccess: Bool, random: inout SplitGenerator) {
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
