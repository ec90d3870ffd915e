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
    /// Before the packet on the channel `index`.
    case waiting
    case advertising
    case listening
    case beforeResponse
    case responding
  }

  /// The largest advDelay · 4.4.2.2.1.
  private static let maximumDelay = TimeSpan.milliseconds(10)
  /// The pause between the channels: time for the radio to change.
  private static let channelPause = LL.interFrameSpace
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
  /// The event had to wait for the radio, and begins when that is free.
  var isWaiting = false

  private var phase = Phase.idle
  private var eventStart = Instant.zero
  private var limit = Instant.distantFuture
  private var index = 0

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

  /// How long the radio is needed at most for all three channels, with the gaps between this event and others.
  var eventDuration: TimeSpan { (duration + Self.channelPause) * 3 + Self.channelPause * 3 }

  // MARK: An advertising event

  /// The advertiser has the radio, and until `limit` nobody else needs it.
  mutating func begin(limit: Instant, at now: Instant) -> RadioStep {
    isWaiting = false
    eventStart = now
    self.limit = limit
    index = -1
    return nextChannel(at: now, isFirst: true)
  }

  private mutating func nextChannel(at now: Instant, isFirst: Bool = false) -> RadioStep {
    repeat { index += 1 } while index < 3 && parameters.channelMap >> UInt8(index) & 1 == 0
    let start = isFirst ? now : now + Self.channelPause
    guard index < 3, start + duration <= limit else {
      phase = .idle
      return .done
    }
    phase = .waiting
    return isFirst ? advertise() : .wait(until: start)
  }

  private mutating func advertise() -> RadioStep {
    phase = .advertising
    return .command(.transmit(packet, on: channel, modulation: .le1M, power: power))
  }

  private var channel: RadioChannel { ChannelIndex(Self.channels[min(max(index, 0), 2)]).radioChannel }

  mutating func timeReached() -> RadioStep {
    switch phase {
    case .waiting: return advertise()
    case .beforeResponse:
      phase = .responding
      return .command(.transmit(response, on: channel, modulation: .le1M, power: power))
    default: return .done
    }
  }

  mutating func transmitted(at now: Instant) -> RadioStep {
    guard case .advertising = phase, parameters.isConnectable || parameters.isScannable else {
      return nextChannel(at: now)
    }
    phase = .listening
    return .command(
      .receive(
        on: channel, phy: .le1M, accessAddress: LL.advertisingAccessAddress, crcInit: LL.advertisingCRCInit,
        until: RadioTiming.answerTimeout(after: now)))
  }

  mutating func nothingReceived(at now: Instant) -> RadioStep { nextChannel(at: now) }

  /// A packet has come in the time for answers: only a request to this advertiser counts, from a device that may ask.
  mutating func received(
    _ packet: AirPacket, isIntact: Bool, acceptList: AcceptList, canConnect: Bool, at now: Instant
  ) -> Outcome {
    guard isIntact, let pdu = try? LL.AdvertisingPDU(header: packet.header, payload: packet.payload) else {
      return .goesOn(nextChannel(at: now))
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
    return .goesOn(nextChannel(at: now))
  }

  /// The event is over, or was broken off: plans the next one · 4.4.2.2.
  mutating func endEvent(at now: Instant, random: inout SplitGenerator) {
    phase = .idle
    var interval = HCI.AdvertisingParameters.intervalUnit * Int64(parameters.minimumInterval)
    if parameters.type == .connectableDirectedHighDutyCycle {
      interval = Self.highDutyInterval
    } else {
      let chance = Int64(truncatingIfNeeded: random.next() >> 32)
      interval += TimeSpan(nanoseconds: (chance * (Self.maximumDelay.nanoseconds + 1)) >> 32)
    }
    next = max(now, clock.instant(interval, after: eventStart))
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
