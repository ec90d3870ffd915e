import TestVectors
import Testing

@testable import BluetoothWire

/// Returns the octets of `text`, which is in hexadecimal.
func octets(_ text: String) throws -> ByteSlice {
  ByteSlice(try #require([UInt8](hexadecimal: text)))
}

private func encode(_ pdu: ATT.PDU) -> ByteSlice {
  pdu.encoded(in: PacketPool())
}

@Suite("ATT PDUs")
struct ATTPDUTests {
  @Test("Every vector decodes to its opcode and encodes to the same octets")
  func vectors() throws {
    let cases = try #require(try TestVectors.load("pdus")["att"] as? [[String: Any]])
    var opcodes: Set<ATT.Opcode> = []
    for vector in cases {
      let name = vector["name"] as? String ?? ""
      let input = try octets(try #require(vector["pdu"] as? String))
      let pdu = try ATT.PDU.decode(input)
      #expect(Int(pdu.opcode.rawValue) == vector["opcode"] as? Int, "\(name)")
      #expect("\(pdu.opcode.kind)" == vector["kind"] as? String, "\(name)")
      #expect(encode(pdu) == input, "\(name)")
      opcodes.insert(pdu.opcode)
    }
    #expect(opcodes == Set(ATT.Opcode.allCases))
  }

  @Test("Error Response vectors carry handle, request and code")
  func errorFields() throws {
    let cases = try #require(try TestVectors.load("pdus")["att"] as? [[String: Any]])
    for vector in cases where vector["opcode"] as? Int == 1 {
      let fields = try #require(vector["fields"] as? [String: Any])
      let pdu = try ATT.PDU.decode(try octets(try #require(vector["pdu"] as? String)))
      let expected = ATT.PDU.errorResponse(
        request: UInt8(try #require(fields["request_opcode"] as? Int)),
        handle: UInt16(try #require(fields["handle"] as? Int)),
        code: ATT.ErrorCode(rawValue: UInt8(try #require(fields["error"] as? Int))))
      #expect(pdu == expected)
    }
  }

  @Test("Find Information Response lists handles with UUIDs of either width")
  func informationList() throws {
    guard
      case .findInformationResponse(let short) = try ATT.PDU.decode(octets("05010f00022910000129")),
      case .findInformationResponse(let long) = try ATT.PDU.decode(
        octets("050212009ecadc240ee5a9e093f3a3b50300406e"))
    else {
      Issue.record("another PDU")
      return
    }
    #expect(short.map(\.handle) == [15, 16])
    #expect(short.map(\.type) == [0x2902, 0x2901])
    #expect(long.map(\.type.description) == ["6E400003-B5A3-F393-E0A9-E50E24DCCA9E"])
  }

  @Test("Read By Type and Read By Group Type Responses give each element's value")
  func attributeLists() throws {
    guard
      case .readByTypeResponse(let list) = try ATT.PDU.decode(octets("09070200020300002a0400020500012a")),
      case .readByGroupTypeResponse(let groups) = try ATT.PDU.decode(
        octets("110601000b0000180c000f0001181000ffff0a18")),
      case .findByTypeValueResponse(let handles) = try ATT.PDU.decode(octets("07010006001000ffff"))
    else {
      Issue.record("another PDU")
      return
    }
    #expect(list.map(\.handle) == [2, 4])
    #expect(list.map(\.value) == [[0x02, 0x03, 0x00, 0x00, 0x2A], [0x02, 0x05, 0x00, 0x01, 0x2A]])
    #expect(groups.map(\.handle) == [1, 12, 16])
    #expect(groups.map(\.groupEnd) == [11, 15, 0xFFFF])
    #expect(groups.map(\.value) == [[0x00, 0x18], [0x01, 0x18], [0x0A, 0x18]])
    #expect(handles.map(\.found) == [1, 16])
    #expect(handles.map(\.groupEnd) == [6, 0xFFFF])
  }

  @Test("Lists of values of different lengths give each value, and a truncated last one as far as it goes")
  func variableLists() throws {
    guard
      case .readMultipleVariableResponse(let values) = try ATT.PDU.decode(octets("21020001020300030405")),
      case .readMultipleVariableResponse(let cut) = try ATT.PDU.decode(octets("2102000102090003")),
      case .multipleHandleValueNotification(let list) = try ATT.PDU.decode(octets("2312000200010215000100ff"))
    else {
      Issue.record("another PDU")
      return
    }
    #expect(values.map(\.value) == [[1, 2], [3, 4, 5]])
    #expect(cut.map(\.length) == [2, 9])
    #expect(cut.map(\.value) == [[1, 2], [3]])
    #expect(list.map(\.handle) == [18, 21])
    #expect(list.map(\.value) == [[1, 2], [0xFF]])
  }

  @Test(
    "A length or a value that the specification forbids is refused",
    arguments: [
      ("", DecodingError.truncated), ("02f7", .truncated), ("02f70000", .excess), ("0400000000ff", .excess),
      ("0e0300", .truncated), ("0e030005", .truncated), ("1802", .invalid(field: "Flags")), ("d212000000", .truncated),
      ("080100ffff032800", .invalid(field: "Attribute Type")), ("080100ffff", .truncated),
      ("1f00", .unknown(code: 0x1F)),
      ("5f00", .unknown(code: 0x5F)), ("0503010002000000", .invalid(field: "Format")), ("0501", .truncated),
      ("05010f000229ff", .truncated), ("0901ff", .invalid(field: "Length")), ("090702000203", .truncated),
      ("1103010002", .invalid(field: "Length")), ("1100", .invalid(field: "Length")), ("0701000600ff", .truncated),
      ("1e00", .excess), ("1300", .excess), ("23", .truncated), ("23120002000102ff", .truncated),
    ])
  func invalid(text: String, error: DecodingError) throws {
    let input = try octets(text)
    #expect(throws: error) { try ATT.PDU.decode(input) }
  }

  @Test("Any octets decode to a PDU that encodes to the same octets, or throw")
  func anyOctets() throws {
    var generator = RandomStream(seed: 0xA77)
    let opcodes = ATT.Opcode.allCases.map(\.rawValue) + [0x00, 0x14, 0x1F, 0x5F, 0xFF]
    var decoded = 0
    for _ in 0..<20_000 {
      var bytes = (0..<Int.random(in: 0...40, using: &generator)).map { _ in
        UInt8.random(in: 0...255, using: &generator)
      }
      if !bytes.isEmpty { bytes[0] = opcodes.randomElement(using: &generator) ?? 0 }
      // Lengths and formats are small numbers.
      if bytes.count > 1, Bool.random(using: &generator) { bytes[1] = UInt8.random(in: 0...8, using: &generator) }
      guard let pdu = try? ATT.PDU.decode(ByteSlice(bytes)) else { continue }
      decoded += 1
      #expect(encode(pdu).bytes == bytes)
      visit(pdu)
    }
    #expect(decoded > 5_000)
  }

  /// Iterates over every list. The iteration must end and must not trap.
  private func visit(_ pdu: ATT.PDU) {
    switch pdu {
    case .findInformationResponse(let list): #expect(list.map(\.handle).count == list.count)
    case .findByTypeValueResponse(let list): #expect(list.map(\.found).count == list.count)
    case .readByTypeResponse(let list): #expect(list.map(\.value.count).allSatisfy { $0 == list.elementSize - 2 })
    case .readByGroupTypeResponse(let list): #expect(list.map(\.value.count).allSatisfy { $0 == list.elementSize - 4 })
    case .readMultipleRequest(let list), .readMultipleVariableRequest(let list): #expect(list.count >= 2)
    case .readMultipleVariableResponse(let list): #expect(list.allSatisfy { $0.value.count <= $0.length })
    case .multipleHandleValueNotification(let list): #expect(list.contains { _ in true })
    default: break
    }
  }

  @Test("Only a request has a response opcode")
  func responses() {
    for opcode in ATT.Opcode.allCases {
      #expect((opcode.response != nil) == (opcode.kind == .request))
      if let response = opcode.response { #expect(response.kind == .response) }
      #expect(ATT.Opcode.isCommand(opcode.rawValue) == (opcode.kind == .command))
    }
  }

  @Test("A 32-bit UUID is encoded in its 128-bit form")
  func longForm() {
    let pdu = ATT.PDU.readByTypeRequest(start: 1, end: 2, type: BluetoothUUID(UInt32(0x1234_5678)))
    #expect(encode(pdu).count == 21)
  }
}
