import BluetoothRadio
import BluetoothWire

/// The advertising state: legacy advertising on the primary channels · Vol 6, Part B, 4.4.2.
struct Advertiser {
  /// What becomes of a packet that was heard.
  enum Outcome {
    case goesOn(RadioStep)
    /// A central wants to connect: advertising is over.
    case connect(initiator: DeviceAddress, data: LL.ConnectionData, usesAlgorithm2: Bool)
  }

  private enum Phase {
    case idle
    case advertising
    case listening
    case beforeResponse
    case responding
  }

  /// The largest advDelay · 4.4.2.2.1.
  private static let maximumDelay = TimeSpan.milliseconds(10)
  /// The pause between the channels: time for the radio to change.
  private static let channelPause = LL.interFrameSpace
  /// From the beginning of one packet of an event to that of the next · 4.4.2.3 and following.
  private static let maximumPause = TimeSpan.milliseconds(10)
  /// How often, and how long, high duty cycle directed advertising sends on a channel · 4.4.2.4.
  private static let highDutyInterval = TimeSpan.microseconds(3_750)
  private static let highDutyDuration = TimeSpan.milliseconds(1_280)
  private static let channels: [UInt8] = [37, 38, 39]

  let own: DeviceAddress
  /// The directed advertising's target.
  let target: DeviceAddress?
  private let parameters: HCI.AdvertisingParameters
  private let power: Decibel
  private let clock: SleepClock
  private var packet: AirPacket
  private var response: AirPacket

  /// When the next advertising event begins.
  private(set) var next: Instant
  /// When high duty cycle directed advertising gives up.
  let end: Instant?
  private var phase = Phase.idle
  private var eventStart = Instant.zero
  private var lastPacket = Instant.zero
  private var nextPacket = Instant.zero
  /// The place in `channels` of the event's present or next packet; −1 between events.
  private var index = -1
  /// Events in a row that did not take place because the radio was taken.
  private var losses = 0

  init(
    parameters: HCI.AdvertisingParameters, own: DeviceAddress, data: ByteSlice, response: ByteSlice, power: Decibel,
    clock: SleepClock, pool: PacketPool, at now: Instant
  ) {
    self.parameters = parameters
    self.own = own
    self.power = power
    self.clock = clock
    let isHighDuty = parameters.type == .connectableDirectedHighDutyCycle
    target = parameters.isDirected ? parameters.peer.deviceAddress : nil
    next = now
    end = isHighDuty ? clock.instant(Self.highDutyDuration, after: now) : nil
    packet = Self.packet(parameters, own: own, data: data, in: pool)
    self.response = LL.AdvertisingPDU.scanRsp(advertiser: own, data: response).packet(in: pool)
  }

  /// The host has given other data; they are in the next packet.
  mutating func setData(_ data: ByteSlice, in pool: PacketPool) {
    packet = Self.packet(parameters, own: own, data: data, in: pool)
  }

  mutating func setResponse(_ data: ByteSlice, in pool: PacketPool) {
    response = LL.AdvertisingPDU.scanRsp(advertiser: own, data: data).packet(in: pool)
  }

  var usesAcceptList: Bool { parameters.filterPolicy != 0 }
  var isConnectable: Bool { parameters.isConnectable }

  /// How long one channel needs the radio at most: the packet, and the longest exchange that may follow.
  var duration: TimeSpan {
    let advertising = packet.airTime(.le1M) + LL.interFrameSpace
    guard parameters.isConnectable || parameters.isScannable else { return advertising }
    // CONNECT_IND takes 352 µs; SCAN_REQ 176 µs, and the response follows.
    let connect = TimeSpan.microseconds(352)
    guard parameters.isScannable else { return advertising + connect }
    let scan = TimeSpan.microseconds(176) + LL.interFrameSpace + response.airTime(.le1M)
    return advertising + max(connect, scan)
  }

  // MARK: An advertising event

  /// What the next packet needs of the radio. Each channel has a claim of its own: between them others may have the radio.
  var claim: RadioClaim {
    let rest = Int64(3 - max(index, 0))
    let start = index < 0 ? next : nextPacket
    let latestStart = index < 0 ? next + slack : max(start, lastPacket + Self.maximumPause)
    return RadioClaim(
      purpose: .advertising, start: start, latestStart: latestStart,
      shortest: packet.airTime(.le1M), longest: duration,
      whole: (duration + Self.channelPause) * rest, losses: losses)
  }

  /// How long an advertising event may be put off.
  private var slack: TimeSpan { interval / 2 }

  /// The advertiser has the radio for one packet, and for what follows from it.
  mutating func begin(at now: Instant) -> RadioStep {
    losses = 0
    if index < 0 {
      eventStart = now
      index = channel(after: -1)
    }
    lastPacket = now
    phase = .advertising
    return .command(.transmit(packet, on: channel, modulation: .le1M, power: power))
  }

  /// The place in `channels` of the next one that is used; 3: there is none.
  private func channel(after index: Int) -> Int {
    var index = index + 1
    while index < 3 && parameters.channelMap >> UInt8(index) & 1 == 0 { index += 1 }
    return index
  }

  /// The packet is sent and what followed it is over: the next channel, or the next event.
  mutating func endEvent(at now: Instant, random: inout SplitGenerator) {
    phase = .idle
    index = channel(after: index)
    nextPacket = now + Self.channelPause
    if index >= 3 { plan(after: eventStart, at: now, random: &random) }
  }

  /// The radio was not free in time. What is left of the event does not take place.
  mutating func loseEvent(at now: Instant, random: inout SplitGenerator) {
    if index < 0 { losses += 1 }
    plan(after: index < 0 ? next : eventStart, at: now, random: &random)
  }

  /// The next event · 4.4.2.2.
  private mutating func plan(after start: Instant, at now: Instant, random: inout SplitGenerator) {
    index = -1
    var interval = interval
    if parameters.type != .connectableDirectedHighDutyCycle {
      let chance = Int64(truncatingIfNeeded: random.next() >> 32)
      interval += TimeSpan(nanoseconds: (chance * (Self.maximumDelay.nanoseconds + 1)) >> 32)
    }
    next = max(now, clock.instant(interval, after: start))
  }

  private var interval: TimeSpan {
    parameters.type == .connectableDirectedHighDutyCycle
      ? Self.highDutyInterval : HCI.AdvertisingParameters.intervalUnit * Int64(parameters.minimumInterval)
  }

  private var channel: RadioChannel { ChannelIndex(Self.channels[min(max(index, 0), 2)]).radioChannel }

  /// The interframe space after a SCAN_REQ is over.
  mutating func timeReached() -> RadioStep {
    guard case .beforeResponse = phase else { return .done }
    phase = .responding
    return .command(.transmit(response, on: channel, modulation: .le1M, power: power))
  }

  mutating func transmitted(at now: Instant) -> RadioStep {
    guard case .advertising = phase, parameters.isConnectable || parameters.isScannable else { return .done }
    phase = .listening
    return .command(
      .receive(
        on: channel, phy: .le1M, accessAddress: LL.advertisingAccessAddress, crcInit: LL.advertisingCRCInit,
        until: RadioTiming.answerTimeout(after: now)))
  }

  /// A packet has come in the time for answers: only a request to this advertiser counts, from a device that may ask.
  mutating func received(
    _ packet: AirPacket, isIntact: Bool, acceptList: AcceptList, canConnect: Bool, at now: Instant
  ) -> Outcome {
    guard isIntact, let pdu = try? LL.AdvertisingPDU(header: packet.header, payload: packet.payload) else {
      return .goesOn(.done)
    }
    switch pdu {
    case .scanReq(let scanner, let advertiser):
      guard parameters.isScannable, advertiser == own,
        parameters.filterPolicy & 0b01 == 0 || acceptList.contains(scanner)
      else { break }
      phase = .beforeResponse
      return .goesOn(.wait(until: now + LL.interFrameSpace))
    case .connectInd(let initiator, let advertiser, let data, let usesAlgorithm2):
      guard parameters.isConnectable, canConnect, advertiser == own, data.isValid,
        target.map({ $0 == initiator })
          ?? (parameters.filterPolicy & 0b10 == 0 || acceptList.contains(initiator))
      else { break }
      phase = .idle
      return .connect(initiator: initiator, data: data, usesAlgorithm2: usesAlgorithm2)
    default: break
    }
    return .goesOn(.done)
  }

  private static func packet(
    _ parameters: HCI.AdvertisingParameters, own: DeviceAddress, data: ByteSlice, in pool: PacketPool
  ) -> AirPacket {
    let pdu: LL.AdvertisingPDU
    switch parameters.type {
    case .connectableScannableUndirected: pdu = .advInd(advertiser: own, data: data, usesAlgorithm2: true)
    case .scannableUndirected: pdu = .advScanInd(advertiser: own, data: data)
    case .nonConnectableUndirected: pdu = .advNonconnInd(advertiser: own, data: data)
    case .connectableDirectedHighDutyCycle, .connectableDirectedLowDutyCycle:
      let target = parameters.peer.deviceAddress ?? DeviceAddress(0, .public)
      pdu = .advDirectInd(advertiser: own, target: target, usesAlgorithm2: true)
    }
    return pdu.packet(in: pool)
  }
}

extension HCI.AdvertisingParameters {
  var isDirected: Bool {
    type == .connectableDirectedHighDutyCycle || type == .connectableDirectedLowDutyCycle
  }
  var isConnectable: Bool { type == .connectableScannableUndirected || isDirected }
  var isScannable: Bool { type == .connectableScannableUndirected || type == .scannableUndirected }
}
