import BluetoothCrypto
import BluetoothDaemon
import BluetoothHost
import BluetoothWire

/// The reason why a bond written by another program is not imported.
package enum BondImportError: Error, Hashable, Sendable {
  /// The bond has no key that could encrypt a link, or a key of zero.
  case noKey
  /// The address is neither a public nor a static random address, so no bond can belong to it · Vol 3, Part C, 15.1.1.
  case notAnIdentity(DeviceAddress)
  /// The name is too long, with this number of octets: the maximum is 248 · Vol 3, Part C, 12.1.
  case longName(octets: Int)
}

extension BondImportError: CustomStringConvertible {
  /// A description in one line.
  package var description: String {
    switch self {
    case .noKey: "the bond has no encryption key"
    case .notAnIdentity(let address): "\(address) is not an identity address"
    case .longName(let octets): "name too long: \(octets) octets, at most 248 are allowed"
    }
  }
}

extension BondRecord {
  /// Checks conditions that a store does not check: that a device with this identity can exist, and that the bond is
  /// usable.
  package func checkImport() throws(BondImportError) {
    let isUsed = identity.value != 0 && identity.value != 0xFFFF_FFFF_FFFF
    guard isUsed, identity.isIdentity, identity.hasValidRandomPart else { throw .notAnIdentity(identity) }
    let keys = [bond.key, bond.ownKey, bond.peerKey].compactMap(\.self)
    guard !keys.isEmpty, keys.allSatisfy({ $0.value != .zero }) else { throw .noKey }
    if let count = name?.utf8.count, count > 248 { throw .longName(octets: count) }
  }
}
