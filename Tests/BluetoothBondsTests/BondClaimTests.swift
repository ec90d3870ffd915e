import BluetoothHost
import BluetoothWire
import Foundation
import TestSupport
import Testing

@testable import BluetoothBonds
@testable import BluetoothDaemon

/// Several programs that use one adapter at the same time.
@Suite(.timeLimit(.minutes(10)))
struct BondClaimTests {
  private static let adapter = "tcp:127.0.0.1:6402"
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func claimed() throws -> FileBondStore {
    try FileBondStore.claimed(folder: folder.path, adapter: Self.adapter)
  }

  @Test("Each program that shares an adapter gets the first free numbered folder")
  func numbers() throws {
    let first = try claimed()
    #expect(first.path == folder.path + "/tcp%3A127.0.0.1%3A6402")
    var second: FileBondStore? = try claimed()
    #expect(second?.path == folder.path + "/tcp%3A127.0.0.1%3A6402+2")
    let third = try claimed()
    #expect(third.path == folder.path + "/tcp%3A127.0.0.1%3A6402+3")
    #expect(first.number == 1 && third.number == 3)
    // A copy of the store keeps the claim.
    let copy = second
    second = nil
    #expect(try claimed().number == 4)
    withExtendedLifetime((first, copy, third)) {}
  }

  @Test("A user's decision about an app applies to all programs on the adapter, whichever folder they use")
  func access() throws {
    let first = try claimed()
    let second = try claimed()
    try first.setAccess(false, of: "app")
    #expect(try second.access(of: "app") == false)
    try second.setAccess(true, of: "app")
    #expect(try first.access(of: "app") == true)
    withExtendedLifetime(first) {}
  }

  @Test("One program at a time preserves sessions in a folder")
  func sessions() throws {
    let store = FileBondStore(folder: folder.path, adapter: "phone")
    var first: (any Sendable)? = try store.reserveStoredApps()
    #expect(throws: BondStoreError.sessionsInUse(store.path)) { try store.reserveStoredApps() }
    #expect(try store.load().problems.isEmpty)
    var (manager, other) = (BondManager(store), BondManager(store))
    let isRefused = !manager.reserveStoredApps()
    let notes = manager.takeNotes()
    #expect(isRefused && notes.count == 1 && notes.first?.contains(store.path) == true)
    withExtendedLifetime(first) {}
    first = nil
    let results = [manager.reserveStoredApps(), manager.reserveStoredApps(), other.reserveStoredApps()]
    #expect(results == [true, true, false])
    manager.releaseStoredApps()
    let isFree = other.reserveStoredApps()
    #expect(isFree)
  }

  @Test("A released folder goes to its next user with its bonds and its identity")
  func release() throws {
    func begin() throws -> (store: FileBondStore, secrets: AdapterSecrets) {
      let store = try claimed()
      // A generator without a state has no address, which Thread Sanitizer does not expect.
      var random = RandomStream(seed: .random(in: 0...UInt64.max))
      return (store, try store.secrets { AdapterSecrets.make(needsAddress: true, using: &random) })
    }
    var identities: [AdapterSecrets] = []
    do {
      let first = try begin()
      let second = try begin()
      try second.store.save(Bonds.simple())
      identities = [first.secrets, second.secrets]
    }
    #expect(identities[0] != identities[1])
    let first = try begin()
    let second = try begin()
    #expect([first.secrets, second.secrets] == identities)
    #expect(try first.store.load() == StoredBonds())
    #expect(try second.store.load() == StoredBonds(records: [Bonds.simple()]))
  }

  @Test("A released folder is free although a process that another thread starts has a copy of the lock's descriptor")
  func copiedDescriptor() throws {
    var store: FileBondStore? = try claimed()
    var lock = stat()
    try #require(stat(folder.path + "/tcp%3A127.0.0.1%3A6402/" + FolderLock.fileName, &lock) == 0)
    let numbers = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { Int32($0) }
    let copies = numbers.filter { number in
      var file = stat()
      return fstat(number, &file) == 0 && file.st_dev == lock.st_dev && file.st_ino == lock.st_ino
    }.map { dup($0) }
    defer { for copy in copies { close(copy) } }
    try #require(copies.count == 1 && copies.allSatisfy { $0 >= 0 })
    #expect(store?.number == 1)
    store = nil
    #expect(try claimed().number == 1)
  }

  @Test("A program that is killed or ends releases the adapter's folder")
  func programs() throws {
    let helper = try Program.url("bond-writer")
    func start() throws -> (process: Process, input: Pipe, number: String) {
      let (process, input, output) = (Process(), Pipe(), Pipe())
      process.executableURL = helper
      process.arguments = [folder.path, Self.adapter]
      (process.standardInput, process.standardOutput) = (input, output)
      try process.run()
      return (process, input, String(decoding: output.fileHandleForReading.readData(ofLength: 2), as: UTF8.self))
    }
    let first = try start()
    #expect(first.number == "1\n")
    let second = try start()
    #expect(second.number == "2\n")
    #expect(try claimed().number == 3)
    kill(first.process.processIdentifier, SIGKILL)
    first.process.waitUntilExit()
    #expect(first.process.terminationReason == .uncaughtSignal)
    let own = try claimed()
    #expect(own.number == 1)
    #expect(try claimed().number == 3)
    second.input.fileHandleForWriting.write(Data("end\n".utf8))
    second.process.waitUntilExit()
    #expect(try claimed().number == 2)
    withExtendedLifetime(own) {}
  }

  @Test("Reading or adding bonds needs no claim on the folder, and finds the numbered folders by name")
  func looking() throws {
    let first = try claimed()
    let second = try claimed()
    let plain = FileBondStore(folder: folder.path, adapter: Self.adapter)
    try plain.save(Bonds.simple())
    try second.save(Bonds.simple(name: "second"))
    #expect(try first.look() == StoredBonds(records: [Bonds.simple()]))
    let found = try FileBondStore.adapters(in: folder.path)
    #expect(found.map(\.name) == [Self.adapter, Self.adapter + "+2"])
    #expect(try found.last?.store.look().records == [Bonds.simple(name: "second")])
    // A name that ends like a numbered folder's has a different folder.
    let similar = FileBondStore(folder: folder.path, adapter: Self.adapter + "+2")
    #expect(similar.path != second.path)
    #expect(FileBondStore.unescaped("a+1") == "a+1" && FileBondStore.unescaped("a%2B2") == "a+2")
  }

  @Test("The lock file is private, a symbolic link is not followed, and a failure to lock is an error")
  func lockFile() throws {
    let path = try claimed().path
    let file = path + "/" + FolderLock.fileName
    let attributes = try FileManager.default.attributesOfItem(atPath: file)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    try FileManager.default.removeItem(atPath: file)
    try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: folder.path + "/elsewhere")
    #expect(throws: BondStoreError.self) { try claimed() }
    #expect(!FileManager.default.fileExists(atPath: folder.path + "/elsewhere"))
  }
}
