import BluetoothDissection
import BluetoothWire

/// The forms of packets in the formats that are written. A form is nil if the format has none for the packet.
extension CapturedPacket {
  /// A packet in a capture format.
  struct Form {
    var octets: [UInt8]
    /// The number of octets before the capture program shortened the packet.
    var originalLength: Int
    /// The flags of a btsnoop record, or the type of a PacketLogger record.
    var flags: UInt32 = 0
  }

  private func form(_ octets: [UInt8], _ flags: UInt32 = 0) -> Form {
    // Headers have other lengths than before, and the cut part is the same.
    Form(octets: octets, originalLength: octets.count + max(0, originalLength - self.octets.count), flags: flags)
  }

  private var hci: (octets: [UInt8], isFromHost: Bool?)? {
    guard case .hci(let octets, let isFromHost) = CapturedContent(self), !octets.isEmpty else { return nil }
    return (octets.bytes, isFromHost)
  }

  /// The packet for the LINKTYPE of its interface: the octets of the file, or else H4 after the direction.
  var linkTypeForm: Form? {
    switch interface.link {
    case .btsnoopH4, .btsnoopUnencapsulated, .btsnoopBCSP, .btsnoopThreeWire, .packetLogger:
      hci.map { form([0, 0, 0, $0.isFromHost == false ? 1 : 0] + $0.octets) }
    case .btsnoopMonitor:
      // Adapter, then opcode: two numbers of 16 bits, which the flags hold in this order.
      form([24, 16, 8, 0].map { UInt8(truncatingIfNeeded: (flags ?? 0) >> $0) } + octets)
    default: form(octets)
    }
  }

  /// The packet for btsnoop.
  ///
  /// - Parameter direction: the direction, for captures that do not tell it.
  /// - Throws: `Failure` if the direction is not known.
  func btsnoopForm(_ direction: PacketDescription.Direction?) throws -> Form? {
    switch interface.link {
    case .btsnoopUnencapsulated, .btsnoopMonitor: return form(octets, flags ?? 0)
    case .linuxMonitor:
      return form(Array(octets.dropFirst(4)), octets.prefix(4).reduce(0) { $0 << 8 | UInt32($1) })
    default:
      guard let hci else { return nil }
      let isFromHost = try isFromHost(hci.isFromHost, direction, "btsnoop")
      let isData = hci.octets[0] != 0x01 && hci.octets[0] != 0x04
      return form(hci.octets, (isFromHost ? 0 : 1) | (isData ? 0 : 2))
    }
  }

  /// The packet for PacketLogger.
  func packetLoggerForm(_ direction: PacketDescription.Direction?) throws -> Form? {
    if interface.link == .packetLogger { return form(octets) }
    guard let hci else { return nil }
    let isFromHost = try isFromHost(hci.isFromHost, direction, "PacketLogger")
    let type: PacketLoggerType
    switch hci.octets[0] {
    case 0x01: type = .command
    case 0x02: type = isFromHost ? .sentACL : .receivedACL
    case 0x03: type = isFromHost ? .sentSCO : .receivedSCO
    case 0x04: type = .event
    default: return nil
    }
    guard !isCut else { throw failure("is cut, which a file of PacketLogger can't tell") }
    return form([type.rawValue] + hci.octets.dropFirst())
  }

  /// The packet for the nRF Sniffer.
  ///
  /// - Parameters:
  ///   - description: the packet in words.
  ///   - number: the number of the packet in the written file.
  /// - Throws: `Failure` if the capture does not tell what the sniffer tells of each packet.
  func nordicForm(_ description: PacketDescription, number: Int) throws -> Form? {
    if interface.link == .nordicSniffer { return form(octets) }
    guard case .air(let air) = CapturedContent(self) else { return nil }
    guard let channel = air.channel else { throw failure("has no channel, which the nRF Sniffer tells") }
    guard let power = air.power else { throw failure("has no signal strength, which the nRF Sniffer tells") }
    guard -255...0 ~= power else {
      throw failure("has a level of \(power) dBm, and the nRF Sniffer tells −255 to 0 dBm")
    }
    guard air.isChecked else { throw failure("does not tell if its CRC is right, which the nRF Sniffer tells") }
    typealias Flag = NordicSnifferHeader.Flag
    var flags = air.hasWrongCRC ? 0 : Flag.crcValid
    if let phy = air.phy { flags |= (phy.rawValue - 1) << Flag.phyShift }
    if air.isAdvertising {
      let types = ["AUX_ADV_IND", "AUX_CHAIN_IND", "AUX_SYNC_IND", "AUX_SCAN_RSP"]
      flags |= UInt8(types.firstIndex(of: description.name) ?? 0) << 1
    } else {
      guard let direction = air.direction else { throw failure("has no direction, which the nRF Sniffer tells") }
      if direction == .toPeripheral { flags |= Flag.toPeripheral }
      if air.isDecrypted || air.isEncrypted { flags |= Flag.encrypted }
      if air.isDecrypted { flags |= Flag.micValid }
    }
    let header = NordicSnifferHeader.octets(
      number: UInt16(truncatingIfNeeded: number), isAdvertising: air.isAdvertising, flags: flags, channel: channel,
      level: power, microseconds: UInt32(truncatingIfNeeded: time / 1_000), length: air.octets.count)
    return form(header + air.octets)
  }

  private func isFromHost(
    _ known: Bool?, _ direction: PacketDescription.Direction?, _ format: String
  ) throws -> Bool {
    if let known { return known }
    guard let direction else { throw failure("has no direction, which \(format) tells") }
    return direction == .toController
  }

  private func failure(_ reason: String) -> Failure { Failure("packet \(number) \(reason)", status: ExitStatus.usage) }
}
