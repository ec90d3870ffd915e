import BluetoothWire

/// The schedule of a set's packets on the primary channels · Vol 6, Part B, 4.4.2.2.
///
/// Each packet of an event has a separate timeslot: other activities may use the radio between two packets.
struct AdvertisingEvents {
  /// The limit at which the controller ends advertising without a command of the host · Vol 4, Part E, 7.8.56.
  enum Limit {
    case duration
    case events
  }

  /// The largest advDelay · 4.4.2.2.1.
  private static let maximumDelay = TimeSpan.milliseconds(10)
  /// The pause between the channels, in which the radio changes channel.
  static let channelPause = LL.interFrameSpace
  /// The maximum time from the start of one packet of an event to the start of the next · 4.4.2.3 and following.
  private static let maximumPause = TimeSpan.milliseconds(10)
  /// The interval on a channel, and the duration, of high duty cycle directed advertising · 4.4.2.4.3.
  private static let highDutyInterval = TimeSpan.microseconds(3_750)
  private static let highDutyDuration = TimeSpan.milliseconds(1_280)
  private static let channels: [UInt8] = [37, 38, 39]

  private let channelMap: UInt8
  private let isHighDutyCycle: Bool
  private let interval: TimeSpan
  private let clock: SleepClock
  /// The time at which the duration of advertising ends; nil: unlimited.
  let end: Instant?
  private let maximumEvents: UInt8

  /// The start of the next event.
  private var next: Instant
  private var eventStart = Instant.zero
  private var lastPacket = Instant.zero
  private var nextPacket = Instant.zero
  /// The index in `channels` of the event's present or next packet; nil between events.
  private var index: Int?
  /// The number of consecutive events that did not take place because the radio was in use.
  private var losses = 0
  /// The number of advertising events so far.
  private var completed = 0
  /// Num_Completed_Extended_Advertising_Events of a set that its duration or its maximum of events has ended: 0
  /// unless the host set a maximum · Vol 4, Part E, 7.7.65.18.
  var reported: UInt8 { maximumEvents > 0 ? UInt8(clamping: completed) : 0 }

  /// Creates a schedule whose first event begins now.
  ///
  /// - Parameters:
  ///   - duration: the duration of advertising; zero: unlimited.
  ///   - maximumEvents: the maximum number of events; 0: unlimited.
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

  /// True if advertising has no limit.
  var isEndless: Bool { end == nil && maximumEvents == 0 }
  /// True if the next packet is the first of an event.
  var isBetweenEvents: Bool { index == nil }
  var channel: RadioChannel { ChannelIndex(Self.channels[min(index ?? 0, 2)]).radioChannel }
  var hasReachedLimit: Bool { maximumEvents > 0 && completed >= Int(maximumEvents) }

  /// Returns the timeslot of the next packet, which lasts `shortest`; with the longest exchange that may follow,
  /// `longest`. The packet can't begin later than `last`.
  func timeslot(shortest: TimeSpan, longest: TimeSpan, last: Instant) -> TimeslotRequest {
    let rest = Int64(((channelMap & 0b111) >> UInt8(index ?? 0)).nonzeroBitCount)
    let start = index == nil ? next : nextPacket
    // An event may start up to half an interval late; a packet within an event at most 10 ms after the previous one.
    let latestStart = index == nil ? next + interval / 2 : min(last, lastPacket + Self.maximumPause)
    return TimeslotRequest(
      purpose: .advertising, start: start, latestStart: latestStart, shortest: shortest, longest: longest,
      whole: (longest + Self.channelPause) * rest, losses: losses)
  }

  /// Marks the start of a packet.
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

  /// Ends a packet and the exchange that followed it; returns true if the event has ended as well.
  mutating func endPacket(at now: Instant, random: inout RandomStream) -> Bool {
    index = channel(from: (index ?? 0) + 1)
    nextPacket = now + Self.channelPause
    guard index == nil else { return false }
    completed += 1
    plan(after: eventStart, at: now, random: &random)
    return true
  }

  /// Runs all events that end at `limit` or before, with packets of `packetTime` each and without competition for the
  /// radio. Returns the number of packets and the end of the last one; nil: none.
  mutating func skip(
    until limit: Instant, packetTime: TimeSpan, random: inout RandomStream
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

  /// Counts an event that has begun on time and has ended at `now`, run by the engine.
  mutating func endEvent(at now: Instant, random: inout RandomStream) {
    losses = 0
    eventStart = next
    completed += 1
    plan(after: eventStart, at: now, random: &random)
  }

  /// Drops the rest of the event, because the radio was not free in time. Returns true if a part of the event took
  /// place.
  mutating func losePacket(at now: Instant, random: inout RandomStream) -> Bool {
    let hadBegun = index != nil
    if hadBegun { completed += 1 } else { losses += 1 }
    index = nil
    plan(after: hadBegun ? eventStart : next, at: now, random: &random)
    return hadBegun
  }

  private mutating func plan(after start: Instant, at now: Instant, random: inout RandomStream) {
    var interval = interval
    if !isHighDutyCycle {
      let draw = Int64(truncatingIfNeeded: random.next() >> 32)
      interval += TimeSpan(nanoseconds: (draw * (Self.maximumDelay.nanoseconds + 1)) >> 32)
    }
    next = max(now, clock.instant(interval, after: start))
  }
}
