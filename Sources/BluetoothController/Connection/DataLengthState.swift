import BluetoothWire

/// How long data PDUs may be, in octets and in time · Vol 6, Part B, 4.5.10.
struct DataLengthState {
  /// What every device takes.
  static let minimum = HCI.DataLength(octets: 27, time: 328)
  /// What this controller takes and sends at most: 251 octets on LE Coded, S=8, last 17,040 µs.
  static let maximum = HCI.DataLength(octets: 251, time: 17_040)
  /// What a controller with these features takes and sends at most.
  static func maximum(with features: HCI.LEFeatures) -> HCI.DataLength {
    HCI.DataLength(
      octets: maximum.octets, time: features.contains(.leCodedPHY) ? maximum.time : maximumUncodedTime)
  }
  /// The longest time on the uncoded PHYs, and all that a peer without LE Coded may be told.
  private static let maximumUncodedTime: UInt16 = 2_120
  /// 27 octets on LE Coded, S=8: less is never meant there.
  private static let minimumCodedTime: UInt16 = 2_704

  /// connMaxTxOctets and …Time.
  var preferred: HCI.DataLength
  /// What the peer told last.
  private var peer = LL.DataLengths(
    maximumReceiveOctets: 27, maximumReceiveTime: 328, maximumTransmitOctets: 27, maximumTransmitTime: 328)
  /// What the peer knows that this controller takes.
  private var announced = Self.minimum
  private var hasAsked = false

  /// connEffectiveMaxTxOctets and …Time, as the host was told last.
  private(set) var transmit = Self.minimum
  /// connEffectiveMaxRxOctets and …Time, as the host was told last.
  private(set) var receive = Self.minimum
  /// The longest payload without MIC that may be sent now: it fits into the octets and into the time.
  private(set) var maximumTransmitOctets = 27
  /// The longest that the peer may send.
  private(set) var maximumReceiveOctets = 27

  init(preferred: HCI.DataLength, phys: PHYState) {
    self.preferred = preferred
    _ = update(phys: phys, interval: .zero)
  }

  /// Whether a payload without MIC of `octets` is no longer than what the peer knows of; it may use that at once.
  func accepts(_ octets: Int, _ modulation: Modulation) -> Bool {
    let time = modulation.phy == .leCoded ? max(announced.time, Self.minimumCodedTime) : announced.time
    return octets <= Int(announced.octets)
      && modulation.airTime(payloadOctets: octets) <= .microseconds(Int64(time))
  }

  /// Whether the peer should be asked by the controller's own will: once, if it does not know of `preferred`.
  mutating func shouldAsk() -> Bool {
    guard !hasAsked, announced == Self.minimum, preferred != Self.minimum else { return false }
    hasAsked = true
    return true
  }

  /// For LL_LENGTH_REQ and LL_LENGTH_RSP. Times beyond those of the uncoded PHYs are for peers that have, or may have,
  /// LE Coded.
  mutating func announce(knowsCoded: Bool) -> LL.DataLengths {
    let longest = knowsCoded ? Self.maximum.time : Self.maximumUncodedTime
    announced = HCI.DataLength(octets: Self.maximum.octets, time: max(announced.time, longest))
    return LL.DataLengths(
      maximumReceiveOctets: announced.octets, maximumReceiveTime: announced.time,
      maximumTransmitOctets: preferred.octets, maximumTransmitTime: min(preferred.time, longest))
  }

  /// What the peer tells.
  mutating func learn(_ lengths: LL.DataLengths) { peer = lengths }

  /// Computes what is in force now, on these PHYs; says whether anything changes for the host.
  ///
  /// - Parameter candidates: PHYs that packets may have to be sent on before they are acknowledged: the longest payload is
  ///   one that none of them makes too long · 5.1.10.
  mutating func update(phys: PHYState, candidates: HCI.PHYs = [], interval: TimeSpan) -> Bool {
    let receive = HCI.DataLength(
      octets: min(announced.octets, peer.maximumTransmitOctets),
      time: Self.atLeastCoded(min(announced.time, peer.maximumTransmitTime), on: phys.receive))
    let octets = min(preferred.octets, peer.maximumReceiveOctets)
    let uncoded = min(preferred.time, peer.maximumReceiveTime)
    let coded = max(Self.minimumCodedTime, min(uncoded, Self.available(in: interval, receive: receive)))
    let transmit = HCI.DataLength(octets: octets, time: phys.transmit == .leCoded ? coded : uncoded)
    func longest(_ modulation: Modulation) -> Int {
      Self.octets(
        HCI.DataLength(octets: octets, time: modulation.phy == .leCoded ? coded : uncoded), on: modulation)
    }
    maximumTransmitOctets = longest(phys.modulation)
    for phy in [PHY.le1M, .le2M, .leCoded] where candidates.contains(HCI.PHYs(phy)) {
      maximumTransmitOctets = min(maximumTransmitOctets, longest(phys.modulation(on: phy)))
    }
    // The peer may choose S=2 to send more in the time that it has.
    maximumReceiveOctets = Self.octets(receive, on: phys.receive == .leCoded ? .codedS2 : phys.slowestReceiveModulation)
    guard transmit != self.transmit || receive != self.receive else { return false }
    (self.transmit, self.receive) = (transmit, receive)
    return true
  }

  private static func atLeastCoded(_ time: UInt16, on phy: PHY) -> UInt16 {
    phy == .leCoded ? max(minimumCodedTime, time) : time
  }

  /// connIntervalPortionAvailable: what is left of the interval when the longest packet of the peer and two interframe spaces
  /// are taken away, µs.
  private static func available(in interval: TimeSpan, receive: HCI.DataLength) -> UInt16 {
    let longest = min(Int64(receive.time), Int64(receive.octets) * 64 + 976)
    let left = interval - LL.interFrameSpace * 2 - .microseconds(longest)
    return UInt16(clamping: left.nanoseconds / 1_000)
  }

  /// How many octets without MIC fit into the time with one; every device takes 27.
  private static func octets(_ length: HCI.DataLength, on modulation: Modulation) -> Int {
    let empty = modulation.airTime(payloadOctets: 4)
    let octet = modulation.airTime(payloadOctets: 5) - empty
    let fitting = (TimeSpan.microseconds(Int64(length.time)) - empty).nanoseconds / octet.nanoseconds
    return min(Int(length.octets), max(Int(minimum.octets), Int(fitting)))
  }
}
