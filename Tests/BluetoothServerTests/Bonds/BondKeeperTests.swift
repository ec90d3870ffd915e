import BluetoothWire
import NIOConcurrencyHelpers
import Testing

@testable import BluetoothServer

@Suite("The bonds of one adapter, in memory and in its store")
struct BondKeeperTests {
  /// A store that can't write as long as its disk is full.
  private final class FullDisk: BondStore {
    let limit = 2
    let isFull = NIOLockedValueBox(true)
    let kept = MemoryBondStore()

    private func write() throws(BondStoreError) {
      if isFull.withLockedValue({ $0 }) { throw .noFolder }
    }

    func load() throws(BondStoreError) -> StoredBonds { try kept.load() }
    func save(_ record: BondRecord) throws(BondStoreError) {
      try write()
      try kept.save(record)
    }
    func contains(_ identity: DeviceAddress) throws(BondStoreError) -> Bool { try kept.contains(identity) }
    func update(_ record: BondRecord) throws(BondStoreError) -> Bool {
      try write()
      return try kept.update(record)
    }
    func remove(_ identity: DeviceAddress) throws(BondStoreError) -> Bool { try kept.remove(identity) }
    func secrets(_ make: () -> AdapterSecrets) throws(BondStoreError) -> AdapterSecrets { try kept.secrets(make) }
    func access(of app: String) throws(BondStoreError) -> Bool? { try kept.access(of: app) }
    func setAccess(_ isAllowed: Bool, of app: String) throws(BondStoreError) { try write() }
  }

  /// The one record, with another name.
  private func named(_ name: String?, _ keeper: BondKeeper) -> BondRecord {
    var record = keeper.all.first ?? Bonds.simple()
    record.name = name
    return record
  }

  @Test("A bond that can't be written is good for this run, and is written when that is possible again")
  func unwritten() throws {
    let disk = FullDisk()
    var keeper = BondKeeper(disk)
    let isTaken = keeper.keep(Bonds.simple())
    #expect(isTaken && keeper.records.count == 1)
    // That it is not in the store does not mean that somebody has forgotten it.
    let isThere = keeper.update(named("changed", keeper))
    #expect(isThere && keeper.all == [Bonds.simple(name: "changed", number: 1)])
    #expect(keeper.takeNotes().count == 2)
    disk.isFull.withLockedValue { $0 = false }
    let isWritten = keeper.update(named("again", keeper))
    #expect(try isWritten && disk.kept.load().records == [Bonds.simple(name: "again", number: 1)])
  }

  @Test("What has changed and could not be written is written as soon as that is possible, changed again or not")
  func unwrittenChange() throws {
    let disk = FullDisk()
    disk.isFull.withLockedValue { $0 = false }
    var keeper = BondKeeper(disk)
    _ = keeper.keep(Bonds.simple())
    disk.isFull.withLockedValue { $0 = true }
    let changed = named("changed", keeper)
    let isThere = keeper.update(changed)
    #expect(try isThere && disk.kept.load().records.first?.name == nil)
    disk.isFull.withLockedValue { $0 = false }
    let isStillThere = keeper.update(changed)
    #expect(try isStillThere && disk.kept.load().records == [changed])
  }

  @Test(
    "A bond that is not in the store any more is gone here, too, whether it has changed or not",
    arguments: [true, false])
  func forgotten(_ hasChanged: Bool) throws {
    let store = MemoryBondStore()
    var keeper = BondKeeper(store)
    _ = keeper.keep(Bonds.simple())
    try store.remove(Bonds.address)
    let isThere = keeper.update(named(hasChanged ? "changed" : nil, keeper))
    #expect(try !isThere && keeper.records.isEmpty && store.load().records == [])
  }
}
