import BluetoothCrypto
import BluetoothHost
import BluetoothWire
import Foundation
import Testing

@testable import BluetoothBonds
@testable import BluetoothDaemon

@Suite("Bonds as JSON")
struct BondCodingTests {
  private static func read(_ text: String) throws(BondDecodingError) -> BondRecord {
    try BondRecord(jsonText: Array(text.utf8))
  }

  /// Returns the text of a full record with `old` replaced by `new`.
  private static func changed(_ old: String, _ new: String) -> String {
    let text = EarlierFileTests.full
    #expect(text.contains(old))
    return text.replacing(old, with: new)
  }

  /// Returns the reason why a text is refused.
  private static func refusal(_ text: some Sequence<UInt8>) -> String? {
    do throws(BondDecodingError) { _ = try BondRecord(jsonText: Array(text)) } catch {
      if case .malformed(let reason) = error { return reason }
    }
    return nil
  }

  @Test("All fields of a record survive a round trip")
  func roundTrip() throws {
    #expect(try Self.read(Bonds.full().jsonText) == Bonds.full())
    #expect(try Self.read(Bonds.simple().jsonText) == Bonds.simple())
    let bare = BondRecord(HostBond(identity: DeviceAddress(1, .public)), identifier: Bonds.identifier)
    #expect(try Self.read(bare.jsonText) == bare)
  }

  @Test("The record stores that no user has confirmed the bond")
  func unconfirmed() throws {
    var record = Bonds.simple()
    record.isConfirmed = false
    #expect(try Self.read(record.jsonText) == record)
    #expect(try Self.read(Bonds.simple().jsonText).isConfirmed)
  }

  @Test(
    "The record stores the user whose app has requested the bond",
    arguments: [nil, ClientUser(0), ClientUser(.max), ClientUser.unknown])
  func requester(user: ClientUser?) throws {
    var record = Bonds.simple()
    record.requester = user
    #expect(try Self.read(record.jsonText).requester == user)
  }

  @Test("The same record always gives the same text")
  func sameText() { for _ in 0..<8 { #expect(Bonds.full().jsonText == Bonds.full().jsonText) } }

  @Test("A bond gives this text, with sorted fields")
  func text() {
    var record = Bonds.simple(name: "strap/\"é\"\n")
    record.pairedAt = 1_700_000_000
    record.clientRecord = GATTClientRecord()
    #expect(
      record.jsonText == #"""
        {
          "client" : {
            "databaseHash" : "",
            "features" : 0,
            "isChangeAware" : true,
            "subscriptions" : [

            ]
          },
          "format" : 1,
          "identifier" : "01234567-89AB-4DEF-8123-456789ABCDEF",
          "identity" : "C0:11:22:33:44:55",
          "identityType" : "random",
          "keys" : {
            "secureConnections" : {
              "authenticated" : false,
              "key" : "00000000000000010000000000000002",
              "size" : 16
            }
          },
          "name" : "strap/\"é\"\n",
          "pairedAt" : 1700000000,
          "privacyMode" : "network"
        }

        """#)
  }

  @Test("A full record has the fields and values of the earlier format")
  func sameFields() throws {
    let earlier = try JSONSerialization.jsonObject(with: Data(EarlierFileTests.full.utf8)) as? NSDictionary
    let text = EarlierFileTests.fullRecord().jsonText
    #expect(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? NSDictionary == earlier)
    #expect(earlier?.count == 13)
  }

  @Test("A record of a later format is distinguished from a broken one")
  func laterFormat() {
    #expect(throws: BondDecodingError.laterFormat(2)) { try Self.read(Self.changed(#""format": 1"#, #""format": 2"#)) }
  }

  @Test(
    "An invalid value is refused, and the error has the path of the field",
    arguments: [
      (#""format": 1"#, #""format": 0"#, "format: expected a whole number from 1"),
      (#""format": 1"#, #""format": "1""#, "format: expected a whole number"),
      (#""format": 1,"#, "", "format: missing"),
      (#""format": 1"#, #""format": null"#, "format: expected a whole number"),
      (#""format": 1"#, #""format": 01"#, "format: expected a whole number"),
      (#""found": []"#, #""found": null"#, "cache.discoveries[1].found: expected a list"),
      (#""identityType": "random""#, #""identityType": "static""#, "identityType: expected public or random"),
      ("C0:11:22:33:44:55", "C0:11:22:33:44", "identity: expected an address"),
      ("C0:11:22:33:44:55", "C0:11:22:33:44:5G", "identity: expected an address"),
      ("01234567-89AB-4DEF-8123-456789ABCDEF", "0123456789AB4DEF8123456789ABCDEF", "identifier: expected a UUID"),
      (#""name": "#, #""name": 1, "more": "#, "name: expected a string"),
      (#""confirmed": false"#, #""confirmed": "no""#, "confirmed: expected true or false"),
      (#""privacyMode": "device""#, #""privacyMode": "both""#, #"privacyMode: unknown value "both""#),
      (#""size": 7"#, #""size": 6"#, "keys.own.size: invalid key size: 6 octets"),
      (#""size": 7"#, #""size": 17"#, "keys.own.size: invalid key size: 17 octets"),
      (#""size": 7"#, #""size": 1700"#, "keys.own.size: expected a whole number from 0 to 255"),
      (#""latency": 4"#, #""latency": 70000"#, "connectionParameters.latency: expected a whole number from 0 to 65535"),
      (#""latency": 4"#, #""latency": -1"#, "connectionParameters.latency: expected a whole number from 0 to 65535"),
      (#""latency": 4"#, #""latency": 4.5"#, "connectionParameters.latency: expected a whole number from 0 to 65535"),
      (#""latency": 4"#, #""latency": 1e999"#, "connectionParameters.latency: expected a whole number from 0 to 65535"),
      (#""isChangeAware": false"#, #""isChangeAware": 0"#, "client.isChangeAware: expected true or false"),
      (#""handle": 22"#, #""handle": 0"#, "client.subscriptions[1].handle: expected a whole number from 1 to 65535"),
      (
        #""first": 20, "last": 65535"#, #""first": 20, "last": 19"#,
        "client.change.last: expected a whole number from 20 to 65535"
      ),
      (
        #""first": 20, "last": 65535"#, #""first": 0, "last": 19"#,
        "client.change.first: expected a whole number from 1 to 65535"
      ),
      (#""databaseHash": "010203""#, #""databaseHash": "01020""#, "client.databaseHash: expected hexadecimal octets"),
      (
        #""kind": "descriptors""#, #""kind": "secrets""#, #"cache.discoveries[2].kind: unknown value "secrets""#
      ),
      (#""in": {"first": 20,"#, #""on": {"first": 20,"#, "cache.discoveries[0].in: missing"),
      (#""uuid": "2A37""#, #""uuid": "2A377""#, "cache.discoveries[0].found[0].uuid: expected a UUID"),
      (#""found": []"#, #""found": {}"#, "cache.discoveries[1].found: expected a list"),
      (#""ediv": "ABCD""#, #""ediv": "ABC""#, "keys.own.ediv: expected 4 hexadecimal digits"),
      (#""ediv": "ABCD""#, #""ediv": "+BCD""#, "keys.own.ediv: expected 4 hexadecimal digits"),
      (#""ediv": "ABCD", "#, "", "keys.own.ediv: missing"),
      (#""keys": {"#, #""keys": [], "more": {"#, "keys: expected an object"),
    ])
  func refusedValues(old: String, new: String, reason: String) {
    let text = Self.refusal(Self.changed(old, new).utf8)
    #expect(text?.hasPrefix(reason) == true, "\(text ?? "accepted")")
  }

  @Test(
    "A text that is not a JSON object is refused",
    arguments: [
      ("", "the file is empty"), (" ", "not valid JSON"), ("nul", "not valid JSON"), ("{", "not valid JSON"),
      (#"{"format": 1 "a": 2}"#, "not valid JSON"),
      (#"{"format" 1}"#, "not valid JSON"), (#"{format: 1}"#, "not valid JSON"), ("{} {}", "not valid JSON"),
      (#"{"format": 1, "identity": "\x"}"#, "not valid JSON"), ("NaN", "not valid JSON"),
      (#"{"format": 1, "identity": "\ud800"}"#, "not valid JSON"),
      ("[]", "expected an object"), ("1", "expected an object"), ("null", "expected an object"),
      ("{}", "format: missing"),
    ])
  func refusedTexts(text: String, reason: String) { #expect(Self.refusal(text.utf8) == reason) }

  @Test("A name that is not UTF-8 is refused")
  func notUTF8() {
    let parts = EarlierFileTests.full.split(separator: "Zoë")
    for octets in [[0xC3], [0xED, 0xA0, 0x80], [0xFF]] as [[UInt8]] {
      #expect(Self.refusal(Array(parts[0].utf8) + octets + Array(parts[1].utf8)) == "not valid JSON")
    }
  }

  @Test("Nesting beyond the limit is refused, even in a field that is not read")
  func depth() {
    for (opening, closing) in [("[", "]"), (#"{"a":"#, "}")] {
      let nested = { (depth: Int) in
        Self.changed(
          #""format": 1"#,
          #""format": 1, "later": "#
            + String(repeating: opening, count: depth) + "1" + String(repeating: closing, count: depth))
      }
      #expect(Self.refusal(nested(32).utf8) == nil)
      #expect(Self.refusal(nested(1_000_000).utf8) == "not valid JSON")
    }
  }

  /// `JSONDecoder` reports neither. No version of this software has written such files, so they come from an editor,
  /// and the keys are kept.
  @Test("Of two fields with the same name the first counts, and a comma may follow the last field")
  func tolerated() throws {
    #expect(
      try Self.read(Self.changed(#""latency": 4"#, #""latency": 4, "latency": 5"#)) == EarlierFileTests.fullRecord())
    #expect(try Self.read(Self.changed(#""latency": 4"#, #""latency": 4.0"#)) == EarlierFileTests.fullRecord())
    #expect(
      try Self.read(Self.changed(#""size": 7,"#, #""size": 7, "authenticated": false,"#))
        == EarlierFileTests.fullRecord())
    #expect(try Self.read(Self.changed(#""last": 40}"#, #""last": 40,}"#)) == EarlierFileTests.fullRecord())
  }

  @Test("A key longer than its size is refused because the link would be encrypted with a different key")
  func longKey() {
    let text = Self.changed("00000000000000000000000000112233", "00000000000000000100000000112233")
    #expect(Self.refusal(text.utf8) == "keys.own.key: a key is longer than its size")
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
    let bytes = Array(Bonds.full().jsonText.utf8)
    // Each mark changes what is missing; truncation inside words and numbers repeats the same cases.
    let marks = bytes.indices.filter { Array("{}[],:\"\\".utf8).contains(bytes[$0]) }
    for count in marks where count < bytes.count - 2 {
      #expect(throws: BondDecodingError.self) { try BondRecord(jsonText: Array(bytes[..<count])) }
    }
  }

  @Test("Any changed octet gives a record or an error, and no error quotes a key")
  func changedOctets() {
    let bytes = Array(Bonds.full().jsonText.utf8)
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

  @Test("The kind of a device and the user's permission for notifications survive a round trip")
  func flags() throws {
    for (isInputDevice, getsNotifications) in [(true, nil), (false, true), (true, false)] as [(Bool, Bool?)] {
      var record = Bonds.full()
      record.isInputDevice = isInputDevice
      record.getsNotifications = getsNotifications
      #expect(try BondRecord(jsonText: Array(record.jsonText.utf8)) == record)
    }
  }

  @Test("An adapter's secrets survive a round trip, and a key of zeros counts as no key")
  func secrets() throws {
    let secrets = AdapterSecrets(identity: Bonds.address, identityKey: Bonds.secret)
    #expect(try AdapterSecrets(jsonText: Array(secrets.jsonText.utf8)) == secrets)
    let publicly = AdapterSecrets(identity: nil, identityKey: Bonds.secret)
    #expect(try AdapterSecrets(jsonText: Array(publicly.jsonText.utf8)) == publicly)
    var reset = secrets
    reset.identifierGeneration = 2
    #expect(try AdapterSecrets(jsonText: Array(reset.jsonText.utf8)) == reset)
    reset.isSwitchedOff = true
    #expect(try AdapterSecrets(jsonText: Array(reset.jsonText.utf8)) == reset)
    let zero = AdapterSecrets(identity: nil, identityKey: .zero)
    #expect(throws: BondDecodingError.self) { try AdapterSecrets(jsonText: Array(zero.jsonText.utf8)) }
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
