import TestVectors
import Testing

@testable import BluetoothWire

private func encode(_ pdu: SMP.PDU) -> ByteSlice {
  var writer = ByteWriter(PacketPool())
  pdu.encode(into: &writer)
  return writer.finish()
}

@Suite("SMP PDUs")
struct SMPPDUTests {
  @Test("Every vector decodes to its code and encodes to the same octets")
  func vectors() throws {
    let cases = try #require(try TestVectors.load("pdus")["smp"] as? [[String: Any]])
    var codes: Set<SMP.Code> = []
    for vector in cases {
      let input = try octets(try #require(vector["pdu"] as? String))
      let pdu = try SMP.PDU.decode(input)
      #expect(Int(pdu.code.rawValue) == vector["code"] as? Int)
      #expect(encode(pdu) == input, "\(vector["name"] ?? "")")
      codes.insert(pdu.code)
    }
    #expect(codes == Set(SMP.Code.allCases))
  }

  @Test("A Pairing Request has its features")
  func features() throws {
    let pdu = try SMP.PDU.decode(octets("0104002d100f07"))
    let features = SMP.PairingFeatures(
      ioCapability: .keyboardDisplay, hasOOBData: false,
      authenticationRequirements: [.bonding, .manInTheMiddleProtection, .secureConnections, .ct2],
      maximumEncryptionKeySize: 16,
      initiatorKeyDistribution: [.encryptionKey, .identityKey, .signingKey, .linkKey],
      responderKeyDistribution: [.encryptionKey, .identityKey, .signingKey])
    #expect(pdu == .pairingRequest(features))
    #expect(features.refusal == nil)
  }

  @Test("Identity address, central identification and failure have their fields")
  func fields() throws {
    #expect(
      try SMP.PDU.decode(octets("09010605040302c1"))
        == .identityAddressInformation(DeviceAddress(0xC102_0304_0506, .random)))
    #expect(
      try SMP.PDU.decode(octets("0774249078563412efcdab"))
        == .centralIdentification(ediv: 9332, rand: 0xABCD_EF12_3456_7890))
    #expect(try SMP.PDU.decode(octets("0504")) == .pairingFailed(.confirmValueFailed))
  }

  @Test(
    "A length or a value that the specification forbids is refused by the Security Manager",
    arguments: [
      ("", DecodingError.truncated), ("0f00", .unknown(code: 0x0F)), ("00", .unknown(code: 0)),
      ("010300011000", .truncated), ("0103000110000100", .excess), ("01050001100001", .invalid(field: "IO Capability")),
      ("01030201100001", .invalid(field: "OOB data flag")), ("0e05", .invalid(field: "Notification Type")),
      ("09020605040302c1", .invalid(field: "AddrType")), ("03000102", .truncated), ("050100", .excess),
    ])
  func invalid(text: String, error: DecodingError) throws {
    let input = try octets(text)
    #expect(throws: error) { try SMP.PDU.decode(input) }
  }

  @Test(
    "Key sizes outside 7 to 16 are refused with the right reason",
    arguments: [
      ("01030001060001", SMP.FailureReason.encryptionKeySize), ("01030001110001", .invalidParameters),
      ("01030001fd0001", .invalidParameters),
    ])
  func keySizes(text: String, reason: SMP.FailureReason) throws {
    guard case .pairingRequest(let features) = try SMP.PDU.decode(octets(text)) else {
      Issue.record("another PDU")
      return
    }
    #expect(features.refusal == reason)
  }

  @Test("Any octets decode to an SMP PDU that encodes to the same octets, or throw")
  func anyOctets() {
    var generator = RandomStream(seed: 0x53)
    let lengths = [2, 7, 8, 11, 17, 65]
    var decoded = 0
    for _ in 0..<20_000 {
      let length =
        Bool.random(using: &generator)
        ? lengths.randomElement(using: &generator) ?? 0 : Int.random(in: 0...70, using: &generator)
      var bytes = (0..<length).map { _ in
        UInt8.random(in: 0...(Bool.random(using: &generator) ? 4 : 255), using: &generator)
      }
      if !bytes.isEmpty { bytes[0] = UInt8.random(in: 0...0x10, using: &generator) }
      guard let pdu = try? SMP.PDU.decode(ByteSlice(bytes)) else { continue }
      decoded += 1
      #expect(encode(pdu).bytes == bytes)
    }
    #expect(decoded > 500)
  }
}
