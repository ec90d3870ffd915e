import BluetoothCrypto
import BluetoothWire
import Requirements
import TestVectors
import Testing

@testable import BluetoothHost

/// Signed Write Commands · Vol 3, Part F, 3.4.5.4; Vol 3, Part H, 2.4.5.
@Suite("Signed writes")
struct GATTSignedWriteTests {
  private static let key = Block(high: 0x0123_4567_89AB_CDEF, low: 0xFEDC_BA98_7654_3210)

  private static func client(
    _ properties: CharacteristicProperties = [.read, .authenticatedSignedWrites],
    _ permissions: AttributePermissions = [.readable, .writeable],
    verifier: SignatureVerifier? = SignatureVerifier(key: key)
  ) -> HostileClient {
    var client = HostileClient(
      GATTCharacteristicDefinition(uuid: 0x2A39, properties: properties, permissions: permissions, value: [0]))
    client.setVerifier(verifier)
    return client
  }

  private static func command(_ value: UInt8, counter: UInt32, key: Block = key) -> ByteSlice {
    let message: [UInt8] = [0xD2, 0x16, 0x00, value]
    return ByteSlice(message + Toolbox.signature(of: message, csrk: key, counter: counter))
  }

  @Test("P14 A signed write is executed once, in the order of the counters", .requirement("A048"))
  func counters() {
    var client = Self.client()
    #expect(client.send(Self.command(1, counter: 5)) == [])
    #expect(client.send("0a1600") == [hex("0b01")])
    // A repeated write and an older one.
    _ = client.send("0a1600")
    #expect(client.send(Self.command(1, counter: 5)) == [])
    #expect(client.send(Self.command(2, counter: 4)) == [])
    #expect(client.send("0a1600") == [hex("0b01")])
    #expect(client.send(Self.command(3, counter: 6)) == [])
    #expect(client.send("0a1600") == [hex("0b03")])
    #expect(client.bench.host.signatureVerifier(on: HCI.ConnectionHandle(rawValue: 0x40))?.nextCounter == 7)
    client.expectUnharmed()
  }

  @Test("P14 The invalid signatures of the reference vectors are rejected")
  func vectors() throws {
    let rows = try TestVectors.load("crypto")["cases"] as? [[String: Any]] ?? []
    let bad = rows.filter { $0["function"] as? String == "att_sign_bad" }
    #expect(bad.count == 2)
    for row in bad {
      let key = try #require(row["csrk"] as? String)
      let verifier = SignatureVerifier(key: try #require(Block(hex(key).bytes.reversed())))
      var client = Self.client(verifier: verifier)
      // The same write with the handle of this database's value.
      var pdu = hex(try #require(row["full_pdu"] as? String)).bytes
      _ = client.send(ByteSlice(pdu))
      pdu[1] = 0x16
      _ = client.send(ByteSlice(pdu))
      #expect(client.send("0a1600") == [hex("0b00")])
      #expect(client.bench.host.signatureVerifier(on: HCI.ConnectionHandle(rawValue: 0x40))?.nextCounter == 0)
    }
  }

  @Test("A signed write with the last counter is the last one accepted")
  func lastCounter() {
    var client = Self.client()
    _ = client.send(Self.command(1, counter: .max))
    #expect(client.send("0a1600") == [hex("0b01")])
    _ = client.send(Self.command(2, counter: .max))
    _ = client.send(Self.command(2, counter: 0))
    #expect(client.send("0a1600") == [hex("0b01")])
  }

  @Test("P14 Without a key, with another key or with a changed octet, nothing is written and no counter is used")
  func wrongSignature() {
    var without = Self.client(verifier: nil)
    _ = without.send(Self.command(1, counter: 0))
    #expect(without.send("0a1600") == [hex("0b00")])
    var client = Self.client()
    _ = client.send(Self.command(1, counter: 9, key: Block(high: 1, low: 2)))
    for place in 0..<16 where place != 0 {
      var octets = Self.command(1, counter: 9).bytes
      octets[place] ^= 0x10
      #expect(client.send(ByteSlice(octets)) == [], "\(place)")
    }
    #expect(client.send("0a1600") == [hex("0b00")])
    _ = client.send(Self.command(1, counter: 0))
    #expect(client.send("0a1600") == [hex("0b01")])
  }

  @Test("P14 An encrypted link accepts no signed writes", .requirement("L146"))
  func encryptedLink() {
    var client = Self.client()
    client.secure(HostLinkSecurity(level: .encrypted, keySize: 16, hasKey: true))
    _ = client.send(Self.command(1, counter: 0))
    #expect(client.send("0a1600") == [hex("0b00")])
  }

  @Test("A characteristic that lacks the property or needs encryption accepts no signed writes", .requirement("A048"))
  func property() {
    var other = Self.client([.read, .write, .writeWithoutResponse])
    _ = other.send(Self.command(1, counter: 0))
    #expect(other.send("0a1600") == [hex("0b00")])
    var protected = Self.client([.read, .authenticatedSignedWrites], [.readable, .writeEncryptionRequired])
    _ = protected.send(Self.command(1, counter: 0))
    #expect(protected.send("0a1600") == [hex("0b00")])
    // The property permits no other kind of write.
    var client = Self.client()
    #expect(client.send("12160001") == [hex("0112160003")])
    #expect(client.send("52160001") == [])
    #expect(client.send("0a1600") == [hex("0b00")])
  }
}
