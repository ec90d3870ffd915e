import BluetoothCrypto
import BluetoothHost
import BluetoothWire
import Foundation
import TestSupport
import Testing

@testable import BluetoothBonds
@testable import BluetoothDaemon

/// Bonds for tests.
enum Bonds {
  static let address = DeviceAddress(0xC0_11_22_33_44_55, .random)
  static let identifier = PeerIdentifier(high: 0x0123_4567_89AB_4DEF, low: 0x8123_4567_89AB_CDEF)
  /// A value that occurs nowhere else in a record.
  static let secret = Block(high: 0xDEAD_BEEF_0BAD_CAFE, low: 0xFEED_FACE_8BAD_F00D)

  /// Returns a bond with only a key of LE Secure Connections.
  static func simple(_ address: DeviceAddress = address, name: String? = nil, number: Int64 = 0) -> BondRecord {
    var bond = HostBond(identity: address)
    bond.key = LongTermKey(Block(high: 1, low: 2), isAuthenticated: false, isSecureConnections: true)
    var record = BondRecord(bond, identifier: identifier, name: name)
    record.number = number
    return record
  }

  /// Returns a bond in which every field has a value.
  static func full() -> BondRecord {
    var bond = HostBond(identity: address)
    bond.key = LongTermKey(secret, isAuthenticated: true, isSecureConnections: true)
    bond.ownKey = LongTermKey(
      Block(high: 0, low: 0x11_2233), diversifier: 0xABCD, random: 0xFFFF_FFFF_0000_0001, size: 7,
      isAuthenticated: false, isSecureConnections: false)
    bond.peerKey = LongTermKey(
      secret, diversifier: 1, random: 2, isAuthenticated: true, isSecureConnections: false)
    bond.peerIdentityKey = secret
    bond.signatureVerifier = SignatureVerifier(key: secret, nextCounter: .max)
    bond.signatureMaker = Signer(key: secret, nextCounter: nil)
    var record = BondRecord(bond, identifier: identifier, name: "Zoë's \"strap\"\n\\ \u{1F600}")
    record.pairedAt = 1_700_000_000
    record.privacyMode = .device
    record.connectionParameters = LinkParameters(
      minimumInterval: 24, maximumInterval: 40, latency: 4, supervisionTimeout: 600)
    record.clientRecord = GATTClientRecord(
      subscriptions: [.init(handle: 3, bits: 2), .init(handle: 22, bits: 1)], features: 1, isChangeAware: false,
      change: 20...0xFFFF, databaseHash: [1, 2, 3])
    record.cache = cache()
    return record
  }

  static func cache() -> GATTCache {
    var attributes = GATTServiceAttributes()
    attributes.serviceChanged = 3
    attributes.configuration = 4
    attributes.databaseHash = 6
    var cache = GATTCache(hash: ByteSlice([UInt8](repeating: 0xA5, count: 16)), attributes: attributes)
    let service = GATTService(range: 20...30, uuid: 0x180D)
    let own = BluetoothUUID(high: 0x1122_3344_5566_7788, low: 0x99AA_BBCC_DDEE_FF00)
    cache.add(.services([service, GATTService(range: 31...0xFFFF, uuid: own)]), to: .primaryServices)
    cache.add(.includedServices([GATTInclude(declaration: 32, service: service)]), to: .includedServices(in: 31...40))
    cache.add(
      .characteristics([GATTCharacteristic(declaration: 21, value: 22, properties: [.notify, .read], uuid: 0x2A37)]),
      to: .characteristics(in: 20...30))
    cache.add(.characteristics([]), to: .characteristics(in: 31...0xFFFF))
    cache.add(.descriptors([GATTDescriptor(handle: 23, uuid: 0x2902)]), to: .descriptors(in: 23...30))
    return cache
  }
}

/// A folder with the bonds of an adapter.
extension TemporaryFolder {
  func store(limit: Int = 64) -> FileBondStore { FileBondStore(folder: path + "/bonds", adapter: "hci", limit: limit) }

  /// The store's folder.
  var adapter: String { path + "/bonds/hci" }

  func mode(_ name: String = "") throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: adapter + "/" + name)
    return try #require(attributes[.posixPermissions] as? Int)
  }

  func setMode(_ mode: Int, _ name: String = "") throws {
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: adapter + "/" + name)
  }

  /// Sets the modification date of the store's folder.
  func setModificationDate(_ date: Date) throws {
    try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: adapter)
  }

  /// The names of the files in the store's folder, sorted.
  var bondFiles: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: adapter)) ?? []).sorted() }

  func text(_ name: String) throws -> String { try String(contentsOfFile: adapter + "/" + name, encoding: .utf8) }

  func write(_ text: String, _ name: String) throws {
    try text.write(toFile: adapter + "/" + name, atomically: false, encoding: .utf8)
    try setMode(0o600, name)
  }
}
