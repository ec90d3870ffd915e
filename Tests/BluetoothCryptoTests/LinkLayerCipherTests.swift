import Requirements
import TestVectors
import Testing

@testable import BluetoothCrypto

/// The session of the reference vectors with its packets.
private struct EncryptionVectors {
  let session: Row
  let packets: [Row]
  let negatives: [Row]

  init() throws {
    let vectors = try TestVectors.load("ll_encryption")
    session = Row(fields: try #require(vectors["session"] as? [String: Any]))
    packets = try #require(vectors["packets"] as? [[String: Any]]).map(Row.init)
    negatives = try #require(vectors["negative"] as? [[String: Any]]).map(Row.init)
  }

  /// Returns the cipher that both sides derive from the long term key and the parameters of LL_ENC_REQ and LL_ENC_RSP.
  func cipher() throws -> LinkLayerCipher {
    let diversifier = Block(high: try session.number("skds"), low: try session.number("skdm"))
    let vector = try session.number("ivs") << 32 | session.number("ivm")
    return LinkLayerCipher(
      longTermKey: try session.block("ltk"), diversifier: diversifier, initializationVector: vector)
  }
}

extension Row {
  fileprivate var sender: LinkLayerCipher.Sender {
    fields["direction_bit"] as? Int == 1 ? .central : .peripheral
  }
  fileprivate var counter: UInt64 { UInt64(fields["packet_counter"] as? Int ?? -1) }
}

extension LinkLayerCipher {
  fileprivate func seal(_ pdu: [UInt8], counter: UInt64, sender: Sender) -> [UInt8] {
    var output = [UInt8](repeating: 0, count: pdu.count - 2 + Self.codeLength)
    output.withUnsafeMutableBytes { output in
      pdu.dropFirst(2).withUnsafeBytes { seal($0, header: pdu[0], counter: counter, sender: sender, into: output) }
    }
    return [pdu[0], UInt8(output.count)] + output
  }

  fileprivate func open(_ pdu: [UInt8], counter: UInt64, sender: Sender) -> [UInt8]? {
    var output = [UInt8](repeating: 0, count: max(0, pdu.count - 2 - Self.codeLength))
    let isRight = output.withUnsafeMutableBytes { output in
      pdu.dropFirst(2).withUnsafeBytes { open($0, header: pdu[0], counter: counter, sender: sender, into: output) }
    }
    return isRight ? [pdu[0], UInt8(output.count)] + output : nil
  }
}

@Suite("Link layer encryption against the reference vectors")
struct LinkLayerCipherTests {
  @Test("The session key comes from the long term key and both halves of SKD")
  func sessionKey() throws {
    let session = try EncryptionVectors().session
    let skd = try session.block("skd")
    #expect(skd == Block(high: try session.number("skds"), low: try session.number("skdm")))
    #expect(AES128.encrypt(skd, key: try session.block("ltk")) == (try session.block("session_key")))
  }

  @Test("The cipher encrypts a PDU", arguments: try EncryptionVectors().packets)
  func seal(row: Row) throws {
    let sealed = try EncryptionVectors().cipher()
      .seal(row.bytes("plain_pdu"), counter: row.counter, sender: row.sender)
    #expect(sealed == (try row.bytes("encrypted_pdu")))
  }

  @Test("The cipher decrypts an encrypted PDU", arguments: try EncryptionVectors().packets)
  func open(row: Row) throws {
    let opened = try EncryptionVectors().cipher()
      .open(row.bytes("encrypted_pdu"), counter: row.counter, sender: row.sender)
    #expect(opened == (try row.bytes("plain_pdu")))
  }

  @Test("The cipher refuses a PDU that is not genuine", arguments: try EncryptionVectors().negatives)
  func refuse(row: Row) throws {
    let opened = try EncryptionVectors().cipher()
      .open(row.bytes("encrypted_pdu"), counter: row.counter, sender: row.sender)
    #expect(opened == nil)
  }

  @Test("Every bit of a PDU is authenticated, except NESN, SN and MD")
  func everyBit() throws {
    let cipher = try EncryptionVectors().cipher()
    let sealed = cipher.seal([0x02, 3, 1, 2, 3], counter: 7, sender: .peripheral)
    for bit in sealed.indices.flatMap({ octet in (0..<8).map { (octet, $0) } }) where bit.0 != 1 {
      var changed = sealed
      changed[bit.0] ^= 1 << bit.1
      let opened = cipher.open(changed, counter: 7, sender: .peripheral)
      #expect((opened != nil) == (bit.0 == 0 && 2...4 ~= bit.1), "octet \(bit.0), bit \(bit.1)")
    }
  }

  @Test("A payload of any length is encrypted as block by block, and a changed one is refused")
  func lengths() {
    let reference = ReferenceCipher(
      key: Block(high: 0x9991_7CE3_0B52_36A4, low: 0xB2C7_3D5E_6F80_1829), vector: 0x24AB_DCBA_BEBA_AFDE)
    let cipher = LinkLayerCipher(sessionKey: reference.key, initializationVector: reference.vector)
    for length in 0...LinkLayerCipher.maximumLength {
      let plaintext = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ length) }
      let (counter, sender) = (UInt64(length) << 30 | 5, length % 2 == 0 ? LinkLayerCipher.Sender.central : .peripheral)
      var sealed = cipher.seal([0x0E, UInt8(length)] + plaintext, counter: counter, sender: sender)
      #expect(
        sealed.dropFirst(2) == reference.seal(plaintext, header: 0x0E, counter: counter, sender: sender)[...],
        "\(length) octets")
      #expect(
        cipher.open(sealed, counter: counter, sender: sender).map { $0.dropFirst(2) } == plaintext[...],
        "\(length) octets")
      sealed[2 + length / 2] ^= 0x10
      #expect(cipher.open(sealed, counter: counter, sender: sender) == nil, "\(length) octets")
    }
  }

  @Test("A cipher without room for the MIC, or with too long a payload, refuses to decrypt")
  func wrongLengths() throws {
    let cipher = try EncryptionVectors().cipher()
    for length in [0, 3, LinkLayerCipher.maximumLength + LinkLayerCipher.codeLength + 1] {
      let opened = cipher.open([0x02, 0] + [UInt8](repeating: 7, count: length), counter: 0, sender: .central)
      #expect(opened == nil, "\(length) octets")
    }
  }

  @Test("The cipher decrypts sessions of real captures", .requirement("L175"), arguments: try CapturedSession.all())
  func captures(session: CapturedSession) throws {
    for packet in session.packets {
      let opened = session.cipher.open(try packet.bytes("pdu"), counter: packet.counter, sender: packet.sender)
      #expect(opened?.dropFirst(2) == (try packet.bytes("plaintext"))[...], "frame \(packet.fields["frame"] ?? "")")
    }
  }
}

/// AES-CCM of a packet as the specification describes it, block by block · Vol 6, Part E.
private struct ReferenceCipher {
  let key: Block
  let vector: UInt64

  func seal(_ plaintext: [UInt8], header: UInt8, counter: UInt64, sender: LinkLayerCipher.Sender) -> [UInt8] {
    var nonce = (0..<5).map { UInt8(truncatingIfNeeded: counter >> (8 * $0)) }
    nonce[4] = nonce[4] & 0x7F | (sender == .central ? 0x80 : 0)
    nonce += (0..<8).map { UInt8(truncatingIfNeeded: vector >> (8 * $0)) }
    func encrypted(_ octets: [UInt8]) -> [UInt8] { AES128.encrypt(Block(octets) ?? .zero, key: key).bytes }
    let blocks = stride(from: 0, to: plaintext.count, by: 16).map { start in
      plaintext[start..<min(start + 16, plaintext.count)]
    }
    var code = encrypted([0x49] + nonce + [0, UInt8(plaintext.count)])
    code = encrypted(zip(code, [0, 1, header & 0xE3] + [UInt8](repeating: 0, count: 13)).map(^))
    for block in blocks {
      code = encrypted(zip(code, block + [UInt8](repeating: 0, count: 16 - block.count)).map(^))
    }
    func stream(_ index: Int) -> [UInt8] { encrypted([0x01] + nonce + [0, UInt8(index)]) }
    let payload = blocks.enumerated().flatMap { index, block in zip(block, stream(index + 1)).map(^) }
    return payload + zip(code, stream(0)).map(^).prefix(4)
  }
}

/// A recorded encrypted connection, with its key.
struct CapturedSession: CustomTestStringConvertible {
  let testDescription: String
  let cipher: LinkLayerCipher
  let packets: [Row]

  static func all() throws -> [CapturedSession] {
    let sessions = try #require(try TestVectors.load("real_traffic")["legacy_sessions"] as? [[String: Any]])
    return try sessions.map { fields in
      let row = Row(fields: fields)
      // The vector has the order on the air: the first octet is the least significant.
      let vector = try row.bytes("iv_nonce").reversed().reduce(0) { $0 << 8 | UInt64($1) }
      let packets = try #require(fields["packets"] as? [[String: Any]])
      return CapturedSession(
        testDescription: row.testDescription,
        cipher: LinkLayerCipher(sessionKey: try row.block("session_key"), initializationVector: vector),
        packets: packets.filter { $0["plaintext"] != nil }.map(Row.init))
    }
  }
}
