import BluetoothWire
import TestVectors
import Testing

/// One row of the section `signalling` of `pdus.json`.
struct SignalVector: CustomTestStringConvertible {
  let name: String
  let pdu: [UInt8]
  let frame: [UInt8]
  let code: Int
  let identifier: Int
  var testDescription: String { name }

  static func load() throws -> [SignalVector] {
    let rows = try TestVectors.load("pdus")["signalling"] as? [[String: Any]] ?? []
    return rows.compactMap { row in
      guard let name = row["name"] as? String, let pdu = (row["pdu"] as? String).flatMap([UInt8].init(hexadecimal:)),
        let frame = (row["l2cap"] as? String).flatMap([UInt8].init(hexadecimal:)), let code = row["code"] as? Int,
        let identifier = row["identifier"] as? Int
      else { return nil }
      return SignalVector(name: name, pdu: pdu, frame: frame, code: code, identifier: identifier)
    }
  }
}

struct L2CAPTests {
  let pool = PacketPool()

  @Test("The signalling vectors have the expected number of rows")
  func count() throws { #expect(try SignalVector.load().count == 25) }

  @Test(
    "A signalling packet of the vectors decodes, and encodes to the same octets", arguments: try SignalVector.load())
  func roundTrip(_ vector: SignalVector) throws {
    let frame = try L2CAP.Frame(ByteSlice(vector.frame))
    #expect(frame.channel == .signalling)
    #expect(frame.payload.bytes == vector.pdu)
    let signal = try L2CAP.Signal(frame.payload)
    #expect(signal.identifier == UInt8(vector.identifier))
    #expect(signal.content.code == UInt8(vector.code))
    #expect(signal.frame(in: pool).bytes == vector.frame)
  }

  @Test("A signalling packet that is truncated anywhere is an error", arguments: try SignalVector.load())
  func truncation(_ vector: SignalVector) {
    for count in 0..<vector.pdu.count {
      #expect(throws: DecodingError.self) { try L2CAP.Signal(ByteSlice(vector.pdu.prefix(count))) }
    }
    for count in 0..<vector.frame.count {
      #expect(throws: DecodingError.self) { try L2CAP.Frame(ByteSlice(vector.frame.prefix(count))) }
    }
  }

  @Test("The fields of a Connection Parameter Update Request are in their places")
  func parameterUpdate() throws {
    let signal = try L2CAP.Signal([0x12, 0x01, 0x08, 0x00, 0x18, 0x00, 0x28, 0x00, 0x00, 0x00, 0x2A, 0x00])
    let parameters = LinkParameters(
      minimumInterval: 24, maximumInterval: 40, latency: 0, supervisionTimeout: 42)
    #expect(signal == L2CAP.Signal(identifier: 1, content: .connectionParameterUpdateRequest(parameters)))
  }

  @Test("L2: more than five channels, no channel, and an odd number of octets are errors")
  func channelLists() {
    for count in [0, 1, 3, 12] {
      let octets: [UInt8] =
        [0x17, 8, UInt8(8 + count), 0, 0x27, 0, 0, 2, 0, 1, 5, 0] + [UInt8](repeating: 0x40, count: count)
      #expect(throws: DecodingError.self) { try L2CAP.Signal(ByteSlice(octets)) }
    }
  }

  @Test("L10: identifier 0, an unknown code and more than one packet are distinct errors")
  func errors() {
    #expect(throws: DecodingError.invalid(field: "Identifier")) { try L2CAP.Signal([0x16, 0, 4, 0, 0x40, 0, 1, 0]) }
    #expect(throws: DecodingError.unknown(code: 0x0F)) { try L2CAP.Signal([0x0F, 5, 0, 0]) }
    #expect(throws: DecodingError.excess) { try L2CAP.Signal([0x13, 5, 2, 0, 0, 0, 0x13, 6, 2, 0, 0, 0]) }
  }

  @Test("The length of a frame is known once its header is complete")
  func frameLength() {
    #expect(L2CAP.frameLength([0x05, 0x00, 0x04]) == nil)
    #expect(L2CAP.frameLength([0x05, 0x00, 0x04, 0x00]) == 9)
  }

  @Test("Connection parameters are valid within their ranges and with a sufficient supervision timeout")
  func connectionParameters() {
    func isValid(_ minimum: UInt16, _ maximum: UInt16, _ latency: UInt16, _ timeout: UInt16) -> Bool {
      LinkParameters(
        minimumInterval: minimum, maximumInterval: maximum, latency: latency, supervisionTimeout: timeout
      ).isValid
    }
    #expect(isValid(6, 3200, 0, 3200))
    #expect(isValid(24, 24, 0, 200))
    #expect(!isValid(5, 24, 0, 200))
    #expect(!isValid(24, 3201, 0, 3200))
    #expect(!isValid(40, 24, 0, 200))
    #expect(!isValid(24, 24, 500, 3200))
    #expect(!isValid(24, 24, 0, 9))
    #expect(!isValid(24, 24, 0, 3201))
    // 40 × 1.25 ms × 2 = 100 ms: the timeout must be longer.
    #expect(!isValid(40, 40, 0, 10))
    #expect(isValid(40, 40, 0, 11))
    #expect(!isValid(40, 40, 499, 3200))
  }

  @Test("Random octets decoded as L2CAP never trap")
  func randomInput() {
    var generator = RandomStream(seed: 11)
    for _ in 0..<20_000 {
      let count = Int.random(in: 0...30, using: &generator)
      var octets = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
      if count >= 4 {
        octets[0] = UInt8.random(in: 0...0x1B, using: &generator)
        octets[2] = UInt8(count - 4)
        octets[3] = 0
      }
      guard let signal = try? L2CAP.Signal(ByteSlice(octets)) else { continue }
      let frame = signal.frame(in: pool)
      #expect(frame.dropFirst(L2CAP.headerLength).bytes == octets)
    }
  }
}
