import BluetoothCrypto
import BluetoothHost
import BluetoothWire
import TestSupport
import Testing

@testable import BluetoothBonds
@testable import BluetoothDaemon

/// Files in the layout that versions before `Codable` have written: fields in a fixed order, short objects on one line.
/// Every such file must stay readable.
@Suite("Files of bonds that earlier versions have written")
struct EarlierFileTests {
  static let full = #"""
    {
      "format": 1,
      "identity": "C0:11:22:33:44:55",
      "identityType": "random",
      "identifier": "01234567-89AB-4DEF-8123-456789ABCDEF",
      "name": "Zoë's \"strap\"\n\\ 😀",
      "number": 3,
      "pairedAt": 1700000000,
      "confirmed": false,
      "privacyMode": "device",
      "connectionParameters": {
        "minimumInterval": 24,
        "maximumInterval": 40,
        "latency": 4,
        "supervisionTimeout": 600
      },
      "keys": {
        "secureConnections": {"key": "DEADBEEF0BADCAFEFEEDFACE8BADF00D", "size": 16, "authenticated": true},
        "own": {"key": "00000000000000000000000000112233", "size": 7, "authenticated": false, "ediv": "ABCD", "rand": "FFFFFFFF00000001"},
        "peer": {"key": "DEADBEEF0BADCAFEFEEDFACE8BADF00D", "size": 16, "authenticated": true, "ediv": "0001", "rand": "0000000000000002"},
        "peerIdentity": "DEADBEEF0BADCAFEFEEDFACE8BADF00D",
        "verifies": {"key": "DEADBEEF0BADCAFEFEEDFACE8BADF00D", "nextCounter": 4294967295},
        "signs": {"key": "DEADBEEF0BADCAFEFEEDFACE8BADF00D"}
      },
      "client": {
        "subscriptions": [
          {"handle": 3, "bits": 2},
          {"handle": 22, "bits": 1}
        ],
        "features": 1,
        "isChangeAware": false,
        "change": {"first": 20, "last": 65535},
        "databaseHash": "010203"
      },
      "cache": {
        "databaseHash": "A5A5A5A5A5A5A5A5A5A5A5A5A5A5A5A5",
        "serviceChanged": 3,
        "serviceChangedConfiguration": 4,
        "databaseHashHandle": 6,
        "discoveries": [
          {
            "kind": "characteristics",
            "in": {"first": 20, "last": 30},
            "found": [
              {"handle": 21, "value": 22, "properties": 18, "uuid": "2A37"}
            ]
          },
          {
            "kind": "characteristics",
            "in": {"first": 31, "last": 65535},
            "found": []
          },
          {
            "kind": "descriptors",
            "in": {"first": 23, "last": 30},
            "found": [
              {"handle": 23, "uuid": "2902"}
            ]
          },
          {
            "kind": "includedServices",
            "in": {"first": 31, "last": 40},
            "found": [
              {
                "handle": 32,
                "service": {"first": 20, "last": 30, "uuid": "180D"}
              }
            ]
          },
          {
            "kind": "primaryServices",
            "found": [
              {"first": 20, "last": 30, "uuid": "180D"},
              {"first": 31, "last": 65535, "uuid": "11223344-5566-7788-99AA-BBCCDDEEFF00"}
            ]
          }
        ]
      }
    }
    """#

  private static let bare = #"""
    {
      "format": 1,
      "identity": "00:00:00:00:00:01",
      "identityType": "public",
      "identifier": "01234567-89AB-4DEF-8123-456789ABCDEF",
      "privacyMode": "network",
      "keys": {}
    }
    """#

  private static let secrets = #"""
    {
      "format": 1,
      "identity": "C0:11:22:33:44:55",
      "identityType": "random",
      "identityKey": "DEADBEEF0BADCAFEFEEDFACE8BADF00D"
    }
    """#

  private static let apps = #"""
    {
      "format": 1,
      "apps": {
        "org.example.heart-rate": true,
        "two \"of\" them/\n": false,
        "Zoë": true
      }
    }
    """#

  private static func read(_ text: String) throws(BondDecodingError) -> BondRecord {
    try BondRecord(jsonText: Array(text.utf8))
  }

  /// The record in `full`: that of the other tests, and the two members that it has only if they differ from the
  /// default.
  static func fullRecord() -> BondRecord {
    var record = Bonds.full()
    record.number = 3
    record.isConfirmed = false
    return record
  }

  @Test("A file with every field gives the record with every field")
  func everyField() throws {
    let record = try Self.read(Self.full)
    #expect(record == Self.fullRecord())
    // The details that equality with a helper of this module could hide.
    #expect(record.name == "Zoë's \"strap\"\n\\ \u{1F600}")
    #expect(record.bond.ownKey?.size == 7 && record.bond.ownKey?.diversifier == 0xABCD)
    #expect(record.bond.ownKey?.random == 0xFFFF_FFFF_0000_0001)
    #expect(record.bond.key?.isSecureConnections == true && record.bond.peerKey?.isSecureConnections == false)
    #expect(record.bond.signatureVerifier?.nextCounter == .max)
    #expect(record.bond.signatureMaker?.nextCounter == nil && record.bond.signatureMaker?.key == Bonds.secret)
    #expect(record.clientRecord?.change == 20...0xFFFF && record.clientRecord?.databaseHash == [1, 2, 3])
    #expect(record.cache?.responses.count == 5 && record.cache?.attributes.databaseHash == 6)
  }

  @Test("A file without optional fields gives their defaults")
  func requiredFields() throws {
    let record = try Self.read(Self.bare)
    #expect(record == BondRecord(HostBond(identity: DeviceAddress(1, .public)), identifier: Bonds.identifier))
    #expect(record.isConfirmed && record.number == 0 && record.privacyMode == .network && record.name == nil)
    // Files from before the members "keys" and "privacyMode", and null in place of a value.
    let short = #"{"format":1,"identity":"00:00:00:00:00:01","identityType":"public","#
    let identifier = #""identifier":"01234567-89ab-4def-8123-456789abcdef""#
    #expect(try Self.read(short + identifier + "}") == record)
    #expect(
      try Self.read(short + identifier + #","keys":null,"name":null,"number":null,"confirmed":null,"cache":null}"#)
        == record)
  }

  @Test("Unknown fields at any depth are ignored")
  func unknownFields() throws {
    let nested = #""later": [{"deep": [1.5, null, "\u00e9"]}], "#
    let places = [
      #""format""#, #""minimumInterval""#, #""size": 7"#, #""verifies""#, #""bits": 2"#, #""uuid": "2A37""#,
    ]
    for place in places {
      #expect(Self.full.contains(place))
      #expect(try Self.read(Self.full.replacing(place, with: nested + place)) == Self.fullRecord())
    }
  }

  @Test("The secrets of an adapter, with and without an address")
  func adapterSecrets() throws {
    #expect(
      try AdapterSecrets(jsonText: Array(Self.secrets.utf8))
        == AdapterSecrets(identity: Bonds.address, identityKey: Bonds.secret))
    let withoutAddress = Self.secrets.split(separator: "\n").filter {
      !$0.contains(#""identity""#) && !$0.contains(#""identityType""#)
    }
    #expect(withoutAddress.count == 4)
    #expect(
      try AdapterSecrets(jsonText: Array(withoutAddress.joined(separator: "\n").utf8))
        == AdapterSecrets(identity: nil, identityKey: Bonds.secret))
  }

  @Test("A store reads its files: a bond, the adapter's secrets and the permissions of apps")
  func store() throws {
    let folder = try TemporaryFolder()
    let store = folder.store()
    try store.save(Bonds.simple())
    try folder.write(Self.full, "C0-11-22-33-44-55.random.json")
    try folder.write(Self.bare, "00-00-00-00-00-01.public.json")
    try folder.write(Self.secrets, FileBondStore.secretsName)
    try folder.write(Self.apps, FileBondStore.appsName)
    #expect(try store.load() == StoredBonds(records: [Self.read(Self.bare), Self.fullRecord()]))
    #expect(
      try store.secrets { AdapterSecrets(identity: nil, identityKey: .zero) }
        == AdapterSecrets(identity: Bonds.address, identityKey: Bonds.secret))
    #expect(try store.access(of: "org.example.heart-rate") == true)
    #expect(try store.access(of: "two \"of\" them/\n") == false)
    #expect(try store.access(of: "Zoë") == true)
    try store.setAccess(false, of: "Zoë")
    #expect(try store.access(of: "org.example.heart-rate") == true)
    #expect(try store.access(of: "Zoë") == false)
  }
}
