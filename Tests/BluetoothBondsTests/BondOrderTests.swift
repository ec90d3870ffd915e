import BluetoothBonds
import BluetoothCrypto
import BluetoothHost
import BluetoothWire
import TestSupport
import Testing

@testable import BluetoothDaemon

/// The order of bonds: if two keys resolve one address, the older bond applies, in every run.
@Suite("The order of bonds")
struct BondOrderTests {
  private func keep(_ addresses: [UInt64], in keeper: inout BondManager) {
    for address in addresses {
      let isKept = keeper.keep(Bonds.simple(DeviceAddress(address, .public)))
      #expect(isKept)
    }
  }

  @Test(
    "After a restart, bonds are in the order of their creation, whatever their addresses",
    arguments: [true, false])
  func order(isOnDisk: Bool) throws {
    let folder = try TemporaryFolder()
    let store: any BondStore = isOnDisk ? folder.store() : MemoryBondStore()
    var keeper = BondManager(store)
    keep([5, 9, 1, 7], in: &keeper)
    keeper.remove(DeviceAddress(9, .public))
    var again = BondManager(store)
    #expect(again.all.map(\.identity.value) == [5, 1, 7])
    // A new bond is the youngest; a renewed bond keeps its age.
    keep([3], in: &again)
    var renewed = try #require(again.records[DeviceAddress(5, .public)])
    renewed.name = "strap"
    _ = again.keep(renewed)
    #expect(BondManager(store).all.map(\.identity.value) == [5, 1, 7, 3])
  }

  @Test("Bonds from before the numbering come first, ordered by address")
  func uncounted() throws {
    let store = MemoryBondStore()
    for address in [8, 2] as [UInt64] { try store.save(Bonds.simple(DeviceAddress(address, .public))) }
    var keeper = BondManager(store)
    keep([1], in: &keeper)
    #expect(keeper.all.map(\.identity.value) == [2, 8, 1])
  }

  @Test("An invalid number causes no error", arguments: [Int64.max, .min, -1])
  func strangeNumber(_ number: Int64) throws {
    var record = Bonds.simple()
    record.number = 1
    let text = record.jsonText.replacing(#""number" : 1"#, with: #""number" : \#(number)"#)
    let store = MemoryBondStore()
    try store.save(try BondRecord(jsonText: Array(text.utf8)))
    var keeper = BondManager(store)
    keep([1], in: &keeper)
    #expect(keeper.all.map(\.identity.value).last == 1)
  }
}
