import BluetoothRadio
import BluetoothWire

/// The time and channel of a packet that another packet has announced · Vol 6, Part B, 2.3.4.5, 4.4.2.2.2.
struct AuxiliaryWindow {
  let channel: RadioChannel
  let phy: RadioPHY
  /// The start of listening, and the last instant at which the packet may begin.
  let opens: Instant
  let closes: Instant
  /// The earliest start of the packet if both clocks are accurate.
  private let expected: Instant

  /// Creates the window of the packet that `pointer` announces, in a packet that began at `start` and has ended by
  /// now. Returns nil if there is no such packet, or if it would have begun before the end of the announcing packet.
  /// `accuracy` is the maximum error of this device's clock, parts per million.
  init?(_ pointer: LL.AuxiliaryPointer, from start: Instant, clock: SleepClock, accuracy: Int64, at now: Instant) {
    guard pointer.offset.value > 0 else { return nil }
    let span = pointer.offset.span
    let drift = TimeSpan(nanoseconds: span.nanoseconds * (pointer.partsPerMillion + accuracy) / 1_000_000)
    let widening = drift + RadioTiming.anchorJitter
    expected = clock.instant(span, after: start)
    guard expected > now else { return nil }
    opens = max(now, expected - widening)
    closes = expected + pointer.offset.unit + widening
    channel = pointer.channel.radioChannel
    phy = pointer.phy
  }

  /// True if both windows are probably for the same packet: the primary packets of one event all announce the same
  /// packet.
  func isSame(as other: AuxiliaryWindow) -> Bool {
    channel == other.channel && phy == other.phy && opens < other.closes && other.opens < closes
  }

  /// Returns the timeslot of the reception on the radio.
  func timeslot(losses: Int) -> TimeslotRequest {
    let listening = closes - opens
    return TimeslotRequest(
      purpose: .auxiliary, start: opens, latestStart: max(opens, expected), shortest: listening + LL.interFrameSpace,
      longest: listening + phy.longestPacket, losses: losses)
  }

  func command(
    accessAddress: UInt32 = LL.advertisingAccessAddress, crcInit: UInt32 = LL.advertisingCRCInit
  ) -> RadioCommand {
    .receive(on: channel, phy: phy, accessAddress: accessAddress, crcInit: crcInit, until: closes)
  }
}

extension RadioPHY {
  /// The duration of a packet of 255 octets, on LE Coded with S=8.
  var longestPacket: TimeSpan {
    switch self {
    case .le1M: .microseconds(2_120)
    case .le2M: .microseconds(1_064)
    case .leCoded: .microseconds(17_040)
    }
  }

  /// The modulation in which this device answers a packet on this PHY: on LE Coded the one with the longest range.
  var modulation: Modulation {
    switch self {
    case .le1M: .le1M
    case .le2M: .le2M
    case .leCoded: .codedS8
    }
  }
}
