import BluetoothWire

/// Determines the direction of packets on the air as a sniffer does: the sender of CONNECT_IND is the central of the
/// connection with that access address.
package struct ConnectionDirections {
  /// The PDU type of CONNECT_IND · Vol 6, Part B, 2.3.
  private static let connectIndication: UInt16 = 0b0101
  /// InitA and AdvA precede the access address · 2.3.3.1.
  private static let accessAddressOffset = 12

  /// The senders of CONNECT_IND, by the access address in it.
  private var centrals: [UInt32: Int] = [:]

  package init() {}

  /// Returns the direction of `packet`, which device number `sender` has sent. Must be called for all packets in order
  /// of time.
  package mutating func direction(of packet: AirPacket, sender: Int) -> AirDirection {
    if packet.accessAddress != LL.advertisingAccessAddress {
      if packet.isAdvertising { return .auxiliaryAdvertising }
      guard let central = centrals[packet.accessAddress] else { return .unspecified }
      return central == sender ? .centralToPeripheral : .peripheralToCentral
    }
    if packet.header & 0x0F == Self.connectIndication {
      var reader = ByteReader(packet.payload.dropFirst(Self.accessAddressOffset))
      if let accessAddress = try? reader.uint32() { centrals[accessAddress] = sender }
    }
    return .unspecified
  }
}
