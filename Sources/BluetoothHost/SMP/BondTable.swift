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
  private var resolver = AddressResolver()
  /// Whether there is any key to try an address with.
  private(set) var hasKeys = false

  var all: [Bond] {
    get { entries.map(\.bond) }
    set {
      entries.removeAll()
      for bond in newValue { keep(bond) }
      keysChanged()
    }
  }

  /// By identity.
  subscript(identity: DeviceAddress) -> Bond? { entries.first { $0.bond.identity == identity }?.bond }

  /// The identity of the bonded peer that has made this private address · Vol 3, Part C, 10.8.2.3; nil: nobody has that is
  /// known, or it is none.
  mutating func owner(of address: DeviceAddress) -> DeviceAddress? {
    guard hasKeys, address.randomKind == .resolvablePrivate else { return nil }
    if let outcome = resolver[address.value] { return outcome }
    let owner = entries.first { $0.key?.resolves(address.value) == true }?.bond.identity
    resolver.remember(address.value, of: owner)
    return owner
  }

  /// Whether that device can have private addresses, as far as is known.
  func hasKey(of identity: DeviceAddress) -> Bool {
    hasKeys && entries.contains { $0.bond.identity == identity && $0.key != nil }
  }

  private mutating func keysChanged() {
    resolver.removeAll()
    hasKeys = entries.contains { $0.key != nil }
  }

  /// Takes the place of the one with the same identity.
  mutating func keep(_ bond: Bond) {
    if let index = entries.firstIndex(where: { $0.bond.identity == bond.identity }) {
      let former = entries[index].bond.peerIdentityKey
      entries[index] = Entry(bond)
      // Mostly it is a counter that is another one.
      if former == bond.peerIdentityKey { return }
    } else {
      entries.append(Entry(bond))
    }
    keysChanged()
  }

  /// The bond that was there.
  mutating func remove(_ identity: DeviceAddress) -> Bond? {
    guard let index = entries.firstIndex(where: { $0.bond.identity == identity }) else { return nil }
    let bond = entries.remove(at: index).bond
    keysChanged()
    return bond
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
