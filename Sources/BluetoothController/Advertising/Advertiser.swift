import BluetoothRadio
import BluetoothWire

/// The advertising state of one set: its events on the primary channels, and those that they announce · Vol 6, Part B, 4.4.2.
struct Advertiser {
  /// What becomes of a packet that was heard.
  enum Outcome {
    case goesOn(RadioStep)
    /// A scanner asks, and is answered.
    case scanned(RadioStep, by: DeviceAddress)
    /// A central asks for a connection; the controller says whether it may be.
    case asked(ConnectRequest)
    /// The connection is there.
    case connected(ConnectRequest)
  }

  /// What the announced packets want of the radio.
  typealias AuxiliaryClaim = (place: RadioAgenda.Place, claim: RadioClaim?)

  /// What is wanted of the radio next.
  struct Claims {
    let place: RadioAgenda.Place
    /// nil: the event's other packets come first.
    let claim: RadioClaim?
    /// nil: there are no other packets.
    let auxiliary: AuxiliaryClaim?
    /// The last event is over.
    let hasReachedLimit: Bool
  }

  private enum Phase {
    case idle
    case advertising
    case listening
    case beforeResponse
    case responding
  }

  /// How long CONNECT_IND and SCAN_REQ take on LE 1M, which legacy PDUs use.
  private static let connectTime = Modulation.le1M.airTime(payloadOctets: 34)
  private static let scanTime = Modulation.le1M.airTime(payloadOctets: 12)

  private(set) var identity: AdvertiserIdentity
  /// Where the claims are.
  let place: RadioAgenda.Place
  private(set) var events: AdvertisingEvents
  /// ADV_IND or its kin and SCAN_RSP, or ADV_EXT_IND in general: it has the right length.
  private var packet: AirPacket
  private var response: AirPacket?
  /// What ADV_EXT_IND points to; nil: nothing, as legacy PDUs do.
  var auxiliary: AuxiliaryAdvertiser?
  private var phase = Phase.idle

  init(
    _ identity: AdvertiserIdentity, content: AdvertisingContent, events: AdvertisingEvents,
    auxiliary: AuxiliaryAdvertiser?, place: RadioAgenda.Place, pool: PacketPool
  ) {
    self.identity = identity
    self.events = events
    self.auxiliary = auxiliary
    self.place = place
    packet = AirPacket(accessAddress: 0, crcInit: 0, header: 0, payload: ByteSlice())
    setContent(content, in: pool)
  }

  /// The host has given other data; they are in the next packet.
  mutating func setContent(_ content: AdvertisingContent, in pool: PacketPool) {
    if identity.properties.usesLegacyPDUs {
      packet = identity.legacyPDU(data: content.data).packet(in: pool)
      let response = LL.AdvertisingPDU.scanRsp(advertiser: identity.own, data: content.response)
      self.response = identity.properties.isScannable ? response.packet(in: pool) : nil
    } else {
      auxiliary?.setContent(content)
      packet = extendedPacket(at: .zero, in: pool)
    }
  }

  /// Addresses are others from the next packet on.
  mutating func setIdentity(_ identity: AdvertiserIdentity, content: AdvertisingContent, in pool: PacketPool) {
    self.identity = identity
    auxiliary?.identity = identity
    setContent(content, in: pool)
  }

  // MARK: Claims

  /// It changes nothing: `mutating` has it read everything where it is.
  mutating func claims(hasSyncInfo: Bool) -> Claims {
    // Without looking into what is not there.
    guard !identity.properties.usesLegacyPDUs else {
      let time = packet.airTime(identity.properties.primary)
      return Claims(
        place: place, claim: events.claim(shortest: time, longest: duration(time), last: .distantFuture),
        auxiliary: nil, hasReachedLimit: events.isBetweenEvents && events.hasReachedLimit)
    }
    let isPending = auxiliary?.isPending ?? false
    return Claims(
      place: place, claim: isPending && events.isBetweenEvents ? nil : claim(),
      auxiliary: auxiliaryClaim(hasSyncInfo: hasSyncInfo),
      hasReachedLimit: events.isBetweenEvents && !isPending && events.hasReachedLimit)
  }

  private mutating func auxiliaryClaim(hasSyncInfo: Bool) -> AuxiliaryClaim? {
    guard let place = auxiliary?.place else { return nil }
    return (place, auxiliary?.claim(hasSyncInfo: hasSyncInfo))
  }

  /// An event begins: what it points to gets its place.
  mutating func announce(at now: Instant, hasSyncInfo: Bool, agenda: RadioAgenda) -> AuxiliaryClaim? {
    guard auxiliary != nil, events.isBetweenEvents else { return nil }
    let earliest = earliestAuxiliary(at: now)
    auxiliary?.announce(from: earliest, hasSyncInfo: hasSyncInfo, agenda: agenda)
    return auxiliaryClaim(hasSyncInfo: hasSyncInfo)
  }

  /// Whether the next packet is the first one of an event; `mutating` as `claims` is.
  var isBetweenEvents: Bool {
    mutating get { events.isBetweenEvents }
  }

  /// What the next packet on a primary channel needs; `mutating` as `claims` is.
  private mutating func claim() -> RadioClaim {
    let packetTime = packet.airTime(identity.properties.primary)
    // An announced packet is announced in time.
    let last = auxiliary?.nextStart.map { $0 - LL.minimumAuxiliaryFrameSpace - packetTime } ?? .distantFuture
    return events.claim(shortest: packetTime, longest: duration(packetTime), last: last)
  }

  /// How long one channel needs the radio at most: the packet, and the longest exchange that may follow.
  private mutating func duration(_ packetTime: TimeSpan) -> TimeSpan {
    let advertising = packetTime + LL.interFrameSpace
    guard identity.properties.usesLegacyPDUs, identity.properties.isAnswerable else { return advertising }
    guard let response else { return advertising + Self.connectTime }
    let scan = Self.scanTime + LL.interFrameSpace + response.airTime(.le1M)
    return advertising + max(Self.connectTime, scan)
  }

  /// When an auxiliary packet can begin at the earliest if the event begins now.
  private func earliestAuxiliary(at now: Instant) -> Instant {
    let properties = identity.properties
    let packets = (packet.airTime(properties.primary) + AdvertisingEvents.channelPause) * Int64(properties.channelCount)
    return now + packets + LL.minimumAuxiliaryFrameSpace
  }

  // MARK: A packet on a primary channel

  mutating func begin(at now: Instant, in pool: PacketPool) -> RadioStep {
    events.begin(at: now)
    phase = .advertising
    let packet = identity.properties.usesLegacyPDUs ? packet : extendedPacket(at: now, in: pool)
    return .command(
      .transmit(
        packet, on: events.channel, modulation: identity.properties.primary, power: identity.properties.power))
  }

  mutating func transmitted(at now: Instant) -> RadioStep {
    let properties = identity.properties
    guard case .advertising = phase, properties.usesLegacyPDUs, properties.isAnswerable else { return .done }
    phase = .listening
    return .command(
      .receive(
        on: events.channel, phy: .le1M, accessAddress: LL.advertisingAccessAddress, crcInit: LL.advertisingCRCInit,
        until: RadioTiming.answerTimeout(after: now)))
  }

  /// A packet has come in the time for answers.
  mutating func received(
    _ packet: AirPacket, isIntact: Bool, acceptList: AcceptList, resolvingList: inout ResolvingList, at now: Instant
  ) -> Outcome {
    switch identity.request(
      in: packet, isIntact: isIntact, acceptList: acceptList, resolvingList: &resolvingList, at: now)
    {
    case .scan(let scanner):
      phase = .beforeResponse
      return .scanned(.wait(until: now + LL.interFrameSpace), by: scanner)
    case .connect(let request): return .asked(request)
    case nil: return .goesOn(.done)
    }
  }

  /// The interframe space after a SCAN_REQ is over.
  mutating func timeReached() -> RadioStep {
    guard case .beforeResponse = phase, let response else { return .done }
    phase = .responding
    return .command(.transmit(response, on: events.channel, modulation: .le1M, power: identity.properties.power))
  }

  /// The radio is not needed any more for this packet.
  mutating func endPacket(at now: Instant, random: inout SplitGenerator) {
    phase = .idle
    _ = events.endPacket(at: now, random: &random)
  }

  /// The radio was not free in time.
  mutating func losePacket(at now: Instant, random: inout SplitGenerator) {
    // What nobody was told of does not take place.
    if !events.losePacket(at: now, random: &random) { auxiliary?.cancel() }
  }

  /// Its events, if nobody can answer them and nothing ends them, and if the next one is about to begin; nil: something else.
  /// It changes nothing: `mutating` as `claims` is.
  var soliloquy: Soliloquy? {
    mutating get {
      let properties = identity.properties
      guard properties.usesLegacyPDUs, !properties.isAnswerable, !properties.isHighDutyCycle, events.isEndless,
        events.isBetweenEvents
      else { return nil }
      return Soliloquy(
        packet: packet, modulation: properties.primary, power: properties.power,
        channels: PrimaryChannels(map: properties.channelMap),
        pause: AdvertisingEvents.channelPause)
    }
  }

  /// Passes over the events that end at `limit` or before.
  mutating func skip(until limit: Instant, random: inout SplitGenerator) -> SkippedPackets? {
    let time = packet.airTime(identity.properties.primary)
    guard let (count, end) = events.skip(until: limit, packetTime: time, random: &random) else { return nil }
    return SkippedPackets(count: count, airTime: time * Int64(count), power: identity.properties.power, end: end)
  }

  /// ADV_EXT_IND · 2.3.1.5, as it is when it is sent at `now`.
  private func extendedPacket(at now: Instant, in pool: PacketPool) -> AirPacket {
    let properties = identity.properties
    var payload = LL.ExtendedAdvertisingPayload(mode: identity.mode)
    if properties.includesTransmitPower { payload.transmitPower = properties.power.hciLevel }
    if let auxiliary {
      payload.dataInfo = auxiliary.dataInfo
      payload.auxiliary = auxiliary.pointer(from: now)
    } else {
      payload.advertiser = identity.own
      payload.target = identity.target
    }
    return LL.AdvertisingPDU.extended(payload).packet(in: pool)
  }
}

extension AdvertiserIdentity {
  /// AdvMode.
  var mode: LL.ExtendedAdvertisingPayload.Mode {
    properties.isConnectable ? .connectable : properties.isScannable ? .scannable : .nonConnectable
  }

  fileprivate func legacyPDU(data: ByteSlice) -> LL.AdvertisingPDU {
    if properties.isDirected {
      return .advDirectInd(
        advertiser: own, target: target ?? DeviceAddress(0, .public), usesAlgorithm2: properties.knowsAlgorithm2)
    }
    if properties.isConnectable {
      return .advInd(advertiser: own, data: data, usesAlgorithm2: properties.knowsAlgorithm2)
    }
    return properties.isScannable
      ? .advScanInd(advertiser: own, data: data) : .advNonconnInd(advertiser: own, data: data)
  }
}
