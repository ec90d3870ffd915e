import BluetoothCrypto
import BluetoothHost
import BluetoothWire
import Foundation
import NIOConcurrencyHelpers
import TestSupport
import Testing

@testable import BluetoothBonds
@testable import BluetoothDaemon

@Suite("An adapter's bonds in memory and in its store")
struct BondManagerTests {
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
    func setIdentifierGeneration(_ generation: UInt32) throws(BondStoreError) { try write() }
    func setSwitchedOff(_ isSwitchedOff: Bool) throws(BondStoreError) { try write() }
    func permissions() throws(BondStoreError) -> AppPermissions { try kept.permissions() }
    func access(of app: String) throws(BondStoreError) -> Bool? { try kept.access(of: app) }
    func setAccess(_ isAllowed: Bool, of app: String) throws(BondStoreError) { try write() }
    func noteUse(of app: String) throws(BondStoreError) { try write() }

    func storedApps(afterRestart: Bool) throws(BondStoreError) -> [StoredApp] { [] }
    func setStoredApps(_ apps: [StoredApp]) throws(BondStoreError) -> [String] { [] }
  }

  /// A store on disk that other programs change, too, and whose disk can be full.
  private final class SharedFullDisk: BondStore {
    let limit = 64
    let isFull = NIOLockedValueBox(false)
    let kept: FileBondStore

    init(_ kept: FileBondStore) { self.kept = kept }

    func load() throws(BondStoreError) -> StoredBonds { try kept.load() }
    func save(_ record: BondRecord) throws(BondStoreError) {
      if isFull.withLockedValue({ $0 }) { throw .noFolder }
      try kept.save(record)
    }
    func contains(_ identity: DeviceAddress) throws(BondStoreError) -> Bool { try kept.contains(identity) }
    func update(_ record: BondRecord) throws(BondStoreError) -> Bool { try kept.update(record) }
    func remove(_ identity: DeviceAddress) throws(BondStoreError) -> Bool { try kept.remove(identity) }
    func lastChange() -> Int64? { kept.lastChange() }
    func secrets(_ make: () -> AdapterSecrets) throws(BondStoreError) -> AdapterSecrets { try kept.secrets(make) }
    func setIdentifierGeneration(_ generation: UInt32) throws(BondStoreError) {}
    func setSwitchedOff(_ isSwitchedOff: Bool) throws(BondStoreError) {}
    func permissions() throws(BondStoreError) -> AppPermissions { try kept.permissions() }
    func access(of app: String) throws(BondStoreError) -> Bool? { try kept.access(of: app) }
    func setAccess(_ isAllowed: Bool, of app: String) throws(BondStoreError) {}
    func noteUse(of app: String) throws(BondStoreError) {}

    func storedApps(afterRestart: Bool) throws(BondStoreError) -> [StoredApp] { [] }
    func setStoredApps(_ apps: [StoredApp]) throws(BondStoreError) -> [String] { [] }
  }

  /// Returns the only record with another name.
  private func named(_ name: String?, _ keeper: BondManager) -> BondRecord {
    var record = keeper.all.first ?? Bonds.simple()
    record.name = name
    return record
  }

  @Test("A bond that can't be written applies for this run, and is written as soon as that is possible")
  func unwritten() throws {
    let disk = FullDisk()
    var keeper = BondManager(disk)
    let isTaken = keeper.keep(Bonds.simple())
    #expect(isTaken && keeper.records.count == 1)
    // The bond's absence from the store does not mean that the user has forgotten the device.
    let isThere = keeper.update(named("changed", keeper))
    #expect(isThere && keeper.all == [Bonds.simple(name: "changed", number: 1)])
    #expect(keeper.takeNotes().count == 2)
    disk.isFull.withLockedValue { $0 = false }
    let isWritten = keeper.update(named("again", keeper))
    #expect(try isWritten && disk.kept.load().records == [Bonds.simple(name: "again", number: 1)])
  }

  @Test("A change that could not be written is written as soon as possible, with or without a further change")
  func unwrittenChange() throws {
    let disk = FullDisk()
    disk.isFull.withLockedValue { $0 = false }
    var keeper = BondManager(disk)
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
    "A bond that another program removed from the store is removed here, whether it has changed or not",
    arguments: [true, false])
  func forgotten(_ hasChanged: Bool) throws {
    let store = MemoryBondStore()
    var keeper = BondManager(store)
    _ = keeper.keep(Bonds.simple())
    _ = try store.remove(Bonds.address)
    let isThere = keeper.update(named(hasChanged ? "changed" : nil, keeper))
    #expect(try !isThere && keeper.records.isEmpty && store.load().records == [])
  }

  // MARK: Limits

  /// Returns a keeper of unconfirmed bonds followed by confirmed ones.
  private func keeper(unconfirmed: UInt64, confirmed: UInt64 = 0, limit: Int = 8) -> BondManager {
    var keeper = BondManager(MemoryBondStore(limit: limit))
    for number in 0..<(unconfirmed + confirmed) {
      _ = keeper.keep(record(number, isConfirmed: number >= unconfirmed))
    }
    return keeper
  }

  private func record(_ number: UInt64, isConfirmed: Bool) -> BondRecord {
    var record = Bonds.simple(DeviceAddress(number, .public))
    record.isConfirmed = isConfirmed
    return record
  }

  @Test("A renewed bond that can't be written is not reverted to the keys that the store still has")
  func unwrittenRenewal() throws {
    let folder = try TemporaryFolder()
    let disk = SharedFullDisk(folder.store())
    var keeper = BondManager(disk)
    _ = keeper.keep(record(1, isConfirmed: true))
    while keeper.takeChanges() != nil {}
    disk.isFull.withLockedValue { $0 = true }
    var renewed = try #require(keeper.all.first)
    renewed.bond.key = LongTermKey(Block(high: 9, low: 9), isAuthenticated: true, isSecureConnections: true)
    _ = keeper.keep(renewed)
    // Writing has changed the folder, although the file in it is the former one.
    try folder.setModificationDate(Date(timeIntervalSinceNow: 10))
    let changes = keeper.takeChanges()
    #expect(changes == BondManager.Changes())
    #expect(keeper.all.map(\.bond.key) == [renewed.bond.key])
  }

  @Test("A bond stays confirmed if the peer renews it with the former key, and not if it does so without")
  func renewal() {
    var record = record(1, isConfirmed: true)
    record.clientRecord = GATTClientRecord(
      subscriptions: [], features: 0, isChangeAware: true, change: nil, databaseHash: [])
    func renewed(_ isConfirmed: Bool, unproven: Bool) -> BondRecord {
      record.renewed(record.bond, isConfirmed: isConfirmed, replacesUnproven: unproven)
    }
    #expect(renewed(false, unproven: false).isConfirmed)
    #expect(renewed(false, unproven: false).clientRecord != nil)
    #expect(renewed(true, unproven: true).isConfirmed)
    #expect(!renewed(false, unproven: true).isConfirmed)
    #expect(renewed(true, unproven: true).clientRecord == nil)
    record.isConfirmed = false
    #expect(!renewed(false, unproven: false).isConfirmed)
    #expect(renewed(true, unproven: false).isConfirmed)
  }

  @Test("Unconfirmed bonds have half of the room, and the oldest one is replaced")
  func strangers() {
    let keeper = keeper(unconfirmed: 4)
    let oldest = DeviceAddress(0, .public)
    #expect(keeper.dispensable(for: record(9, isConfirmed: false), sparing: []) == [oldest])
    #expect(keeper.dispensable(for: record(9, isConfirmed: true), sparing: []).isEmpty)
    #expect(keeper.dispensable(for: record(3, isConfirmed: false), sparing: []).isEmpty)
    let next = DeviceAddress(1, .public)
    #expect(keeper.dispensable(for: record(9, isConfirmed: false), sparing: [oldest]) == [next])
  }

  @Test("A confirmed bond is never replaced, and may replace an unconfirmed one")
  func chosen() {
    let full = keeper(unconfirmed: 2, confirmed: 6)
    #expect(full.dispensable(for: record(9, isConfirmed: true), sparing: []) == [DeviceAddress(0, .public)])
    #expect(keeper(unconfirmed: 0, confirmed: 8).dispensable(for: record(9, isConfirmed: true), sparing: []).isEmpty)
    #expect(keeper(unconfirmed: 0, confirmed: 8).dispensable(for: record(9, isConfirmed: false), sparing: []).isEmpty)
  }

  // MARK: Other programs

  @Test("Bonds that another program has removed, added or given other keys are detected, each change once")
  func otherPrograms() throws {
    let folder = try TemporaryFolder()
    var keeper = BondManager(folder.store())
    for number: UInt64 in 1...3 { _ = keeper.keep(record(number, isConfirmed: true)) }
    while let changes = keeper.takeChanges() { #expect(changes.forgotten.isEmpty && changes.new.isEmpty) }
    let other = folder.store()
    _ = try other.remove(DeviceAddress(1, .public))
    try other.save(record(4, isConfirmed: true))
    var changed = record(2, isConfirmed: true)
    changed.bond.key = LongTermKey(Block(high: 9, low: 9), isAuthenticated: true, isSecureConnections: true)
    try other.save(changed)
    // The file system's timestamps may be coarse.
    try folder.setModificationDate(Date(timeIntervalSinceNow: 10))
    let found = keeper.takeChanges()
    let changes = try #require(found)
    #expect(changes.forgotten == [DeviceAddress(1, .public)])
    #expect(changes.new.map(\.identity.value) == [2, 4])
    #expect(keeper.all.map(\.identity.value).sorted() == [2, 3, 4])
    let again = keeper.takeChanges()
    #expect(again?.forgotten == [] && again?.new == [])
    let nothing = keeper.takeChanges()
    #expect(nothing == nil)
  }

  @Test("Bonds in memory are not shared with other programs")
  func memory() {
    var keeper = BondManager(MemoryBondStore())
    #expect(!keeper.isShared)
    let changes = keeper.takeChanges()
    #expect(changes == nil)
  }

  @Test("A program that changes a bond learns whether the program that uses the adapter has noticed the change")
  func reach() throws {
    let folder = try TemporaryFolder()
    #expect(folder.store().reach(attempts: 1) == .unknown)
    var claimed: FileBondStore? = try FileBondStore.claimed(folder: folder.path + "/bonds", adapter: "hci")
    try folder.store().save(Bonds.simple())
    try folder.setModificationDate(Date(timeIntervalSinceNow: -10))
    claimed?.acknowledgeChanges()
    #expect(folder.store().reach(attempts: 1) == .taken)
    try folder.setModificationDate(Date(timeIntervalSinceNow: 10))
    #expect(folder.store().reach(attempts: 1) == .notTaken)
    claimed = nil
    // A child process that another test has just forked may have inherited the lock, until it runs its program.
    #expect(folder.store().reach() == .noProgram)
  }

  // MARK: Locks

  /// Locks the folder as another program does. A child process that another test has just forked may have inherited an
  /// earlier lock, so this waits for it.
  private func hold(_ folder: TemporaryFolder) throws -> OpenFile {
    let file = try SystemFiles().openFolder(folder.adapter)
    #expect(try SystemFiles().lock(file, waits: true))
    return file
  }

  @Test("A program that holds the folder's lock does not block others; the bond that it kept out is logged")
  func heldLock() throws {
    let folder = try TemporaryFolder()
    let files = SystemFiles(lockAttempts: 2)
    let store = FileBondStore(
      folder: folder.path + "/bonds", adapter: "hci", limit: 64, process: 1, files: files)
    try store.save(Bonds.simple(DeviceAddress(1, .public)))
    let holder = try hold(folder)
    var keeper = BondManager(store)
    let isTaken = keeper.keep(Bonds.simple())
    // The bond applies for this run.
    #expect(isTaken && keeper.records.count == 2)
    let lines = keeper.takeNotes()
    #expect(lines.count == 1 && lines.first?.contains("another program holds the lock") == true)
    #expect(throws: BondStoreError.self) { try store.remove(DeviceAddress(1, .public)) }
    files.close(holder)
    #expect(try store.remove(DeviceAddress(1, .public)))
    let isThere = keeper.update(Bonds.simple())
    #expect(try isThere && store.load().records.map(\.identity) == [Bonds.address])
  }

  @Test("A program that starts while another one holds the folder's lock has its identity and its bonds")
  func startsWhileLocked() throws {
    let folder = try TemporaryFolder()
    let files = SystemFiles(lockAttempts: 1)
    let secrets = AdapterSecrets(identity: Bonds.address, identityKey: Bonds.secret)
    let other = AdapterSecrets(identity: nil, identityKey: .zero)
    #expect(try folder.store().secrets { secrets } == secrets)
    try folder.store().save(Bonds.simple())
    let holder = try hold(folder)
    defer { files.close(holder) }
    let store = try FileBondStore.claimed(folder: folder.path + "/bonds", adapter: "hci", files: files)
    #expect(try store.secrets { other } == secrets)
    #expect(try store.load().records.map(\.identity) == [Bonds.address])
    // Only new secrets need the lock.
    let empty = try TemporaryFolder()
    try empty.store().save(Bonds.simple())
    let second = try hold(empty)
    defer { files.close(second) }
    let unlocked = FileBondStore(folder: empty.path + "/bonds", adapter: "hci", limit: 64, process: 1, files: files)
    #expect(throws: BondStoreError.self) { try unlocked.secrets { other } }
  }

  @Test("A reset of the identifiers that can't be stored is logged")
  func unwrittenReset() {
    var keeper = BondManager(FullDisk())
    keeper.keepIdentifierGeneration(1)
    let lines = keeper.takeNotes()
    #expect(lines.count == 1 && lines.first?.contains("reset of the identifiers") == true)
  }
}
