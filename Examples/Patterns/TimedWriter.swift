import CoreBluetooth

/// Writes parts without response by a timer: one part in each interval, however fast the link is.
///
/// For a peer that needs time for each part. `HighThroughputWriter` is faster. Use the writer on the manager's queue.
///
/// Unchecked Sendable, because the timers carry a reference to it. The app must use it on one queue.
final class TimedWriter: @unchecked Sendable {
  private let peripheral: CBPeripheral
  private let characteristic: CBCharacteristic
  private let interval: TimeInterval
  private let after: (TimeInterval, @escaping @Sendable () -> Void) -> Void
  private var parts: [Data] = []
  /// True from a write until the end of its interval.
  private var isPausing = false

  /// Creates a writer for a characteristic that has the property `writeWithoutResponse`.
  ///
  /// - Parameters:
  ///   - interval: the seconds from one part to the next.
  ///   - after: calls a closure after a number of seconds.
  init(
    _ characteristic: CBCharacteristic, of peripheral: CBPeripheral, interval: TimeInterval = 0.05,
    after: @escaping (TimeInterval, @escaping @Sendable () -> Void) -> Void = {
      DispatchQueue.main.asyncAfter(deadline: .now() + $0, execute: $1)
    }
  ) {
    (self.characteristic, self.peripheral, self.interval) = (characteristic, peripheral, interval)
    self.after = after
  }

  /// Sends the parts: the first one at once, or when the interval of the latest part has passed.
  func send(_ parts: [Data]) {
    self.parts += parts
    if !isPausing { sendNext() }
  }

  private func sendNext() {
    guard let part = parts.first else { return }
    // A part for which there is no room waits for the next interval.
    if peripheral.canSendWriteWithoutResponse {
      peripheral.writeValue(part, for: characteristic, type: .withoutResponse)
      parts.removeFirst()
    }
    isPausing = true
    after(interval) { [weak self] in
      self?.isPausing = false
      self?.sendNext()
    }
  }
}
