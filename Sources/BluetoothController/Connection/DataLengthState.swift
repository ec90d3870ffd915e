import BluetoothWire

/// The maximum length of data PDUs, in octets and in time · Vol 6, Part B, 4.5.10.
struct DataLengthState {
  /// The length that every device supports.
  static let minimum = HCI.DataLength(octets: 27, time: 328)
  /// The maximum length that this controller supports: 251 octets on LE Coded, S=8, take 17,040 µs.
  static let maximum = HCI.DataLength(octets: 251, time: 17_040)
  /// Returns the maximum length that a controller with these features supports.
  static func maximum(with features: HCI.LEFeatures) -> HCI.DataLength {
    HCI.DataLength(
      octets: maximum.octets, time: features.contains(.leCodedPHY) ? maximum.time : maximumUncodedTime)
  }
  /// The longest time on the uncoded PHYs, which is also the longest that is announced to a peer without LE Coded.
  private static let maximumUncodedTime: UInt16 = 2_120
  /// The minimum time on LE Coded: 27 octets at S=8.
  private static let minimumCodedTime: UInt16 = 2_704

  /// connMaxTxOctets and connMaxTxTime.
  var preferred: HCI.DataLength
  /// The lengths that the peer announced last.
  private var peer = LL.DataLengths(
    maximumReceiveOctets: 27, maximumReceiveTime: 328, maximumTransmitOctets: 27, maximumTransmitTime: 328)
  /// The receive length that this controller has announced to the peer.
  private var announced = Self.minimum
  private var hasAsked = false

  /// connEffectiveMaxTxOctets and connEffectiveMaxTxTime, as last reported to the host.
  private(set) var transmit = Self.minimum
  /// connEffectiveMaxRxOctets and connEffectiveMaxRxTime, as last reported to the host.
  private(set) var receive = Self.minimum
  /// The longest payload without MIC that may be sent now: it fits both the octets and the time.
  private(set) var maximumTransmitOctets = 27
  /// The longest payload without MIC that the peer may send.
  private(set) var maximumReceiveOctets = 27

  init(preferred: HCI.DataLength, phys: PHYState) {
    self.preferred = preferred
    _ = update(phys: phys, interval: .zero)
  }

  /// True if a payload without MIC of `octets` is permitted: the announced length, which the peer may use at once,
  /// limits data, while LL Control PDUs may have their full length · 2.4.2, 4.5.10.
  func accepts(_ octets: Int, _ llid: LL.DataHeader.LLID, _ modulation: Modulation) -> Bool {
    isAnnounced(octets, modulation) || llid == .control && octets <= 1 + LL.ControlOpcode.periodicSyncInd.dataLength
  }

  private func isAnnounced(_ octets: Int, _ modulation: Modulation) -> Bool {
    let time = modulation.phy == .leCoded ? max(announced.time, Self.minimumCodedTime) : announced.time
    return octets <= Int(announced.octets)
      && modulation.airTime(payloadOctets: octets) <= .microseconds(Int64(time))
  }

  /// True, once, if the controller should start the data length update: `preferred` exceeds the minimum, and this
  /// controller has not announced its lengths to the peer.
  mutating func shouldAsk() -> Bool {
    guard !hasAsked, announced == Self.minimum, preferred != Self.minimum else { return false }
    hasAsked = true
    return true
  }

  /// Returns the values for LL_LENGTH_REQ and LL_LENGTH_RSP. Times above the maximum of the uncoded PHYs are announced
  /// only to peers that support, or may support, LE Coded.
  ///
  /// - Parameter remote: the peer's features, if they are known.
  mutating func announce(_ features: HCI.LEFeatures, remote: HCI.LEFeatures?) -> LL.DataLengths {
    let knowsCoded = features.contains(.leCodedPHY) && remote?.contains(.leCodedPHY) ?? true
    let longest = knowsCoded ? Self.maximum.time : Self.maximumUncodedTime
    announced = HCI.DataLength(octets: Self.maximum.octets, time: max(announced.time, longest))
    return LL.DataLengths(
      maximumReceiveOctets: announced.octets, maximumReceiveTime: announced.time,
      maximumTransmitOctets: preferred.octets, maximumTransmitTime: min(preferred.time, longest))
  }

  /// Sets the lengths that the peer announced.
  mutating func learn(_ lengths: LL.DataLengths) { peer = lengths }

  /// Computes the effective lengths on these PHYs; returns true if they change for the host.
  ///
  /// - Parameter candidates: PHYs on which packets may have to be sent before they are acknowledged: the longest
  ///   payload must not be too long on any of them · 5.1.10.
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
    for phy in [RadioPHY.le1M, .le2M, .leCoded] where candidates.contains(HCI.PHYs(phy)) {
      maximumTransmitOctets = min(maximumTransmitOctets, longest(phys.modulation(on: phy)))
    }
    // The peer may choose S=2 to send more in the same time.
    maximumReceiveOctets = Self.octets(receive, on: phys.receive == .leCoded ? .codedS2 : phys.slowestReceiveModulation)
    guard transmit != self.transmit || receive != self.receive else { return false }
    (self.transmit, self.receive) = (transmit, receive)
    return true
  }

  private static func atLeastCoded(_ time: UInt16, on phy: RadioPHY) -> UInt16 {
    phy == .leCoded ? max(minimumCodedTime, time) : time
  }

  /// Returns connIntervalPortionAvailable: the interval minus the longest packet of the peer and two interframe
  /// spaces, µs.
  private static func available(in interval: TimeSpan, receive: HCI.DataLength) -> UInt16 {
    let longest = min(Int64(receive.time), Int64(receive.octets) * 64 + 976)
    let left = interval - LL.interFrameSpace * 2 - .microseconds(longest)
    return UInt16(clamping: left.nanoseconds / 1_000)
  }

  /// Returns the number of octets without MIC that fit into the time with a MIC; every device supports 27.
  private static func octets(_ length: HCI.DataLength, on modulation: Modulation) -> Int {
    let empty = modulation.airTime(payloadOctets: 4)
    let octet = modulation.airTime(payloadOctets: 5) - empty
    let fitting = (TimeSpan.microseconds(Int64(length.time)) - empty).nanoseconds / octet.nanoseconds
    return min(Int(length.octets), max(Int(minimum.octets), Int(fitting)))
  }
}

extension HCI.DataLength {
  /// True if both values are in range · Vol 4, Part E, 7.8.33, 7.8.35.
  var isValid: Bool { 27...251 ~= octets && 328...17_040 ~= time }
  /// Returns the values limited to what a controller with these features can send.
  func supported(by features: HCI.LEFeatures) -> HCI.DataLength {
    let longest = DataLengthState.maximum(with: features)
    return HCI.DataLength(octets: min(octets, longest.octets), time: min(time, longest.time))
  }
}
