import BluetoothCrypto
import BluetoothHost
import BluetoothWire
import Foundation
import TestSupport
import Testing

@testable import BluetoothBonds
@testable import BluetoothDaemon

@Suite("Power loss while bonds are stored")
struct PowerLossTests {
  private static let old = Bonds.simple(name: "old")
  private static let new = Bonds.simple(name: String(repeating: "n", count: 300))
  private static let other = Bonds.simple(DeviceAddress(7, .public))
  private static let secrets = AdapterSecrets(identity: nil, identityKey: Bonds.secret)

  private static func store(_ disk: ModelDisk, process: Int32 = 1) -> FileBondStore {
    FileBondStore(folder: "/data/swift-corebluetooth/bonds", adapter: "hci", limit: 8, process: process, files: disk)
  }

  /// Returns the errors after a power loss at each of the operations of `change`; `before` has been synchronized long
  /// ago.
  private static func wrongs(
    ignoresSync: Bool = false, before: (FileBondStore) throws -> Void, change: (FileBondStore) throws -> Void,
    old: [BondRecord], new: [BondRecord]
  ) throws -> [String] {
    var wrongs: [String] = []
    var count = 0
    while true {
      let disk = ModelDisk(ignoresSync: ignoresSync)
      try before(Self.store(disk))
      let start = disk.operations
      disk.setPower(count)
      let isDone = (try? change(Self.store(disk))) != nil
      for (index, restarted) in disk.restarted().enumerated() {
        let loaded = try Self.store(restarted, process: 2).load()
        let isRight = loaded.records == new || !isDone && loaded.records == old
        if !isRight || !loaded.problems.isEmpty {
          wrongs.append("after \(count) operations (\(index)): \(loaded)")
        }
        // No files are left over, and the store works like a new one.
        let names = (try? restarted.names(in: Self.store(restarted).path)) ?? []
        if names.contains(where: { $0.hasSuffix(".tmp") }) { wrongs.append("after \(count) operations: \(names)") }
        try Self.store(restarted, process: 2).save(Self.new)
        if try !Self.store(restarted).load().records.contains(Self.new) { wrongs.append("not as good as new") }
      }
      if isDone {
        #expect(disk.operations - start > 3)
        return wrongs
      }
      count += 1
    }
  }

  @Test("A power loss while a bond is replaced leaves the old or the new bond, complete")
  func replacing() throws {
    let wrongs = try Self.wrongs(
      before: { store in
        try store.save(Self.old)
        try store.save(Self.other)
      }, change: { try $0.save(Self.new) }, old: [Self.other, Self.old], new: [Self.other, Self.new])
    #expect(wrongs.isEmpty)
  }

  @Test("A power loss while the first bond and its folders are created leaves the bond or none")
  func first() throws {
    let wrongs = try Self.wrongs(before: { _ in }, change: { try $0.save(Self.new) }, old: [], new: [Self.new])
    #expect(wrongs.isEmpty)
  }

  @Test("A power loss while a device is forgotten leaves its bond or none")
  func removing() throws {
    let wrongs = try Self.wrongs(
      before: { try $0.save(Self.old) }, change: { _ = try $0.remove(Self.old.identity) }, old: [Self.old], new: [])
    #expect(wrongs.isEmpty)
  }

  @Test("A power loss while an adapter's secrets are generated leaves them, or allows generating them again")
  func makingSecrets() throws {
    var count = 0
    var isDone = false
    while !isDone {
      let disk = ModelDisk(power: count)
      isDone = (try? Self.store(disk).secrets { Self.secrets }) != nil
      for restarted in disk.restarted() {
        var isMadeAgain = false
        let secrets = try Self.store(restarted).secrets {
          isMadeAgain = true
          return Self.secrets
        }
        #expect(secrets == Self.secrets)
        #expect(!isDone || !isMadeAgain)
      }
      count += 1
    }
    #expect(count > 10)
  }

  // MARK: Settings

  /// Returns the errors after a power loss at each of the operations of `change`. `before` has been synchronized long
  /// ago.
  ///
  /// - Parameters:
  ///   - read: what is stored.
  ///   - old: what is stored after `before`.
  ///   - new: what is stored after `change`.
  private static func wrongs<Value: Equatable>(
    ignoresSync: Bool = false, before: (FileBondStore) throws -> Void, change: (FileBondStore) throws -> Void,
    read: (FileBondStore) throws -> Value, old: Value, new: Value
  ) throws -> [String] {
    var wrongs: [String] = []
    var count = 0
    while true {
      let disk = ModelDisk(ignoresSync: ignoresSync)
      try before(store(disk))
      let start = disk.operations
      disk.setPower(count)
      let isDone = (try? change(store(disk))) != nil
      for (index, restarted) in disk.restarted().enumerated() {
        let found = Result { try read(store(restarted, process: 2)) }
        let value = try? found.get()
        if value != new, isDone || value != old { wrongs.append("after \(count) operations (\(index)): \(found)") }
        // The next start of the adapter leaves no other file over, and can store the change.
        if (try? store(restarted, process: 2).load().problems.isEmpty) != true {
          wrongs.append("after \(count) operations: a problem")
        }
        let names = (try? restarted.names(in: store(restarted).path)) ?? []
        if names.contains(where: { $0.hasSuffix(".tmp") }) { wrongs.append("after \(count) operations: \(names)") }
        if (try? change(store(restarted, process: 2))) == nil || (try? read(store(restarted))) != new {
          wrongs.append("after \(count) operations: not as good as new")
        }
      }
      if isDone {
        #expect(disk.operations - start > 3)
        return wrongs
      }
      count += 1
    }
  }

  /// The decisions about three apps, the third of which is long, so that a write of the file takes several parts.
  private static let apps = ["first", "second", String(repeating: "n", count: 400)]

  private static func decisions(_ store: FileBondStore) throws -> [Bool?] {
    try apps.map { try store.access(of: $0) }
  }

  @Test(
    "A power loss while a user's decision about an app is changed leaves the old or the new one, and those of others")
  func changingPermission() throws {
    let wrongs = try Self.wrongs(
      before: { store in for app in Self.apps { try store.setAccess(true, of: app) } },
      change: { try $0.setAccess(false, of: Self.apps[0]) }, read: Self.decisions, old: [true, true, true],
      new: [false, true, true])
    #expect(wrongs.isEmpty)
  }

  @Test("A power loss while the first decision about an app and its folders are created leaves the decision or none")
  func firstPermission() throws {
    let wrongs = try Self.wrongs(
      before: { _ in }, change: { try $0.setAccess(false, of: Self.apps[2]) }, read: Self.decisions,
      old: [nil, nil, nil], new: [nil, nil, false])
    #expect(wrongs.isEmpty)
  }

  /// The adapter's secrets after `count` resets of the identifiers.
  private static func reset(_ count: UInt32) -> AdapterSecrets {
    var result = Self.secrets
    result.identifierGeneration = count
    return result
  }

  /// Returns the secrets that are stored; other ones if there are none.
  private static func stored(_ store: FileBondStore) throws -> AdapterSecrets {
    try store.secrets { AdapterSecrets(identity: nil, identityKey: Block(high: 8, low: 9)) }
  }

  @Test(
    "A power loss during a reset of the identifiers leaves it done or not done, and the adapter's keys as they were")
  func resettingIdentifiers() throws {
    func wrongs(ignoresSync: Bool) throws -> [String] {
      try Self.wrongs(
        ignoresSync: ignoresSync,
        before: { store in
          _ = try store.secrets { Self.secrets }
          try store.setIdentifierGeneration(1)
        }, change: { try $0.setIdentifierGeneration(2) }, read: Self.stored, old: Self.reset(1),
        new: Self.reset(2))
    }
    #expect(try wrongs(ignoresSync: false).isEmpty)
    // The model can detect a loss.
    #expect(try !wrongs(ignoresSync: true).isEmpty)
  }

  @Test("A power loss while the user switches the adapter leaves it off or on in later runs, and its keys as they were")
  func switching() throws {
    for isOff in [true, false] {
      var (old, new) = (Self.reset(1), Self.reset(1))
      (old.isSwitchedOff, new.isSwitchedOff) = (!isOff, isOff)
      let wrongs = try Self.wrongs(
        before: { store in
          _ = try store.secrets { old }
        }, change: { try $0.setSwitchedOff(isOff) }, read: Self.stored, old: old, new: new)
      #expect(wrongs.isEmpty)
    }
  }

  // MARK: Sessions

  @Test("A power loss while the sessions of apps are stored leaves the old or the new ones, complete")
  func sessions() throws {
    let old = [StoredApps.full("old")]
    let new = [StoredApps.full("new"), StoredApps.full("other")]
    for before in [[], old] {
      var count = 0
      var isDone = false
      while !isDone {
        let disk = ModelDisk()
        if !before.isEmpty { _ = try Self.store(disk).setStoredApps(before) }
        disk.setPower(count)
        isDone = (try? Self.store(disk).setStoredApps(new)) != nil
        for restarted in disk.restarted() {
          let store = Self.store(restarted, process: 2)
          let loaded = try store.storedApps()
          #expect(loaded == new || !isDone && loaded == before, "after \(count) operations")
          #expect(try store.load() == StoredBonds())
          let names = (try? restarted.names(in: store.path)) ?? []
          #expect(names.allSatisfy { $0 == FileBondStore.sessionsName }, "after \(count) operations: \(names)")
          _ = try store.setStoredApps(old)
          #expect(try store.storedApps() == old)
        }
        count += 1
      }
      #expect(count > 5)
    }
  }

  @Test("A process killed while it stores the sessions of apps leaves the last reported ones or the next, complete")
  func killingSessions() throws {
    let folder = try TemporaryFolder()
    let store = FileBondStore(folder: folder.path, adapter: "adapter")
    var counter = 0
    for round in 0..<24 {
      let received = try Self.killed("bond-writer", [folder.path, "adapter", "sessions"], round)
      let stored = try store.storedApps()
      #expect(try store.load() == StoredBonds())
      let identifier = try #require(stored.first?.centrals.first?.identifier)
      let next = try #require(Int(identifier))
      #expect([counter + received, counter + received + 1].contains(next))
      #expect(stored.count == 1 + next % 7)
      counter = next
    }
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/adapter")
    #expect(names == [FileBondStore.sessionsName])
  }

  @Test("On a disk that never synchronizes, bonds get lost: the model can detect the loss")
  func modelTells() throws {
    let wrongs = try Self.wrongs(
      ignoresSync: true, before: { try $0.save(Self.old) }, change: { try $0.save(Self.new) }, old: [Self.old],
      new: [Self.new])
    #expect(!wrongs.isEmpty)
  }

  @Test("A failed write leaves the old bond and no other file")
  func failure() throws {
    let folder = try TemporaryFolder()
    try folder.store().save(Self.old)
    let store = FileBondStore(
      folder: folder.path + "/bonds", adapter: "hci", limit: 8, process: 1, files: FullDisk())
    do throws(BondStoreError) {
      try store.save(Self.new)
      Issue.record("saved")
    } catch {
      #expect("\(error)".hasSuffix("writing failed: No space left on device"))
    }
    #expect(folder.bondFiles == [FileBondStore.fileName(of: Self.old.identity)])
    #expect(try folder.store().load() == StoredBonds(records: [Self.old]))
  }

  @Test("A process killed while saving leaves the last reported bond or the next one, complete")
  func killing() throws {
    let folder = try TemporaryFolder()
    var counter: UInt32 = 0
    for round in 0..<24 {
      let received = try Self.killed("bond-writer", [folder.path], round)
      let loaded = try FileBondStore(folder: folder.path, adapter: "adapter").load()
      #expect(loaded.problems.isEmpty)
      let record = try #require(loaded.records.first)
      let next = try #require(record.bond.signatureMaker?.nextCounter)
      #expect([counter + UInt32(received), counter + UInt32(received) + 1].contains(next))
      #expect(record.name?.count == Int(next % 7) * 2_000)
      counter = next
    }
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/adapter")
    #expect(names == [FileBondStore.fileName(of: Bonds.address)])
  }

  @Test(
    "A process killed while it saves decisions about apps and resets of identifiers leaves all that it has reported")
  func killingSettings() throws {
    let folder = try TemporaryFolder()
    let store = FileBondStore(folder: folder.path, adapter: "adapter")
    var count: UInt32 = 0
    for round in 0..<24 {
      let reported = count + UInt32(try Self.killed("bond-writer", [folder.path, "--settings"], round))
      let secrets = try Self.stored(store)
      #expect(secrets.identityKey == Block(high: 1, low: 2))
      let resets = secrets.identifierGeneration
      #expect([reported, reported + 1].contains(resets))
      for number in [reported, resets] {
        #expect(try store.access(of: "app \(number)") == number.isMultiple(of: 2))
      }
      // The decision of a reset that has not been stored may be there.
      let next = try store.access(of: "app \(resets + 1)")
      #expect(next == nil || next == (resets + 1).isMultiple(of: 2))
      #expect(try store.load() == StoredBonds())
      count = resets
    }
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/adapter")
    #expect(!names.contains { $0.hasSuffix(".tmp") })
  }

  /// Starts a helper, and kills it in the middle of an operation, a little later in each round. Returns the number of
  /// operations that it has reported.
  private static func killed(_ name: String, _ arguments: [String], _ round: Int) throws -> Int {
    let process = Process()
    let output = Pipe()
    process.executableURL = try Program.url(name)
    process.arguments = arguments
    process.standardOutput = output
    try process.run()
    var received = output.fileHandleForReading.readData(ofLength: 1 + round % 4).count
    var spin = UInt64(round) &* 40_000
    while spin > 0 { spin = waste(spin) }
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    received += output.fileHandleForReading.readDataToEndOfFile().count
    #expect(process.terminationReason == .uncaughtSignal)
    #expect(received > 0)
    return received
  }

  @inline(never)
  private static func waste(_ number: UInt64) -> UInt64 { number - 1 }
}

/// The machine's files, on a disk that is full.
private struct FullDisk: FileSystem {
  private let files = SystemFiles()

  func write(_ bytes: ArraySlice<UInt8>, to file: OpenFile) throws(FileError) -> Int {
    if bytes.count > 100 { return try files.write(bytes.prefix(100), to: file) }
    throw FileError(.write, file.path, code: ENOSPC, reason: "No space left on device")
  }

  func status(of path: String) throws(FileError) -> FileStatus? { try files.status(of: path) }
  func makeFolder(_ path: String) throws(FileError) { try files.makeFolder(path) }
  func setMode(_ mode: UInt32, of path: String) throws(FileError) { try files.setMode(mode, of: path) }
  func names(in folder: String) throws(FileError) -> [String] { try files.names(in: folder) }
  func read(_ path: String, limit: Int) throws(FileError) -> [UInt8] { try files.read(path, limit: limit) }
  func create(_ path: String) throws(FileError) -> OpenFile { try files.create(path) }
  func openFolder(_ path: String) throws(FileError) -> OpenFile { try files.openFolder(path) }
  func lock(_ folder: OpenFile, waits: Bool) throws(FileError) -> Bool {
    try files.lock(folder, waits: waits)
  }
  func sync(_ handle: OpenFile) throws(FileError) { try files.sync(handle) }
  func close(_ handle: OpenFile) { files.close(handle) }
  func rename(_ path: String, to new: String) throws(FileError) { try files.rename(path, to: new) }
  func remove(_ path: String) throws(FileError) { try files.remove(path) }
}
