import BluetoothCrypto
import BluetoothDaemon
import BluetoothHost
import BluetoothWire

/// Why a bond that somebody else has written is not taken in.
package enum BondImportError: Error, Hashable, Sendable {
  /// There is no key with which a link could be encrypted, or it is zero.
  case noKey
  /// The address is neither a public nor a static one: no bond can be under it · Vol 3, Part C, 15.1.1.
  case notAnIdentity(DeviceAddress)
  /// The name has that many octets: at most 248 are allowed · Vol 3, Part C, 12.1.
  case longName(octets: Int)
}

extension BondImportError: CustomStringConvertible {
  /// One line.
  package var description: String {
    switch self {
    case .noKey: "the bond has no key with which a link could be encrypted"
    case .notAnIdentity(let address): "\(address) is no identity address: there is no bond under it"
    case .longName(let octets): "the name has \(octets) octets; a device name has at most 248"
    }
  }
}

extension BondRecord {
  /// Checks what a store does not: that the bond is one of a device that can exist, and that it is of use.
  package func checkImport() throws(BondImportError) {
    let isUsed = identity.value != 0 && identity.value != 0xFFFF_FFFF_FFFF
    guard isUsed, identity.isIdentity, identity.hasValidRandomPart else { throw .notAnIdentity(identity) }
    let keys = [bond.key, bond.ownKey, bond.peerKey].compactMap(\.self)
    guard !keys.isEmpty, keys.allSatisfy({ $0.value != .zero }) else { throw .noKey }
    if let count = name?.utf8.count, count > 248 { throw .longName(octets: count) }
  }
}
