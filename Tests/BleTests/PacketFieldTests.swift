import BluetoothDissection
import Testing

/// The trees of the fields of packets.
@Suite struct PacketFieldTests {
  private static func tree(
    _ octets: [UInt8], _ link: CaptureLink, isEncrypted: Bool = false
  ) -> PacketFields? {
    let interface = CaptureInterface(index: 0, name: "air", link: link)
    let packet = CapturedPacket(
      number: 1, time: 0, interface: interface, octets: octets, originalLength: octets.count)
    return PacketFields(packet, isEncrypted: isEncrypted)
  }

  /// Returns the fields with their parts, each with the names that lead to it.
  private static func values(_ fields: [PacketFields.Field], _ path: String = "") -> [String: String] {
    fields.reduce(into: [:]) { result, field in
      result[path + field.name] = field.value
      result.merge(values(field.parts, path + field.name + "/")) { $1 }
    }
  }

  @Test("A notification on the air has the fields of each layer")
  func notification() throws {
    let octets: [UInt8] = [0xB4, 0xA2, 0xC7, 0x50, 0x1E, 8, 4, 0, 4, 0, 0x1B, 0x16, 0, 0x57, 1, 2, 3]
    let tree = try #require(Self.tree(octets, .linkLayer))
    let values = Self.values(tree.fields)
    #expect(values["Access address"] == "0x50C7A2B4" && values["CRC"] == "010203")
    #expect(values["Header/LLID"] == "start" && values["Header/NESN"] == "1" && values["Header/MD"] == "1")
    #expect(values["Payload/Channel"] == "ATT" && values["Payload/Opcode"] == "ATT_HANDLE_VALUE_NTF")
    #expect(values["Payload/Handle"] == "0x0016" && values["Payload/Value"] == "57")
    #expect(tree.lines.contains("    Handle: 0x0016"))
    #expect(tree.lines.last == "  0010  03                                                .")
    #expect(tree.lines.dropLast().last == "  0000  B4 A2 C7 50 1E 08 04 00  04 00 1B 16 00 57 01 02  ...P.........W..")
  }

  @Test("An encrypted payload has no fields but its MIC")
  func encrypted() throws {
    let octets: [UInt8] = [0xB4, 0xA2, 0xC7, 0x50, 0x02, 6, 9, 8, 7, 6, 5, 4, 1, 2, 3]
    let values = Self.values(try #require(Self.tree(octets, .linkLayer, isEncrypted: true)).fields)
    #expect(values["Payload/Encrypted"] == "0908" && values["Payload/MIC"] == "07060504")
  }

  @Test("An advertising packet has the address and the AD structures")
  func advertising() throws {
    let octets: [UInt8] = [0xD6, 0xBE, 0x89, 0x8E, 0x40, 9, 6, 5, 4, 3, 2, 0xC1, 2, 1, 6, 1, 2, 3]
    let values = Self.values(try #require(Self.tree(octets, .linkLayer)).fields)
    #expect(values["Payload/AdvA"] == "C1:02:03:04:05:06" && values["Header/TxAdd"] == "random")
    #expect(values["Payload/Flags"] == "06" && values["Payload/Flags/Length"] == "2")
  }

  @Test("HCI packets have their headers, and ACL data the fields of its PDU")
  func hci() throws {
    let reset = Self.values(try #require(Self.tree([0x01, 0x03, 0x0C, 0x00], .hciH4)).fields)
    #expect(reset["Packet"] == "HCI Command" && reset["Opcode"] == "Reset" && reset["Opcode/OGF"] == "3")
    let data = Self.values(
      try #require(Self.tree([0x02, 0x01, 0x20, 7, 0, 3, 0, 4, 0, 0x02, 0x05, 0x02], .hciH4)).fields)
    #expect(data["Handle"] == "0x0001" && data["Flags"] == "2" && data["Data/MTU"] == "517")
    let event = Self.values(try #require(Self.tree([0x04, 0x3E, 2, 0x0C, 0x00], .hciH4)).fields)
    #expect(event["Parameters/Subevent code"] == "0C" && event["Length"] == "2")
  }

  @Test("Any octets have fields that lie within them")
  func anything() {
    var generator = SystemRandomNumberGenerator()
    func check(_ fields: [PacketFields.Field], _ bounds: Range<Int>) {
      for field in fields {
        #expect(bounds.lowerBound <= field.range.lowerBound && field.range.upperBound <= bounds.upperBound, "\(field)")
        check(field.parts, bounds)
      }
    }
    for _ in 0..<20_000 {
      var octets = (0..<Int.random(in: 0...44, using: &generator)).map { _ in
        UInt8.random(in: 0...255, using: &generator)
      }
      if Bool.random(), octets.count > 10 { octets.replaceSubrange(0..<4, with: [0xD6, 0xBE, 0x89, 0x8E]) }
      if Bool.random(), octets.count > 10 { (octets[0], octets[8], octets[9]) = (UInt8.random(in: 1...5), 4, 0) }
      for link in [CaptureLink.linkLayer, .linkLayerWithHeader, .hciH4, .nordicSniffer] {
        guard let tree = Self.tree(octets, link, isEncrypted: Bool.random()) else { continue }
        check(tree.fields, 0..<tree.octets.count)
        #expect(tree.lines.count >= tree.fields.count)
      }
    }
  }
}
