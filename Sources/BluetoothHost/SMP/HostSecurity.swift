import BluetoothCrypto
import BluetoothWire

/// The security state of a host that does not belong to one link: the context of the Security Managers, and the bonds.
struct HostSecurity {
  /// The state that the Security Managers of all links share.
  var context: SecurityContext
  private(set) var bonds = BondTable()
  /// True if the identities of the bonds must be passed to the resolving list.
  private(set) var hasNewIdentities = false

  /// Creates the state of a host without bonds.
  init(_ context: SecurityContext) { self.context = context }

  /// Replaces all bonds.
  mutating func setBonds(_ all: [HostBond]) {
    bonds.all = all
    identitiesChanged()
  }

  /// Adds a bond, which replaces the one with the same identity.
  mutating func add(_ bond: HostBond) {
    bonds.keep(bond)
    identitiesChanged()
  }

  /// Stores new counters of a bond.
  mutating func update(_ bond: HostBond) { bonds.keep(bond) }

  /// Removes a bond. Returns false if it does not exist.
  mutating func removeBond(_ identity: DeviceAddress) -> Bool {
    guard bonds.remove(identity) != nil else { return false }
    // Failed attempts to replace the bond must not delay a new pairing.
    context.attempts.succeeded(identity)
    identitiesChanged()
    return true
  }

  private mutating func identitiesChanged() {
    context.bondedIdentities = Set(bonds.all.map(\.identity))
    hasNewIdentities = true
  }

  /// Returns the identities for the resolving list, and notes that it has them.
  ///
  /// - Parameter usesPrivateAddresses: True if the controller also generates private addresses for this device.
  mutating func takeIdentities(usesPrivateAddresses: Bool) -> [HostIdentity] {
    hasNewIdentities = false
    let key = usesPrivateAddresses ? context.identityKey ?? .zero : .zero
    return bonds.identities(localKey: UInt128(key.high) << 64 | UInt128(key.low))
  }

  /// Returns the identity of the bonded peer that has generated this private address; nil: there is none.
  @inline(__always)
  mutating func owner(of address: DeviceAddress) -> DeviceAddress? { bonds.owner(of: address) }
}
