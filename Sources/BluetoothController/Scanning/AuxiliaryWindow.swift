import BluetoothRadio
import BluetoothWire

/// When and where a packet begins that another one has announced · Vol 6, Part B, 2.3.4.5, 4.4.2.2.2.
struct AuxiliaryWindow {
  let channel: RadioChannel
  let phy: PHY
  /// When to begin to listen, and after which instant the packet does not begin any more.
  let opens: Instant
  let closes: Instant
  /// When the packet begins at the earliest if both clocks are right.
  private let expected: Instant

  /// The packet that `pointer` announces, in a packet that began at `start` and has ended by now; nil: there is none, or it
  /// would have begun before that one's end. `accuracy`: how wrong this device's clock may be, parts per million.
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

  /// Whether both are the same packet, as far as one can tell: primary packets of one event announce the same.
  func isSame(as other: AuxiliaryWindow) -> Bool {
    channel == other.channel && phy == other.phy && opens < other.closes && other.opens < closes
  }

  /// What the reception needs of the radio.
  func claim(losses: Int) -> RadioClaim {
    let listening = closes - opens
    return RadioClaim(
      purpose: .auxiliary, start: opens, latestStart: max(opens, expected), shortest: listening + LL.interFrameSpace,
      longest: listening + phy.longestPacket, losses: losses)
  }

  func command(
    accessAddress: UInt32 = LL.advertisingAccessAddress, crcInit: UInt32 = LL.advertisingCRCInit
  ) -> RadioCommand {
    .receive(on: channel, phy: phy, accessAddress: accessAddress, crcInit: crcInit, until: closes)
  }
}

extension PHY {
  /// How long a packet of 255 octets lasts, on LE Coded with S=8.
  var longestPacket: TimeSpan {
    switch self {
    case .le1M: .microseconds(2_120)
    case .le2M: .microseconds(1_064)
    case .leCoded: .microseconds(17_040)
    }
  }

  /// How this device sends what answers a packet on this PHY: on LE Coded so that it is heard farthest.
  var modulation: Modulation {
    switch self {
    case .le1M: .le1M
    case .le2M: .le2M
    case .leCoded: .codedS8
    }
  }
}
