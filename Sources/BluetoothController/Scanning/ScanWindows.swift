import BluetoothWire

/// When a scanner or an initiator listens on one PHY, and where: a window at the beginning of each interval, on the three
/// channels in turn · Vol 6, Part B, 4.4.3. It needs no state: the time says it all.
struct ScanWindows {
  private let start: Instant
  private let interval: TimeSpan
  private let window: TimeSpan
  private let firstChannel: UInt8

  /// Interval and window in units of 0.625 ms, from `start` on; `firstChannel` is 0 to 2 for 37 to 39.
  init(interval: UInt16, window: UInt16, start: Instant, firstChannel: UInt8 = 0) {
    self.start = start
    self.firstChannel = firstChannel
    self.interval = HCI.AdvertisingParameters.intervalUnit * Int64(max(1, interval))
    self.window = HCI.AdvertisingParameters.intervalUnit * Int64(max(1, window))
  }

  private func number(at now: Instant) -> Int64 {
    max(0, (now - start).nanoseconds) / interval.nanoseconds
  }

  /// The window that is open, and its end; nil: none is.
  func open(at now: Instant) -> (channel: RadioChannel, end: Instant)? {
    let number = number(at: now)
    let end = start + interval * number + window
    guard now >= start, now < end else { return nil }
    return (ChannelIndex(37 + (firstChannel + UInt8(number % 3)) % 3).radioChannel, end)
  }

  /// When the next window opens after `now`.
  func next(after now: Instant) -> Instant { now < start ? start : start + interval * (number(at: now) + 1) }

  /// Whether this one listens a greater part of the time than `other`.
  func isDenser(than other: ScanWindows) -> Bool {
    window.nanoseconds * other.interval.nanoseconds > other.window.nanoseconds * interval.nanoseconds
  }

  /// How long it takes, in microseconds, until so much time passes in windows.
  func share(of span: TimeSpan) -> Int64 {
    span.nanoseconds / 1_000 * interval.nanoseconds / window.nanoseconds
  }
}
