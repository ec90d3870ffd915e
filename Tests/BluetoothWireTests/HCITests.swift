import BluetoothWire
import Requirements
import TestVectors
import Testing

/// One row of `hci.json`.
struct HCIVector: CustomTestStringConvertible {
  let name: String
  let octets: [UInt8]
  var testDescription: String { name }

  var packet: HCI.Packet {
    get throws { try HCI.Packet(h4: ByteSlice(octets)) }
  }

  static func load(_ list: String = "packets") throws -> [HCIVector] {
    let rows = try TestVectors.load("hci")[list] as? [[String: Any]] ?? []
    return rows.compactMap { row in
      guard let name = row["name"] as? String, let digits = row["h4"] as? String,
        let octets = [UInt8](hexadecimal: digits)
      else { return nil }
      return HCIVector(name: name, octets: octets)
    }
  }

  static func named(_ name: String) throws -> HCI.Packet {
    try #require(try load().first { $0.name == name }).packet
  }
}

struct HCIVectorTests {
  let pool = PacketPool()

  @Test("The HCI vectors have the expected numbers of rows and the known sections")
  func count() throws {
    #expect(try HCIVector.load().count == 71)
    #expect(try HCIVector.load("invalid").count == 10)
    // These tests would ignore an additional section.
    #expect(try Set(TestVectors.load("hci").keys) == ["topic", "byte_order", "packets", "invalid"])
  }

  @Test("Each row of the vectors decodes to the value of its fields, and encodes to its octets")
  func values() throws {
    var compared = 0
    for vector in try HCIVector.load() {
      let packet = try vector.packet
      let name = vector.name
      switch packet {
      case .command(let opcode, let parameters):
        let expected = try #require(HCIVectorValues.commands[name], "\(name)")
        #expect(try HCI.Command(opcode: opcode, parameters: parameters) == expected, "\(name)")
        #expect(expected.packet(in: pool).h4(in: pool).bytes == vector.octets, "\(name)")
      case .event(let code, let parameters):
        let event = try HCI.Event(code: code, parameters: parameters)
        switch event {
        case .leAdvertisingReport(let reports):
          #expect(Array(reports) == HCIVectorValues.reports[name], "\(name)")
        case .leExtendedAdvertisingReport(let reports):
          #expect(Array(reports) == HCIVectorValues.extendedReports[name], "\(name)")
        default:
          let expected = try #require(HCIVectorValues.events[name], "\(name)")
          #expect(event == expected, "\(name)")
          #expect(expected.packet(in: pool).h4(in: pool).bytes == vector.octets, "\(name)")
        }
      case .acl(let data):
        let expected = try #require(HCIVectorValues.data[name], "\(name)")
        #expect(data.handle.rawValue == 64 && data.boundary == expected.boundary, "\(name)")
        let payload = expected.channel == nil ? data.payload : data.payload.dropFirst(L2CAP.headerLength)
        #expect(payload.bytes == expected.payload, "\(name)")
        if let channel = expected.channel { #expect(data.payload[2] == UInt8(channel), "\(name)") }
      }
      compared += 1
    }
    #expect(compared == 71)
  }

  @Test(
    "A packet of the vectors decodes, and encodes to the same octets", .requirement("L074"),
    arguments: try HCIVector.load())
  func roundTrip(_ vector: HCIVector) throws {
    let packet = try vector.packet
    #expect(packet.h4(in: pool).bytes == vector.octets)
    #expect(packet.encodedCount == vector.octets.count)
    switch packet {
    case .command(let opcode, let parameters):
      let command = try HCI.Command(opcode: opcode, parameters: parameters)
      #expect(command.opcode == opcode)
      #expect(command.packet(in: pool) == packet)
    case .event(let code, let parameters):
      let event = try HCI.Event(code: code, parameters: parameters)
      #expect(event.packet(in: pool) == packet)
    case .acl: break
    }
  }

  @Test("A packet that is truncated anywhere is an error", arguments: try HCIVector.load())
  func truncation(_ vector: HCIVector) throws {
    for count in 0..<vector.octets.count {
      #expect(throws: DecodingError.self) { try HCI.Packet(h4: ByteSlice(vector.octets.prefix(count))) }
    }
  }

  @Test("Parameters truncated anywhere are an error for a command, and never trap", arguments: try HCIVector.load())
  func truncatedParameters(_ vector: HCIVector) throws {
    switch try vector.packet {
    case .command(let opcode, let parameters):
      if case .unknown = try HCI.Command(opcode: opcode, parameters: parameters) { return }
      for count in 0..<parameters.count {
        #expect(throws: DecodingError.self) { try HCI.Command(opcode: opcode, parameters: parameters.prefix(count)) }
      }
    case .event(let code, let parameters):
      for count in 0..<parameters.count { _ = try? HCI.Event(code: code, parameters: parameters.prefix(count)) }
    case .acl: break
    }
  }

  @Test("A command with an excess octet is refused")
  func excess() throws {
    let reset = HCI.Command.reset.opcode
    #expect(throws: DecodingError.excess) { try HCI.Command(opcode: reset, parameters: [0]) }
  }

  @Test("Random octets decoded as HCI never trap")
  func randomInput() {
    var generator = RandomStream(seed: 7)
    for _ in 0..<20_000 {
      let octets = (0..<Int.random(in: 0...64, using: &generator)).map { _ in
        UInt8.random(in: 0...255, using: &generator)
      }
      let slice = ByteSlice(octets)
      let code: UInt8 = [0x05, 0x08, 0x0C, 0x0E, 0x0F, 0x13, 0x3E, 0x3E, 0x3E].randomElement(using: &generator) ?? 0
      if case .leAdvertisingReport(let reports)? = try? HCI.Event(code: code, parameters: slice) {
        #expect(Array(reports).count == reports.underestimatedCount)
      }
      let opcode = HCI.Opcode(rawValue: 0x2000 | UInt16.random(in: 0...0x60, using: &generator))
      if let command = try? HCI.Command(opcode: opcode, parameters: slice) {
        #expect(command.opcode == opcode)
      }
      _ = try? HCI.Packet(h4: slice)
    }
  }
}

struct HCIInvalidVectorTests {
  private func invalid(_ name: String) throws -> HCI.Packet {
    try #require(try HCIVector.load("invalid").first { $0.name == name }).packet
  }

  @Test(
    "A packet of a wrong length or kind is an error",
    arguments: ["event length too long", "unknown packet indicator", "ACL length mismatch"])
  func packet(_ name: String) {
    #expect(throws: DecodingError.self) { try invalid(name) }
  }

  @Test("Every invalid row is refused, kept as unknown, or left for the host to drop")
  func all() throws {
    var refused = 0
    var others: [String] = []
    for vector in try HCIVector.load("invalid") {
      do {
        guard case .event(let code, let parameters) = try vector.packet else {
          others.append(vector.name)
          continue
        }
        let event = try HCI.Event(code: code, parameters: parameters)
        if case .unknownLE = event { others.append(vector.name) } else { Issue.record("\(vector.name) is read") }
      } catch {
        refused += 1
      }
    }
    #expect(refused == 8)
    #expect(others == ["ACL continuation without start", "unknown LE subevent"])
  }

  @Test(
    "H4: an advertising report whose lengths exceed its octets is dropped",
    arguments: [
      "advertising report zero reports", "advertising report truncated", "advertising data length past the end",
      "data length 32 in legacy report",
    ])
  func reports(_ name: String) throws {
    guard case .event(let code, let parameters) = try invalid(name) else {
      Issue.record("not an event")
      return
    }
    #expect(throws: DecodingError.self) { try HCI.Event(code: code, parameters: parameters) }
  }

  @Test("H2: a Command Complete without an opcode is an error")
  func shortCommandComplete() throws {
    #expect(throws: DecodingError.truncated) { try HCI.Event(code: 0x0E, parameters: [0x01]) }
  }

  @Test("An unknown subevent is kept with its parameters")
  func subevent() throws {
    #expect(try HCI.Event(code: 0x3E, parameters: [0xF0, 0x01]) == .unknownLE(subevent: 0xF0, [0x01]))
  }

  @Test("H3: Number Of Completed Packets with more handles than octets is an error")
  func completedPackets() {
    #expect(throws: DecodingError.truncated) { try HCI.Event(code: 0x13, parameters: [2, 0x40, 0, 1, 0]) }
  }

  @Test("H9: an ACL packet with reserved boundary or broadcast flags is an error", arguments: [0x30, 0x40, 0x80, 0xC0])
  func reservedFlags(_ flags: UInt8) {
    #expect(throws: DecodingError.self) { try HCI.Packet(h4: [0x02, 0x40, flags, 0x01, 0x00, 0xAA]) }
  }

  @Test("The upper bits of a connection handle are ignored")
  func reservedHandleBits() throws {
    let event = try HCI.Event(code: 0x05, parameters: [0, 0x40, 0xF0, 0x13])
    let handle = HCI.ConnectionHandle(rawValue: 0x40)
    #expect(event == .disconnectionComplete(.success, handle, reason: .remoteUserTerminatedConnection))
  }
}
