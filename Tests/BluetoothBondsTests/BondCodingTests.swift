import BluetoothCrypto
import BluetoothHost
import BluetoothWire
import Testing

@testable import BluetoothBonds
@testable import BluetoothDaemon

@Suite("Bonds as JSON")
struct BondCodingTests {
  private static func read(_ text: String) throws(BondDecodingError) -> BondRecord {
    try BondRecord(jsonText: Array(text.utf8))
  }

  /// Returns the text of the full record with `old` replaced by `new`.
  private static func changed(_ old: String, _ new: String) -> String {
    let text = Bonds.full().json.text
    #expect(text.contains(old))
    return text.replacing(old, with: new)
  }

  @Test("All fields of a record survive a round trip")
  func roundTrip() throws {
    #expect(try Self.read(Bonds.full().json.text) == Bonds.full())
    #expect(try Self.read(Bonds.simple().json.text) == Bonds.simple())
    let bare = BondRecord(Bond(identity: DeviceAddress(1, .public)), identifier: Bonds.identifier)
    #expect(try Self.read(bare.json.text) == bare)
  }

  @Test("The record stores that no user has confirmed the bond")
  func unconfirmed() throws {
    var record = Bonds.simple()
    record.isConfirmed = false
    #expect(try Self.read(record.json.text) == record)
    #expect(try Self.read(Bonds.simple().json.text).isConfirmed)
  }

  @Test("The same record always gives the same text")
  func sameText() { for _ in 0..<8 { #expect(Bonds.full().json.text == Bonds.full().json.text) } }

  @Test("A bond of LE Secure Connections gives this text")
  func text() {
    var record = Bonds.simple(name: "strap")
    record.pairedAt = 1_700_000_000
    #expect(
      record.json.text == """
        {
          "format": 1,
          "identity": "C0:11:22:33:44:55",
          "identityType": "random",
          "identifier": "01234567-89AB-4DEF-8123-456789ABCDEF",
          "name": "strap",
          "pairedAt": 1700000000,
          "privacyMode": "network",
          "keys": {
            "secureConnections": {"key": "00000000000000010000000000000002", "size": 16, "authenticated": false}
          }
        }

        """)
  }

  @Test("Unknown members are ignored")
  func unknownMembers() throws {
    let text = Self.changed(#""format": 1,"#, #""format": 1, "later": [{"deep": [1.5, null]}],"#)
    #expect(try Self.read(text) == Bonds.full())
  }

  @Test("A record of a later format is distinguished from a broken one")
  func laterFormat() {
    #expect(throws: BondDecodingError.laterFormat(2)) { try Self.read(Self.changed(#""format": 1"#, #""format": 2"#)) }
  }

  @Test(
    "An invalid value is refused, and the error names it",
    arguments: [
      (#""format": 1"#, #""format": 0"#, "format"), (#""format": 1"#, #""format": "1""#, "format"),
      (#""identityType": "random""#, #""identityType": "static""#, "identityType"),
      ("C0:11:22:33:44:55", "C0:11:22:33:44", "identity"), ("C0:11:22:33:44:55", "C0:11:22:33:44:5G", "identity"),
      ("01234567-89AB-4DEF-8123-456789ABCDEF", "0123456789AB4DEF8123456789ABCDEF", "identifier"),
      (#""privacyMode": "device""#, #""privacyMode": "both""#, "privacyMode"),
      (#""size": 7"#, #""size": 6"#, "6 octets"), (#""size": 7"#, #""size": 17"#, "17 octets"),
      (#""latency": 4"#, #""latency": 70000"#, "latency"), (#""latency": 4"#, #""latency": -1"#, "latency"),
      (#""latency": 4"#, #""latency": 4.5"#, "latency"),
      (#""isChangeAware": false"#, #""isChangeAware": 0"#, "isChange"),
      (#""first": 20, "last": 65535"#, #""first": 20, "last": 19"#, "last"),
      (#""first": 20, "last": 65535"#, #""first": 0, "last": 19"#, "first"),
      (#""databaseHash": "010203""#, #""databaseHash": "01020""#, "databaseHash"),
      (#""kind": "descriptors""#, #""kind": "secrets""#, "secrets"), (#""ediv": "ABCD""#, #""ediv": "ABC""#, "ediv"),
      (#""ediv": "ABCD""#, #""ediv": "+BCD""#, "ediv"), (#""keys": {"#, #""keys": [], "more": {"#, "keys"),
    ])
  func refusedValues(old: String, new: String, part: String) {
    do throws(BondDecodingError) {
      _ = try Self.read(Self.changed(old, new))
      Issue.record("\(new) was taken")
    } catch {
      guard case .malformed(let text) = error, text.contains(part) else {
        Issue.record("\(error)")
        return
      }
    }
  }

  @Test("A key longer than its size is refused because the link would be encrypted with a different key")
  func longKey() {
    let text = Self.changed("00000000000000000000000000112233", "00000000000000000100000000112233")
    #expect(throws: BondDecodingError.malformed("a key is longer than its size")) { try Self.read(text) }
  }

  @Test("P11 An Identity Resolving Key of zeros in a record counts as no key")
  func zeroIdentityKey() throws {
    let text = Self.changed(
      #""peerIdentity": "\#(Bonds.secret.digits)""#, #""peerIdentity": "\#(Block.zero.digits)""#)
    #expect(try Self.read(text).bond.peerIdentityKey == nil)
    #expect(try Self.read(text).bond.key == Bonds.full().bond.key)
  }

  @Test("Each truncated record is refused")
  func halves() {
    let bytes = Array(Bonds.full().json.text.utf8)
    // Each mark changes what is missing; truncation inside words and numbers repeats the same cases.
    let marks = bytes.indices.filter { Array("{}[],:\"\\".utf8).contains(bytes[$0]) }
    for count in marks where count < bytes.count - 2 {
      #expect(throws: BondDecodingError.self) { try BondRecord(jsonText: Array(bytes[..<count])) }
    }
  }

  @Test("Any changed octet gives a record or an error, and no error quotes a key")
  func changedOctets() {
    let bytes = Array(Bonds.full().json.text.utf8)
    let secret = String(Bonds.secret.digits.prefix(8))
    let values: [UInt8] = [0x00, 0x22, 0x2C, 0x39, 0x7D, 0xFF]
    for index in stride(from: 0, to: bytes.count, by: 5) {
      var changed = bytes
      changed[index] = values[index / 5 % values.count]
      do throws(BondDecodingError) { _ = try BondRecord(jsonText: changed) } catch {
        #expect(!"\(error)".contains(secret))
      }
    }
  }

  @Test("No description of a record, of an adapter's secrets or of a store's contents contains a key")
  func descriptions() {
    let record = Bonds.full()
    let secrets = AdapterSecrets(identity: nil, identityKey: Bonds.secret)
    var texts: [String] = []
    for value in [record, record.bond, secrets, StoredBonds(records: [record]), [record]] as [Any] {
      var dumped = ""
      dump(value, to: &dumped)
      texts += ["\(value)", String(reflecting: value), dumped]
    }
    let halves = [Bonds.secret.high, Bonds.secret.low]
    for text in texts {
      for half in halves { #expect(!text.contains("\(half)") && !text.contains(half.hexadecimal), "\(text)") }
    }
    #expect("\(record)".contains("C0:11:22:33:44:55"))
  }

  @Test("An adapter's secrets survive a round trip, and a key of zeros counts as no key")
  func secrets() throws {
    let secrets = AdapterSecrets(identity: Bonds.address, identityKey: Bonds.secret)
    #expect(try AdapterSecrets(jsonText: Array(secrets.json.text.utf8)) == secrets)
    let publicly = AdapterSecrets(identity: nil, identityKey: Bonds.secret)
    #expect(try AdapterSecrets(jsonText: Array(publicly.json.text.utf8)) == publicly)
    let zero = AdapterSecrets(identity: nil, identityKey: .zero)
    #expect(throws: BondDecodingError.self) { try AdapterSecrets(jsonText: Array(zero.json.text.utf8)) }
  }

  @Test("Secrets are generated: a static address if there is no public one, and a key that is not zero")
  func drawnSecrets() {
    var generator = RandomStream(seed: 1)
    let one = AdapterSecrets.make(needsAddress: true, using: &generator)
    let other = AdapterSecrets.make(needsAddress: false, using: &generator)
    #expect(one.identity?.randomKind == .static)
    #expect(other.identity == nil)
    #expect(one.identityKey != other.identityKey)
  }
}
