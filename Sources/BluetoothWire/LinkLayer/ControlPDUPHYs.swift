extension LL {
  /// The PHYs that the sender of LL_PHY_REQ or LL_PHY_RSP prefers · Vol 6, Part B, 2.4.2.22.
  package struct PHYPreferences: Hashable, Sendable {
    /// TX_PHYS
    package var transmit: HCI.PHYs
    /// RX_PHYS
    package var receive: HCI.PHYs

    package init(transmit: HCI.PHYs, receive: HCI.PHYs) {
      self.transmit = transmit
      self.receive = receive
    }

    init(from reader: inout ByteReader) throws(DecodingError) {
      transmit = HCI.PHYs(rawValue: try reader.uint8())
      receive = HCI.PHYs(rawValue: try reader.uint8())
    }

    func encode(into writer: inout ByteWriter) {
      writer.append(transmit.rawValue)
      writer.append(receive.rawValue)
    }
  }

  /// The new PHYs in LL_PHY_UPDATE_IND · Vol 6, Part B, 2.4.2.23. An empty set leaves that direction unchanged.
  package struct PHYUpdate: Hashable, Sendable {
    /// PHY_C_TO_P; at most one PHY is allowed.
    package var centralToPeripheral: HCI.PHYs
    /// PHY_P_TO_C; at most one PHY is allowed.
    package var peripheralToCentral: HCI.PHYs

    package init(centralToPeripheral: HCI.PHYs, peripheralToCentral: HCI.PHYs) {
      self.centralToPeripheral = centralToPeripheral
      self.peripheralToCentral = peripheralToCentral
    }

    /// True if each direction has at most one PHY, and it is a defined one.
    package var isValid: Bool { centralToPeripheral.isOneAtMost && peripheralToCentral.isOneAtMost }

    /// True if neither direction changes. The instant is ignored then · 5.1.10.
    package var isEmpty: Bool { centralToPeripheral.isEmpty && peripheralToCentral.isEmpty }

    init(from reader: inout ByteReader) throws(DecodingError) {
      centralToPeripheral = HCI.PHYs(rawValue: try reader.uint8())
      peripheralToCentral = HCI.PHYs(rawValue: try reader.uint8())
    }

    func encode(into writer: inout ByteWriter) {
      writer.append(centralToPeripheral.rawValue)
      writer.append(peripheralToCentral.rawValue)
    }
  }
}

extension HCI.PHYs {
  /// All defined PHYs.
  package static let all: HCI.PHYs = [.le1M, .le2M, .leCoded]

  package init(_ phy: RadioPHY) {
    switch phy {
    case .le1M: self = .le1M
    case .le2M: self = .le2M
    case .leCoded: self = .leCoded
    }
  }

  /// The PHY in a set of exactly one defined PHY; nil for any other set.
  package var single: RadioPHY? {
    switch self {
    case .le1M: .le1M
    case .le2M: .le2M
    case .leCoded: .leCoded
    default: nil
    }
  }

  fileprivate var isOneAtMost: Bool { isEmpty || single != nil }
}
