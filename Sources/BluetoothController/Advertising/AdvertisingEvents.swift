import BluetoothWire

/// When a set's packets are sent on the primary channels · Vol 6, Part B, 4.4.2.2.
///
/// Each packet of an event has a claim of its own: between two of them others may have the radio.
struct AdvertisingEvents {
  /// Why a set does not advertise any more, without the host's doing · Vol 4, Part E, 7.8.56.
  enum Limit {
    case duration
    case events
  }

  /// The largest advDelay · 4.4.2.2.1.
  private static let maximumDelay = TimeSpan.milliseconds(10)
  /// The pause between the channels: time for the radio to change.
  static let channelPause = LL.interFrameSpace
  /// From the beginning of one packet of an event to that of the next · 4.4.2.3 and following.
  private static let maximumPause = TimeSpan.milliseconds(10)
  /// How often, and how long, high duty cycle directed advertising sends on a channel · 4.4.2.4.3.
  private static let highDutyInterval = TimeSpan.microseconds(3_750)
  private static let highDutyDuration = TimeSpan.milliseconds(1_280)
  private static let channels: [UInt8] = [37, 38, 39]

  private let channelMap: UInt8
  private let isHighDutyCycle: Bool
  private let interval: TimeSpan
  private let clock: SleepClock
  /// When advertising ends by itself.
  let end: Instant?
  private let maximumEvents: UInt8

  /// When the next event begins.
  private var next: Instant
  private var eventStart = Instant.zero
  private var lastPacket = Instant.zero
  private var nextPacket = Instant.zero
  /// The place in `channels` of the event's present or next packet; nil between events.
  private var index: Int?
  /// Events in a row that did not take place because the radio was taken.
  private var losses = 0
  /// Advertising events so far.
  private var completed = 0
  /// Num_Completed_Extended_Advertising_Events of a set that the duration or the maximum has ended: 0 unless the host gave a
  /// maximum · Vol 4, Part E, 7.7.65.18.
  var reported: UInt8 { maximumEvents > 0 ? UInt8(clamping: completed) : 0 }

  /// - Parameters:
  ///   - duration: how long to advertise; zero: for ever.
  ///   - maximumEvents: how many events; 0: for ever.
  init(
    _ properties: AdvertisingProperties, duration: TimeSpan, maximumEvents: UInt8, clock: SleepClock, at now: Instant
  ) {
    channelMap = properties.channelMap
    isHighDutyCycle = properties.isHighDutyCycle
    interval = isHighDutyCycle ? Self.highDutyInterval : properties.interval
    self.clock = clock
    self.maximumEvents = maximumEvents
    let duration =
      isHighDutyCycle ? duration > .zero ? min(duration, Self.highDutyDuration) : Self.highDutyDuration : duration
    end = duration > .zero ? clock.instant(duration, after: now) : nil
    next = now
  }

  /// Whether events follow each other until somebody ends it.
  var isEndless: Bool { end == nil && maximumEvents == 0 }
  /// Whether the next packet is the first one of an event.
  var isBetweenEvents: Bool { index == nil }
  var channel: RadioChannel { ChannelIndex(Self.channels[min(index ?? 0, 2)]).radioChannel }
  var hasReachedLimit: Bool { maximumEvents > 0 && completed >= Int(maximumEvents) }

  /// What the next packet needs of the radio, if it takes `shortest` and with all that may follow `longest`. It can't be
  /// later than `last`.
  func claim(shortest: TimeSpan, longest: TimeSpan, last: Instant) -> RadioClaim {
    let rest = Int64(((channelMap & 0b111) >> UInt8(index ?? 0)).nonzeroBitCount)
    let start = index == nil ? next : nextPacket
    // An event may be put off for a while; within one, not for long.
    let latestStart = index == nil ? next + interval / 2 : min(last, lastPacket + Self.maximumPause)
    return RadioClaim(
      purpose: .advertising, start: start, latestStart: latestStart, shortest: shortest, longest: longest,
      whole: (longest + Self.channelPause) * rest, losses: losses)
  }

  /// A packet is sent now.
  mutating func begin(at now: Instant) {
    losses = 0
    lastPacket = now
    guard index == nil else { return }
    eventStart = now
    index = channel(from: 0)
  }

  private func channel(from index: Int) -> Int? {
    (index..<Self.channels.count).first { channelMap >> UInt8($0) & 1 == 1 }
  }

  /// The packet is sent and what followed it is over; true: so is the event.
  mutating func endPacket(at now: Instant, random: inout SplitGenerator) -> Bool {
    index = channel(from: (index ?? 0) + 1)
    nextPacket = now + Self.channelPause
    guard index == nil else { return false }
    completed += 1
    plan(after: eventStart, at: now, random: &random)
    return true
  }

  /// Has all events take place that have the radio for themselves, with packets that take `packetTime` each, and are over at
  /// `limit`; says how many packets that were, and when the last one ended.
  mutating func skip(
    until limit: Instant, packetTime: TimeSpan, random: inout SplitGenerator
  ) -> (count: Int, end: Instant)? {
    let packets = (channelMap & 0b111).nonzeroBitCount
    let span = packetTime * Int64(packets) + Self.channelPause * Int64(packets - 1)
    var count = 0
    var end = Instant.zero
    while next + span <= limit, next < .distantFuture {
      begin(at: next)
      end = eventStart + packetTime
      while !endPacket(at: end, random: &random) {
        begin(at: nextPacket)
        end = nextPacket + packetTime
      }
      count += packets
    }
    return count > 0 ? (count, end) : nil
  }

  /// The radio was not free in time: what is left of the event does not take place. True: a part of it did.
  mutating func losePacket(at now: Instant, random: inout SplitGenerator) -> Bool {
    let hadBegun = index != nil
    if hadBegun { completed += 1 } else { losses += 1 }
    index = nil
    plan(after: hadBegun ? eventStart : next, at: now, random: &random)
    return hadBegun
  }

  private mutating func plan(after start: Instant, at now: Instant, random: inout SplitGenerator) {
    var interval = interval
    if !isHighDutyCycle {
      let chance = Int64(truncatingIfNeeded: random.next() >> 32)
      interval += TimeSpan(nanoseconds: (chance * (Self.maximumDelay.nanoseconds + 1)) >> 32)
    }
    next = max(now, clock.instant(interval, after: start))
  }
}
