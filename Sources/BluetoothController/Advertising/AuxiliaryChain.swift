import BluetoothWire

/// Data that may need several packets: each packet points to the next one, AUX_CHAIN_IND, until all data are sent ·
/// Vol 6, Part B, 2.3.1.6, 2.3.1.8.
struct AuxiliaryChain {
  /// The time and channel of a packet, which the previous packet announces.
  struct Link {
    var start: Instant
    var channel: ChannelIndex
  }

  /// The maximum delay of the next packet after its earliest time, while the radio is in use.
  private static let maximumDelay = TimeSpan.milliseconds(20)

  let modulation: Modulation
  let isClockAccurate: Bool
  let data: ByteSlice
  /// The number of octets that have been sent.
  private var sent = 0
  /// The next packet; nil: there is none.
  private(set) var next: Link?

  init(_ data: ByteSlice, modulation: Modulation, isClockAccurate: Bool, first: Link?) {
    self.data = data
    self.modulation = modulation
    self.isClockAccurate = isClockAccurate
    next = first
  }

  /// Returns the air time of the next packet, whose other fields are `fields`.
  func length(_ fields: LL.ExtendedAdvertisingPayload) -> TimeSpan {
    var payload = fields
    payload.data = data.dropFirst(sent)
    return modulation.airTime(payloadOctets: min(payload.length, LL.ExtendedAdvertisingPayload.maximumLength))
  }

  /// Returns the packet that is sent now: `fields`, as much of the data as fits, and a pointer to the rest.
  mutating func take(
    _ fields: LL.ExtendedAdvertisingPayload, at now: Instant, scheduler: RadioScheduler, channel: (Int) -> ChannelIndex
  ) -> LL.ExtendedAdvertisingPayload {
    var payload = fields
    let rest = data.dropFirst(sent)
    let maximum = LL.ExtendedAdvertisingPayload.maximumLength
    payload.data = rest
    guard payload.length > maximum else {
      sent = data.count
      next = nil
      return payload
    }
    // The pointer takes its room before its values are known: they don't change the length.
    payload.auxiliary = pointer(to: Link(start: now, channel: ChannelIndex(0)), from: now)
    payload.data = rest.prefix(rest.count - (payload.length - maximum))
    sent += payload.data.count
    let earliest = now + modulation.airTime(payloadOctets: maximum) + LL.minimumAuxiliaryFrameSpace
    var following = fields
    following.data = data.dropFirst(sent)
    let length = modulation.airTime(payloadOctets: min(following.length, maximum))
    let link = Link(
      start: scheduler.gap(of: length, from: earliest, before: earliest + Self.maximumDelay), channel: channel(sent))
    payload.auxiliary = pointer(to: link, from: now)
    next = link
    return payload
  }

  /// Returns AuxPtr of a packet that begins at `now`.
  func pointer(to link: Link, from now: Instant) -> LL.AuxiliaryPointer {
    LL.AuxiliaryPointer(
      channel: link.channel, isClockAccurate: isClockAccurate, offset: LL.PacketOffset(link.start - now),
      phy: modulation.phy)
  }

  /// Drops the rest of the data.
  mutating func cancel() { next = nil }
}
