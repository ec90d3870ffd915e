import BluetoothCrypto
import BluetoothWire
import Testing

@testable import BluetoothHost

/// The resolution of addresses to bonds · Vol 3, Part C, 10.8.2.3.
struct BondTableTests {
  private let key = Block(high: 0xEC02_34A3_57C8_AD05, low: 0x3410_10A6_0A39_7D9B)

  private func bond(_ identity: UInt64, _ key: Block?) -> HostBond {
    var bond = HostBond(identity: DeviceAddress(identity, .random))
    bond.peerIdentityKey = key
    return bond
  }

  private func table(_ bonds: HostBond...) -> BondTable {
    var table = BondTable()
    table.all = bonds
    return table
  }

  /// Returns the private address that `key` gives with this random part.
  private func address(_ key: Block, _ prand: UInt32) -> DeviceAddress {
    DeviceAddress(UInt64(prand) << 24 | UInt64(Toolbox.ah(irk: key, prand: prand)), .random)
  }

  @Test("A private address resolves to its bond and other addresses to none, with repeated lookups too")
  func resolving() {
    var table = table(bond(0xC000_0000_0001, key), bond(0xC000_0000_0002, nil))
    for _ in 0..<2 {
      #expect(table.owner(of: address(key, 0x70_8194))?.value == 0xC000_0000_0001)
      #expect(table.owner(of: address(Block(high: 1, low: 2), 0x70_8194)) == nil)
      #expect(table.owner(of: DeviceAddress(0xC000_0000_0001, .random)) == nil)
      #expect(table.owner(of: DeviceAddress(address(key, 0x70_8194).value, .public)) == nil)
    }
    #expect(table.hasKey(of: DeviceAddress(0xC000_0000_0001, .random)))
    #expect(!table.hasKey(of: DeviceAddress(0xC000_0000_0002, .random)))
  }

  @Test("P15 An address that two bonds' keys resolve belongs to the older bond, whichever was renewed last")
  func twoKeys() {
    var table = table(bond(0xC000_0000_0001, key), bond(0xC000_0000_0002, key))
    table.keep(bond(0xC000_0000_0001, key))
    #expect(table.owner(of: address(key, 0x70_8194))?.value == 0xC000_0000_0001)
    _ = table.remove(DeviceAddress(0xC000_0000_0001, .random))
    #expect(table.owner(of: address(key, 0x70_8194))?.value == 0xC000_0000_0002)
  }

  @Test(
    "P15 Only resolvable private addresses are resolved", arguments: [0x00_0001, 0x80_0001, 0xC0_0001] as [UInt32])
  func kinds(_ prand: UInt32) {
    var table = table(bond(0xC000_0000_0001, key))
    #expect(table.owner(of: address(key, prand)) == nil)
  }

  @Test("P15 A hash that differs in one bit does not resolve")
  func collision() {
    let right = address(key, 0x70_8194)
    var table = table(bond(0xC000_0000_0001, key))
    for bit in 0..<24 {
      #expect(table.owner(of: DeviceAddress(right.value ^ 1 << bit, .random)) == nil)
    }
  }

  @Test("P11 A key of zeros resolves no address and is not sent to the controller")
  func zeroKey() {
    var table = table(bond(0xC000_0000_0001, .zero))
    #expect(table.owner(of: address(.zero, 0x70_8194)) == nil)
    #expect(table.identities(localKey: 1).isEmpty)
  }
}
