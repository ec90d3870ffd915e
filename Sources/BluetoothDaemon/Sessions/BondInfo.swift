import BluetoothHost

/// The properties of the bond with a peer: the lowest of its keys, and the permission of the user.
package struct BondInfo: Hashable, Sendable {
  /// True if the keys are those of LE Secure Connections.
  package let isSecureConnections: Bool
  /// True if the keys were generated with protection against a man in the middle.
  package let isAuthenticated: Bool
  /// The length of the keys in octets, 7 to 16.
  package let keySize: Int
  /// True if the user lets the peer get the notifications of the system.
  package let getsNotifications: Bool

  package init(isSecureConnections: Bool, isAuthenticated: Bool, keySize: Int, getsNotifications: Bool = false) {
    self.getsNotifications = getsNotifications
    self.isSecureConnections = isSecureConnections
    self.isAuthenticated = isAuthenticated
    self.keySize = keySize
  }

  /// Creates the properties of a bond; nil: it has no key for encryption.
  init?(_ bond: HostBond, getsNotifications: Bool = false) {
    self.getsNotifications = getsNotifications
    let keys = [bond.key, bond.ownKey, bond.peerKey].compactMap { $0 }
    guard let size = keys.map(\.size).min() else { return nil }
    isSecureConnections = keys.allSatisfy(\.isSecureConnections)
    isAuthenticated = keys.allSatisfy(\.isAuthenticated)
    keySize = Int(size)
  }
}
