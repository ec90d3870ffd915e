import BluetoothCrypto
import BluetoothHost
import BluetoothWire
import Testing

@testable import BluetoothBonds
@testable import BluetoothDaemon

@Suite("Bonds in BlueZ's format")
struct BlueZTests {
  private static let folder = "C0:11:22:33:44:55"

  private static func read(_ text: String, _ address: String = folder) throws(BlueZError) -> BondRecord {
    try BondRecord(bluezInfo: text, address: address, identifier: Bonds.identifier)
  }

  private static func block(_ digits: String) throws -> Block { try #require(Block(digits: digits)) }

  /// Returns a file with one key of LE Secure Connections and the lines that a test adds to it.
  private static func info(
    _ more: String = "", type: String = "static", authenticated: Int = 2, size: Int = 16, key: String? = nil
  ) -> String {
    """
    [General]
    Name=device
    AddressType=\(type)

    [PeripheralLongTermKey]
    Key=\(key ?? "000102030405060708090A0B0C0D0E0F")
    Authenticated=\(authenticated)
    EncSize=\(size)
    EDiv=0
    Rand=0
    \(more)
    """
  }

  // MARK: Real files

  @Test("A mouse's published file (LE legacy pairing, 2017) is parsed")
  func mouse() throws {
    let record = try Self.read(
      """
      [General]
      Name=Designer Mouse
      Appearance=0x03c2
      AddressType=static
      SupportedTechnologies=LE;
      Trusted=true
      Blocked=false
      Services=00001800-0000-1000-8000-00805f9b34fb;00001812-0000-1000-8000-00805f9b34fb;

      [IdentityResolvingKey]
      Key=D8F3A0A146FEB991BF2ECD9756C8BDFA

      [LocalSignatureKey]
      Key=23AB7AF05C5AC930F9322CF44114856B
      Counter=0
      Authenticated=false

      [LongTermKey]
      Key=D2681BEA8B2C177B1AB8786F22C89DBB
      Authenticated=0
      EncSize=16
      EDiv=48309
      Rand=10283782112900107958

      [DeviceID]
      Source=2
      Vendor=1118

      [ConnectionParameters]
      MinInterval=6
      MaxInterval=6
      Latency=60
      Timeout=300
      """)
    var bond = HostBond(identity: Bonds.address)
    bond.peerKey = LongTermKey(
      try Self.block("BB9DC8226F78B81A7B172C8BEA1B68D2"), diversifier: 48_309, random: 10_283_782_112_900_107_958,
      isAuthenticated: false, isSecureConnections: false)
    bond.peerIdentityKey = try Self.block("FABDC85697CD2EBF91B9FE46A1A0F3D8")
    bond.signatureMaker = Signer(key: try Self.block("6B851441F42C32F930C95A5CF07AAB23"), nextCounter: 0)
    var expected = BondRecord(bond, identifier: Bonds.identifier, name: "Designer Mouse")
    expected.connectionParameters = LinkParameters(
      minimumInterval: 6, maximumInterval: 6, latency: 60, supervisionTimeout: 300)
    #expect(record == expected)
  }

  @Test("The octet order matches that of the Windows registry: a published pair of both gives the same key")
  func windows() throws {
    // From a tutorial of 2014: "LTK"=hex:6c,54,…, "ERand"=hex(b):1e,12,aa,37,39,cc,af,34, "EDIV"=dword:00003549.
    let random: [UInt8] = [0x1E, 0x12, 0xAA, 0x37, 0x39, 0xCC, 0xAF, 0x34]
    let number = random.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    let text = """
      [General]
      AddressType=static
      [LongTermKey]
      Key=6C54EE8040476CCBFC8EF3F1C6B2049E
      Authenticated=0
      EncSize=16
      EDiv=13641
      Rand=\(number)
      """
    let key = try #require(try Self.read(text).bond.peerKey)
    #expect(key.value.bytes.reversed().prefix(4).elementsEqual([0x6C, 0x54, 0xEE, 0x80]))
    #expect(key.diversifier == 0x3549)
    // The BlueZ 4 format: octets.
    let old = text.replacing("Rand=\(number)", with: "Rand=0x1E12AA3739CCAF34").replacing("Key=", with: "Key=0x")
    #expect(try Self.read(old).bond.peerKey == key)
    #expect(key.random == number)
  }

  @Test("An Identity Resolving Key is stored in the reverse of the Core Specification's order (Vol 3, Part H, D.7)")
  func identityKeyOrder() throws {
    let record = try Self.read(Self.info("[IdentityResolvingKey]\nKey=9B7D390AA610103405ADC857A33402EC"))
    let key = try #require(record.bond.peerIdentityKey)
    #expect(key.digits == "EC0234A357C8AD05341010A60A397D9B")
    #expect(Toolbox.ah(irk: key, prand: 0x708194) == 0x0DFBAA)
  }

  @Test("A key of LE Secure Connections is stored as the peripheral's, under its newer and its older name")
  func secureConnections() throws {
    let text = Self.info()
    let bond = try Self.read(text).bond
    let key = LongTermKey(
      try Self.block("0F0E0D0C0B0A09080706050403020100"), isAuthenticated: false, isSecureConnections: true)
    #expect(bond.key == key)
    #expect(bond.ownKey == nil && bond.peerKey == nil)
    let old = text.replacing("Peripheral", with: "Slave")
    #expect(try Self.read(old).bond == bond)
    let both = text + "\n" + old.replacing("0001020304", with: "FF01020304")
    #expect(try Self.read(both).bond == bond)
  }

  @Test("The distributed and the received key are distinguished, even in files before 5.63")
  func roles() throws {
    let own = Self.info(authenticated: 1)
    #expect(try Self.read(own).bond.ownKey?.isAuthenticated == true)
    #expect(try Self.read(own).bond.peerKey == nil)
    let peers = own.replacing("PeripheralLongTermKey", with: "LongTermKey")
    #expect(try Self.read(peers).bond.peerKey != nil)
    #expect(try Self.read(peers).bond.ownKey == nil)
    for (value, isPeers) in [("0", false), ("false", false), ("1", true), ("true", true)] {
      let old = peers.replacing("EDiv=0", with: "EDiv=0\nMaster=\(value)")
      #expect(try (Self.read(old).bond.peerKey != nil) == isPeers)
      #expect(try (Self.read(old).bond.ownKey == nil) == isPeers)
    }
  }

  // MARK: Fields

  @Test(
    "The field Authenticated gives the method by which the key was made",
    arguments: [(0, false, false), (1, true, false), (2, false, true), (3, true, true)])
  func authenticated(value: Int, isAuthenticated: Bool, isSecureConnections: Bool) throws {
    let bond = try Self.read(Self.info(authenticated: value)).bond
    let key = try #require(bond.key ?? bond.ownKey)
    #expect(key.isAuthenticated == isAuthenticated)
    #expect(key.isSecureConnections == isSecureConnections)
    #expect(BondRecord(bond, identifier: Bonds.identifier).bluezInfo.contains("Authenticated=\(value)\n"))
  }

  @Test("A key made with the debug key is refused because the debug key is public")
  func debugKey() { #expect(throws: BlueZError.debugKey) { try Self.read(Self.info(authenticated: 4)) } }

  @Test("A shorter key consists of the least significant octets")
  func shortKey() throws {
    let bond = try Self.read(Self.info(authenticated: 0, size: 7)).bond
    #expect(bond.ownKey?.value.digits == "00000000000000000006050403020100")
    #expect(bond.ownKey?.size == 7)
  }

  @Test("Address types are distinguished; an address that is no identity, or a file without LE, gives no bond")
  func addresses() throws {
    #expect(try Self.read(Self.info(type: "public"), "00:11:22:33:44:55").identity.kind == .public)
    #expect(try Self.read(Self.info()).identity == Bonds.address)
    for address in ["40:11:22:33:44:55", "00:11:22:33:44:55", "device", ""] {
      #expect(throws: BlueZError.notAnIdentity) { try Self.read(Self.info(), address) }
    }
    let classic = "[General]\nName=x\nSupportedTechnologies=BR/EDR;\n[LinkKey]\nKey=00\n"
    #expect(throws: BlueZError.notLowEnergy) { try Self.read(classic) }
    #expect(throws: BlueZError.noKey) { try Self.read("[General]\nAddressType=public\n") }
  }

  @Test(
    "Counters are signed numbers; BlueZ stores the last accepted one, which is one less than the next",
    arguments: [
      ("0", 0, 0), ("1", 1, 2), ("41", 41, 42), ("2147483647", 0x7FFF_FFFF, 0x8000_0000),
      ("-2147483648", 0x8000_0000, 0x8000_0001), ("-1", 0xFFFF_FFFF, nil),
    ] as [(String, UInt32, UInt32?)])
  func counters(text: String, number: UInt32, next: UInt32?) throws {
    let key = "Key=000102030405060708090A0B0C0D0E0F\nCounter=\(text)\nAuthenticated=false"
    let bond = try Self.read(Self.info("[LocalSignatureKey]\n\(key)\n[RemoteSignatureKey]\n\(key)")).bond
    #expect(bond.signatureMaker?.nextCounter == number)
    #expect(bond.signatureVerifier?.nextCounter == next)
    let written = try KeyFile(BondRecord(bond, identifier: Bonds.identifier).bluezInfo)
    #expect(written["LocalSignatureKey", "Counter"] == text)
    #expect(written["RemoteSignatureKey", "Counter"] == text)
  }

  @Test("An Identity Resolving Key of zeros counts as no key")
  func zeroIdentityKey() throws {
    let zeros = String(repeating: "0", count: 32)
    #expect(try Self.read(Self.info("[IdentityResolvingKey]\nKey=\(zeros)")).bond.peerIdentityKey == nil)
  }

  @Test(
    "A value that BlueZ does not write is refused with an error that names the field but not the value",
    arguments: [
      ("EncSize=16", "EncSize=6", "EncSize"), ("EncSize=16", "EncSize=17", "EncSize"), ("EncSize=16", "", "EncSize"),
      ("Authenticated=2", "Authenticated=5", "Authenticated"), ("Key=0001", "Key=01", "Key"),
      ("Key=0001", "Key=0001FF", "Key"), ("Key=0001", "Key=00G1", "Key"), ("Key=0001", "#Key=0001", "Key"),
    ])
  func refusedValues(old: String, new: String, key: String) {
    #expect(throws: BlueZError.value(group: "PeripheralLongTermKey", key: key)) {
      try Self.read(Self.info().replacing(old, with: new))
    }
  }

  @Test("A line that is neither a group nor a value is refused with its number; a truncated file causes no trap")
  func malformed() {
    for text in ["[General", "[]", "Name=x", "=x", "[General]\nName"] {
      #expect(throws: BlueZError.self) { try KeyFile(text) }
    }
    #expect(throws: BlueZError.malformed(line: 3)) { try KeyFile("[General]\nName=x\nnonsense\n") }
    let text = Bonds.full().bluezInfo
    for count in 0..<text.count { _ = try? Self.read(String(text.prefix(count))) }
  }

  // MARK: Writing

  @Test("A round trip keeps the keys of both roles of LE legacy pairing and all other fields that BlueZ stores")
  func legacyRoundTrip() throws {
    var record = Bonds.full()
    record.bond.key = nil
    record.bond.signatureMaker = Signer(key: Bonds.secret, nextCounter: 17)
    record.pairedAt = nil
    record.privacyMode = .network
    record.clientRecord = nil
    let services = try #require(record.cache)
    record.cache = nil
    #expect(try Self.read(record.bluezInfo, record.bluezFolder) == record)
    record.cache = services
    let list = "0000180d-0000-1000-8000-00805f9b34fb;11223344-5566-7788-99aa-bbccddeeff00;"
    #expect(record.bluezInfo.contains("Services=\(list)\n"))
  }

  @Test("A bond of LE Secure Connections is written under both names, and a round trip keeps it")
  func secureConnectionsRoundTrip() throws {
    let record = Bonds.simple(name: "strap")
    #expect(try Self.read(record.bluezInfo, record.bluezFolder) == record)
    let key = """
      Key=02000000000000000100000000000000
      Authenticated=2
      EncSize=16
      EDiv=0
      Rand=0

      """
    #expect(
      record.bluezInfo == """
        [General]
        Name=strap
        AddressType=static
        SupportedTechnologies=LE;
        Trusted=false
        Blocked=false

        [PeripheralLongTermKey]
        \(key)
        [SlaveLongTermKey]
        \(key)
        """)
  }

  @Test(
    "A name can't add a line to the file",
    arguments: ["a\n[LongTermKey]\nKey=00", " lead", "back\\slash", "\t", "a=b;c"])
  func names(name: String) throws {
    let record = Bonds.simple(name: name)
    #expect(try Self.read(record.bluezInfo) == record)
    let lines = { (record: BondRecord) in record.bluezInfo.split(separator: "\n").count }
    #expect(lines(record) == lines(Bonds.simple(name: "x")))
  }

  @Test("Comments, blanks, carriage returns, other groups and translations are skipped; the last value applies")
  func keyFile() throws {
    let file = try KeyFile("# one\r\n\r\n[A]\r\n x = 1 \r\nx[de]=eins\n[B]\ny=2\n[A]\nx=3\nz=\\s\\n\\q\\\\\n")
    #expect(file["A", "x"] == "3")
    #expect(file["A", "x[de]"] == "eins")
    #expect(file["B", "y"] == "2")
    #expect(file["C", "y"] == nil)
    #expect(KeyFile.unescaped(try #require(file["A", "z"])) == " \n\\q\\")
  }
}
