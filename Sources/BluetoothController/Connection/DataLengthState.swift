import BluetoothWire

/// How long data PDUs may be · Vol 6, Part B, 4.5.10. LE 1M only, so the longest time is that of 251 octets.
struct DataLengthState {
  /// What every device takes.
  static let minimum = HCI.DataLength(octets: 27, time: 328)
  /// What this controller takes and sends at most.
  static let maximum = HCI.DataLength(octets: 251, time: 2120)

  /// connMaxTxOctets and …Time.
  var preferred: HCI.DataLength
  /// What the peer told last.
  private var peer = LL.DataLengths(
    maximumReceiveOctets: 27, maximumReceiveTime: 328, maximumTransmitOctets: 27, maximumTransmitTime: 328)
  /// Whether the peer knows what this controller takes.
  private var isAnnounced = false
  private var hasAsked = false

  /// What the host was told last.
  private(set) var transmit = Self.minimum
  private(set) var receive = Self.minimum

  /// connEffectiveMaxTxOctets, and no more than fit into the time.
  private(set) var maximumTransmitOctets = 27
  private(set) var maximumReceiveOctets = 27

  init(preferred: HCI.DataLength) { self.preferred = preferred }

  /// The longest payload that is not an error: the peer may use what it knows of at once.
  var acceptedOctets: Int { isAnnounced ? Int(Self.maximum.octets) : Int(Self.minimum.octets) }

  /// Whether the peer should be asked by the controller's own will: once, if it does not know of `preferred`.
  mutating func shouldAsk() -> Bool {
    guard !hasAsked, !isAnnounced, preferred != Self.minimum else { return false }
    hasAsked = true
    return true
  }

  /// For LL_LENGTH_REQ and LL_LENGTH_RSP.
  mutating func announce() -> LL.DataLengths {
    isAnnounced = true
    return LL.DataLengths(
      maximumReceiveOctets: Self.maximum.octets, maximumReceiveTime: Self.maximum.time,
      maximumTransmitOctets: preferred.octets, maximumTransmitTime: preferred.time)
  }

  /// Takes in what the peer tells; says whether anything changes for the host.
  mutating func learn(_ lengths: LL.DataLengths) -> Bool {
    peer = lengths
    let transmit = HCI.DataLength(
      octets: min(preferred.octets, peer.maximumReceiveOctets), time: min(preferred.time, peer.maximumReceiveTime))
    let receive = HCI.DataLength(
      octets: min(Self.maximum.octets, peer.maximumTransmitOctets),
      time: min(Self.maximum.time, peer.maximumTransmitTime))
    guard transmit != self.transmit || receive != self.receive else { return false }
    (self.transmit, self.receive) = (transmit, receive)
    maximumTransmitOctets = Self.octets(transmit)
    maximumReceiveOctets = Self.octets(receive)
    return true
  }

  /// The time includes a MIC and 10 octets around it.
  private static func octets(_ length: HCI.DataLength) -> Int { min(Int(length.octets), Int(length.time) / 8 - 14) }
}
