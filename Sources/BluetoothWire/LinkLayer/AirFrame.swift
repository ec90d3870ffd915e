extension LL {
  /// Returns the packet as captures show it: access address, PDU and CRC, without whitening · Vol 6, Part B, 2.1.
  package static func airBytes(of packet: AirPacket) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(9 + packet.payload.count)
    for shift in stride(from: 0, to: 32, by: 8) {
      bytes.append(UInt8(truncatingIfNeeded: packet.accessAddress >> shift))
    }
    bytes.append(UInt8(truncatingIfNeeded: packet.header))
    bytes.append(UInt8(truncatingIfNeeded: packet.header >> 8))
    packet.payload.withUnsafeBytes { bytes.append(contentsOf: $0) }
    let crc = packet.crc
    for shift in stride(from: 0, to: 24, by: 8) { bytes.append(UInt8(truncatingIfNeeded: crc >> shift)) }
    return bytes
  }

  /// Returns the packet with preamble and whitening, as it is transmitted on an uncoded PHY.
  package static func onAirBytes(of packet: AirPacket, channel: ChannelIndex, phy: RadioPHY) -> [UInt8] {
    // The bits of the preamble alternate, and the last one differs from the access address's first bit · 2.1.1.
    let preamble: UInt8 = packet.accessAddress & 1 == 0 ? 0xAA : 0x55
    let bytes = airBytes(of: packet)
    let whitened = zip(bytes.dropFirst(4), Whitening(channel: channel)).map { $0 ^ $1 }
    return Array(repeating: preamble, count: phy == .le2M ? 2 : 1) + bytes.prefix(4) + whitened
  }
}

extension AirPacket {
  /// The CRC that follows the PDU, with its first octet in the low byte.
  package var crc: UInt32 {
    var crc = LL.CRC24(initial: crcInit)
    crc.update(UInt8(truncatingIfNeeded: header))
    crc.update(UInt8(truncatingIfNeeded: header >> 8))
    crc.update(payload)
    return crc.value
  }
}
