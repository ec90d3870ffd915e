import BluetoothCrypto
import BluetoothWire

/// The bonds of a host, with the resolution of their peers' private addresses.
struct BondTable {
  private struct Entry {
    var bond: HostBond
    /// The peer's Identity Resolving Key, prepared for use; nil: the peer has no private addresses.
    var key: IdentityResolvingKey?

    init(_ bond: HostBond) {
      self.bond = bond
      key = bond.peerIdentityKey.flatMap(IdentityResolvingKey.init)
    }
  }

  /// The bonds in the order of their creation: if two keys resolve one address, the older bond counts.
  private var entries: [Entry] = []
  private var resolver = AddressResolver()
  /// True if there is a key that can resolve addresses.
  private(set) var hasKeys = false

  var all: [HostBond] {
    get { entries.map(\.bond) }
    set {
      entries.removeAll()
      for bond in newValue { keep(bond) }
      keysChanged()
    }
  }

  /// The bond with this identity.
  subscript(identity: DeviceAddress) -> HostBond? { entries.first { $0.bond.identity == identity }?.bond }

  /// Returns the identity of the bonded peer that has generated this private address · Vol 3, Part C, 10.8.2.3; nil:
  /// no key resolves the address, or it is not a resolvable private address.
  mutating func owner(of address: DeviceAddress) -> DeviceAddress? {
    guard hasKeys, address.randomKind == .resolvablePrivate else { return nil }
    if let outcome = resolver[address.value] { return outcome }
    let owner = entries.first { $0.key?.resolves(address.value) == true }?.bond.identity
    resolver.remember(address.value, of: owner)
    return owner
  }

  /// Returns true if the bond with this device contains a key for private addresses.
  func hasKey(of identity: DeviceAddress) -> Bool {
    hasKeys && entries.contains { $0.bond.identity == identity && $0.key != nil }
  }

  private mutating func keysChanged() {
    resolver.removeAll()
    hasKeys = entries.contains { $0.key != nil }
  }

  /// Adds a bond, which replaces the one with the same identity.
  mutating func keep(_ bond: HostBond) {
    if let index = entries.firstIndex(where: { $0.bond.identity == bond.identity }) {
      let former = entries[index].bond.peerIdentityKey
      entries[index] = Entry(bond)
      // Usually only a counter has changed.
      if former == bond.peerIdentityKey { return }
    } else {
      entries.append(Entry(bond))
    }
    keysChanged()
  }

  /// Removes and returns the bond with this identity.
  mutating func remove(_ identity: DeviceAddress) -> HostBond? {
    guard let index = entries.firstIndex(where: { $0.bond.identity == identity }) else { return nil }
    let bond = entries.remove(at: index).bond
    keysChanged()
    return bond
  }

  /// Returns the entries for the controller's resolving list.
  ///
  /// - Parameter localKey: The key that generates this device's private addresses.
  func identities(localKey: UInt128) -> [HostIdentity] {
    entries.compactMap { entry in
      guard let key = entry.bond.peerIdentityKey, key != .zero else { return nil }
      return HostIdentity(
        address: entry.bond.identity, peerKey: UInt128(key.high) << 64 | UInt128(key.low), localKey: localKey,
        // Device privacy mode: the peer uses its identity address until both sides know the bond, or if one side has
        // lost it.
        isDevicePrivacy: true)
    }
  }
}
