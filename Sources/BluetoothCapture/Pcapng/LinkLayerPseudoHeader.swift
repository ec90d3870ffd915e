import BluetoothWire

/// The pseudo-header of a link layer packet in a capture: LINKTYPE_BLUETOOTH_LE_LL_WITH_PHDR, ten octets.
package enum LinkLayerPseudoHeader {
  /// The flags for valid fields and for the processing of the packet. A packet is captured as it was sent, so its CRC
  /// is valid. Without the CRC flags, Wireshark would mark data packets with a warning.
  private enum Flag {
    static let dewhitened: UInt16 = 0x0001
    static let signalPowerValid: UInt16 = 0x0002
    static let decrypted: UInt16 = 0x0008
    static let referenceAccessAddressValid: UInt16 = 0x0010
    static let crcChecked: UInt16 = 0x0400
    static let crcValid: UInt16 = 0x0800
    static let micChecked: UInt16 = 0x1000
    static let micValid: UInt16 = 0x2000
    static let directionShift: UInt16 = 7
    static let phyShift: UInt16 = 14
  }

  /// Appends the header and then `packet`, with its access address and CRC.
  ///
  /// - Parameter isDecrypted: true if the packet was sent encrypted, and is shown decrypted; its MIC was valid.
  package static func append(
    _ packet: AirPacket, crc: UInt32, isDecrypted: Bool, channel: RadioChannel, modulation: Modulation, power: Decibel,
    direction: AirDirection, to output: inout [UInt8]
  ) {
    output.append(channel.number)
    output.append(UInt8(bitPattern: Int8(clamping: power.rounded)))
    // Noise power and access address offenses: not valid.
    output.append(0)
    output.append(0)
    output.append(littleEndian: packet.accessAddress)
    output.append(
      littleEndian: Flag.dewhitened | Flag.signalPowerValid | Flag.referenceAccessAddressValid | Flag.crcChecked
        | Flag.crcValid | (isDecrypted ? Flag.decrypted | Flag.micChecked | Flag.micValid : 0)
        | direction.rawValue << Flag.directionShift | phyNumber(modulation.phy) << Flag.phyShift)
    output.append(littleEndian: packet.accessAddress)
    // The Coding Indicator, for which the capture format has a separate octet.
    switch modulation {
    case .le1M, .le2M: break
    case .codedS8: output.append(0b00)
    case .codedS2: output.append(0b01)
    }
    output.append(littleEndian: packet.header)
    output.append(packet.payload)
    output.append(UInt8(truncatingIfNeeded: crc))
    output.append(UInt8(truncatingIfNeeded: crc >> 8))
    output.append(UInt8(truncatingIfNeeded: crc >> 16))
  }

  private static func phyNumber(_ phy: RadioPHY) -> UInt16 {
    switch phy {
    case .le1M: 0
    case .le2M: 1
    case .leCoded: 2
    }
  }
}

/// The direction of a packet, as far as the capture format can express it. Raw values are those of the format.
package enum AirDirection: UInt16, Hashable, Sendable {
  /// A packet on an advertising channel, or an unknown direction.
  case unspecified = 0
  /// A packet of a periodic advertising train, which has its own access address.
  case auxiliaryAdvertising = 1
  case centralToPeripheral = 2
  case peripheralToCentral = 3
}
