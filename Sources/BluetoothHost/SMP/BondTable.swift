import BluetoothCrypto
import BluetoothWire

/// The bonds of a host, and whose an address is.
struct BondTable {
  private struct Entry {
    var bond: Bond
    /// Ready for use; nil: the peer has no private addresses.
    var key: IdentityResolvingKey?

    init(_ bond: Bond) {
      self.bond = bond
      key = bond.peerIdentityKey.flatMap(IdentityResolvingKey.init)
    }
  }

  /// In the order in which they were made: of two keys that resolve one address the older bond's counts.
  private var entries: [Entry] = []

  var all: [Bond] {
    get { entries.map(\.bond) }
    set {
      entries.removeAll()
      for bond in newValue { keep(bond) }
    }
  }

  /// By identity.
  subscript(identity: DeviceAddress) -> Bond? { entries.first { $0.bond.identity == identity }?.bond }

  /// Whose address that is: an identity, or a private address made with the key of one · Vol 3, Part C, 10.8.2.3.
  func bond(of address: DeviceAddress) -> Bond? {
    if let bond = self[address] { return bond }
    guard address.randomKind == .resolvablePrivate else { return nil }
    return entries.first { $0.key?.resolves(address.value) == true }?.bond
  }

  /// Takes the place of the one with the same identity.
  mutating func keep(_ bond: Bond) {
    if let index = entries.firstIndex(where: { $0.bond.identity == bond.identity }) {
      entries[index] = Entry(bond)
    } else {
      entries.append(Entry(bond))
    }
  }

  /// The bond that was there.
  mutating func remove(_ identity: DeviceAddress) -> Bond? {
    guard let index = entries.firstIndex(where: { $0.bond.identity == identity }) else { return nil }
    return entries.remove(at: index).bond
  }

  /// What the controller's resolving list is to hold, if `localKey` is what this device's private addresses are made with.
  func identities(localKey: UInt128) -> [HostIdentity] {
    entries.compactMap { entry in
      guard let key = entry.bond.peerIdentityKey, key != .zero else { return nil }
      return HostIdentity(
        address: entry.bond.identity, peerKey: UInt128(key.high) << 64 | UInt128(key.low), localKey: localKey,
        // Before both sides know of the bond, and where one has lost it, the identity address is in use.
        isDevicePrivacy: true)
    }
  }
}
