import BluetoothWire

/// The scan windows of a scanner or an initiator on one PHY: a window at the start of each interval, on the three
/// channels in turn · Vol 6, Part B, 4.4.3. The windows have no state: they follow from the time.
struct ScanWindows {
  private let start: Instant
  private let interval: TimeSpan
  private let window: TimeSpan
  private let firstChannel: UInt8

  /// Creates windows from `start` on, with interval and window in units of 0.625 ms; `firstChannel` is 0 to 2 for 37
  /// to 39.
  init(interval: UInt16, window: UInt16, start: Instant, firstChannel: UInt8 = 0) {
    self.start = start
    self.firstChannel = firstChannel
    self.interval = HCI.AdvertisingParameters.intervalUnit * Int64(max(1, interval))
    self.window = HCI.AdvertisingParameters.intervalUnit * Int64(max(1, window))
  }

  private func number(at now: Instant) -> Int64 {
    max(0, (now - start).nanoseconds) / interval.nanoseconds
  }

  /// Returns the channel and the end of the open window; nil: none is open.
  func open(at now: Instant) -> (channel: RadioChannel, end: Instant)? {
    let number = number(at: now)
    let end = start + interval * number + window
    guard now >= start, now < end else { return nil }
    return (ChannelIndex(37 + (firstChannel + UInt8(number % 3)) % 3).radioChannel, end)
  }

  /// Returns the start of the next window after `now`.
  func next(after now: Instant) -> Instant { now < start ? start : start + interval * (number(at: now) + 1) }

  /// True if these windows have a higher duty cycle than `other`.
  func isDenser(than other: ScanWindows) -> Bool {
    // The products can have more than 64 bits.
    window.nanoseconds.multipliedFullWidth(by: other.interval.nanoseconds)
      > other.window.nanoseconds.multipliedFullWidth(by: interval.nanoseconds)
  }

  /// Returns the time, in microseconds, during which the windows are open for a total of `span`: `span` divided by the
  /// duty cycle.
  func share(of span: TimeSpan) -> Int64 {
    span.nanoseconds / 1_000 * interval.nanoseconds / window.nanoseconds
  }
}
