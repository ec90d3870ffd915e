// Overview
//
// Bonds must outlive the process, and a loss of power. BluetoothBonds keeps them on disk, as JSON, and reads and writes
// BlueZ's files.
//
// The idea: a store is a folder for each adapter in `swift-corebluetooth/bonds` of the user's data (XDG_DATA_HOME, else
// `~/.local/share`), with a file for each bond. It implements BluetoothDaemon's `BondStore`, whose other
// implementation, `MemoryBondStore`, lasts as long as the process. A `BondRecord` contains everything that is kept of a
// bonded peer: the keys (`HostBond`), the identifier under which apps know the peer, its name, its configuration on
// this device's server, and the knowledge of its server. The store also keeps the adapter's own address and Identity
// Resolving Key, which are created once.
//
// Callers: the daemon's `BondManager` decides when a bond is made or used; BluetoothAdapters and BluetoothLab create
// the stores; `ble bonds` lists, imports and removes.
//
// Invariants:
// - The store uses only the system operations that `FileSystem` declares. So tests can interrupt a write after each
//   operation and check every state that a disk may have then; another test kills a process while it writes.
// - A change is whole: after a loss of power, either the old or the new bond exists (`FileBondStoreFiles.swift`).
// - Equal records give equal files, and a file never shows a key in an error message (`BondFile.swift`).
// - Two programs on one controller never share a folder unaware of each other (`FolderLock.swift`, `BondReach.swift`).
// - Records are numbered in the order of their creation: if two keys resolve one address, the older bond counts, in
//   every run.
//
// Where to begin: this file, then `FileBondStoreFiles.swift`; `BondCoding.swift` for the layout, `BlueZBond.swift` for
// BlueZ's.
//
// Specification: Vol 3, Part H, 2.4 (keys); Vol 3, Part C, 9.4 (bonding). Documentation/Security.md is for users.

import BluetoothDaemon
import BluetoothHost
import BluetoothTransport
import BluetoothWire

/// Bonds on disk: a folder for each adapter, with a file for each bond and a file for the adapter itself.
///
/// The folder has mode 0700, the files 0600. A wider mode of the folder and of files with keys is restricted and, for
/// files, reported as a problem. The lists about apps have no keys: other users may read them, and a list that others
/// can write is removed. Files of other users and symbolic links are not read. A file is written under a temporary name,
/// synchronized to disk and then renamed over the old file, and the folder is synchronized, too: after a loss of power,
/// either the old or the new bond exists. Several stores, also of several processes, may use one folder; an adapter
/// that must be a separate device reserves a folder with `claimed`.
package struct FileBondStore: BondStore {
  /// The maximum size of a file in octets.
  package static let maximumSize = 1 << 20
  static let secretsName = "adapter.json"
  static let appsName = "apps.json"
  static let sessionsName = "sessions.json"
  static let temporarySuffix = ".tmp"

  /// The path of the adapter's folder.
  package let path: String
  package let limit: Int
  /// The parent folder, which is created if it does not exist and otherwise left unchanged.
  let base: String
  /// The process ID in temporary file names, which keeps the files of several processes apart.
  let process: Int32
  let files: any FileSystem
  /// The identifier of the machine's present run; nil: unknown, so that no sessions are stored.
  var boot = SystemFiles.boot
  /// The number of the adapter's folder: 1, except for programs that use the adapter at the same time as others.
  package let number: Int
  /// The lock that reserves the folder for this program; nil: the folder is not reserved.
  var claim: FolderLock?

  /// Creates a store for an adapter.
  ///
  /// - Parameters:
  ///   - folder: an absolute path, or one relative to the current folder.
  ///   - adapter: the adapter's name among the adapters with bonds in the folder: `FileBondStore.name(of:)` of its
  ///     address, or a name. Characters other than letters, digits, `-` and `_` are escaped.
  package init(folder: String, adapter: String, limit: Int = PlatformPolicy.macos.bondLimit) {
    self.init(folder: folder, adapter: adapter, limit: limit, process: processNumber(), files: SystemFiles())
  }

  /// Creates a store for a folder that `adapters` has listed.
  ///
  /// - Parameter name: the adapter's name as `adapters` returns it, with the number of its folder.
  package init(folder: String, shownAs name: String) {
    let (adapter, number) = Self.numbered(name) ?? (name[...], 1)
    self.init(
      folder: folder, adapter: String(adapter), number: number, limit: PlatformPolicy.macos.bondLimit,
      process: processNumber(), files: SystemFiles())
  }

  /// Creates a store from the path of the adapter's own folder.
  package init(path: String) {
    let path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    self.path = path
    base = Self.parent(of: path) ?? "."
    limit = PlatformPolicy.macos.bondLimit
    process = processNumber()
    files = SystemFiles()
    number = 1
  }

  init(folder: String, adapter: String, number: Int = 1, limit: Int, process: Int32, files: any FileSystem) {
    base = folder.count > 1 && folder.hasSuffix("/") ? String(folder.dropLast()) : folder
    path = base + "/" + Self.escaped(adapter) + (number > 1 ? "\(Self.numberMark)\(number)" : "")
    self.number = number
    self.limit = limit
    self.process = process
    self.files = files
  }

  /// The folder for bonds that the environment variable `COREBLUETOOTH_BONDS` names; nil: it is not set or empty.
  package static var namedFolder: String? {
    SystemProcess.variable("COREBLUETOOTH_BONDS").flatMap { $0.isEmpty ? nil : $0 }
  }

  /// Returns the folder for bonds in the user's data: `swift-corebluetooth/bonds` in XDG_DATA_HOME, or else in
  /// `~/.local/share`.
  package static func defaultFolder() throws(BondStoreError) -> String {
    try defaultFolder(environment: SystemProcess.variable)
  }

  static func defaultFolder(environment: (String) -> String?) throws(BondStoreError) -> String {
    guard let folder = SystemFiles.dataFolder(environment: environment) else { throw .noFolder }
    return folder + (folder.hasSuffix("/") ? "" : "/") + "swift-corebluetooth/bonds"
  }

  /// Returns the name of an adapter with that address.
  package static func name(of address: DeviceAddress) -> String {
    address.digits.replacing(":", with: "-") + "." + address.kind.word
  }

  // MARK: BondStore

  package func load() throws(BondStoreError) -> StoredBonds {
    guard let status = try system({ () throws(FileError) in try files.status(of: path) }) else { return StoredBonds() }
    try protect(status)
    var result = try read(mends: true)
    result.records = result.records.sortedByIdentity
    return result
  }

  /// Returns the same result as `load`, without changing any file, for programs that only inspect the store.
  package func look() throws(BondStoreError) -> StoredBonds {
    var result = try read(mends: false)
    result.records = result.records.sortedByIdentity
    return result
  }

  /// Returns the folders in `folder` that hold bonds or the secrets of an adapter. Folders of other users do not count.
  package static func adapters(in folder: String) throws(BondStoreError) -> [(name: String, store: FileBondStore)] {
    let files = SystemFiles()
    var found: [(name: String, store: FileBondStore)] = []
    do throws(FileError) {
      guard try files.status(of: folder) != nil else { return [] }
      for name in try files.names(in: folder).sorted() {
        let path = folder + "/" + name
        guard let status = try files.status(of: path), status.kind == .folder, status.isOwn else { continue }
        let isAdapter = try files.names(in: path).contains { $0 == secretsName || identity(fileName: $0) != nil }
        if isAdapter { found.append((unescaped(name), FileBondStore(path: path))) }
      }
    } catch {
      throw .file(error)
    }
    return found
  }

  package func save(_ record: BondRecord) throws(BondStoreError) {
    let text = try text(of: record)
    let folder = try open()
    defer { files.close(folder) }
    let name = Self.fileName(of: record.identity)
    let isNew = try system { () throws(FileError) in try files.status(of: path + "/" + name) == nil }
    if isNew {
      let names = try system { () throws(FileError) in try files.names(in: path) }
      guard names.count(where: { Self.identity(fileName: $0) != nil }) < limit else { throw .full(limit: limit) }
    }
    try system { () throws(FileError) in try replace(name, by: text, in: folder) }
  }

  /// Returns the text of a record's file. The cache of the peer's server is left out if the file would be too large to
  /// be read again.
  private func text(of record: BondRecord) throws(BondStoreError) -> [UInt8] {
    var record = record
    var text = Array(record.jsonText.utf8)
    if text.count > Self.maximumSize {
      record.cache = nil
      text = Array(record.jsonText.utf8)
    }
    guard text.count <= Self.maximumSize else { throw .tooLarge(octets: text.count, limit: Self.maximumSize) }
    return text
  }

  package func contains(_ identity: DeviceAddress) throws(BondStoreError) -> Bool {
    try system { () throws(FileError) in try files.status(of: path + "/" + Self.fileName(of: identity)) != nil }
  }

  package func update(_ record: BondRecord) throws(BondStoreError) -> Bool {
    let name = Self.fileName(of: record.identity)
    let text = try text(of: record)
    guard try system({ () throws(FileError) in try files.status(of: path) }) != nil else { return false }
    let folder = try open()
    defer { files.close(folder) }
    var problems: [StoredBonds.Problem] = []
    guard try system({ () throws(FileError) in try files.status(of: path + "/" + name) }) != nil else { return false }
    // Another program has paired with the device, or imported a bond with it: that bond's keys must not be lost.
    if let contents = contents(of: path + "/" + name, &problems), let stored = try? BondRecord(jsonText: contents),
      !stored.bond.hasSameKeys(as: record.bond)
    {
      return false
    }
    try system { () throws(FileError) in try replace(name, by: text, in: folder) }
    return true
  }

  package func remove(_ identity: DeviceAddress) throws(BondStoreError) -> Bool {
    let file = path + "/" + Self.fileName(of: identity)
    guard try system({ () throws(FileError) in try files.status(of: file) }) != nil else { return false }
    let folder = try open()
    defer { files.close(folder) }
    try system { () throws(FileError) in
      try files.remove(file)
      try files.sync(folder)
    }
    return true
  }

  package func secrets(_ make: () -> AdapterSecrets) throws(BondStoreError) -> AdapterSecrets {
    try prepareFolder()
    // Files are replaced atomically, so that reading needs no lock.
    if let stored = try storedSecrets() { return stored }
    let folder = try open()
    defer { files.close(folder) }
    // Another program may have written them while this one waited for the lock.
    if let stored = try storedSecrets() { return stored }
    let new = make()
    try system { () throws(FileError) in
      try replace(Self.secretsName, by: Array(new.jsonText.utf8), in: folder)
    }
    return new
  }

  package func setIdentifierGeneration(_ generation: UInt32) throws(BondStoreError) {
    try changeSecrets { $0.identifierGeneration = generation }
  }

  package func setSwitchedOff(_ isSwitchedOff: Bool) throws(BondStoreError) {
    try changeSecrets { $0.isSwitchedOff = isSwitchedOff }
  }

  /// Changes the adapter's file if there is one and `body` changes its content.
  private func changeSecrets(_ body: (inout AdapterSecrets) -> Void) throws(BondStoreError) {
    let folder = try open()
    defer { files.close(folder) }
    guard let former = try storedSecrets() else { return }
    var secrets = former
    body(&secrets)
    guard secrets != former else { return }
    try system { () throws(FileError) in
      try replace(Self.secretsName, by: Array(secrets.jsonText.utf8), in: folder)
    }
  }

  /// Returns the secrets in the adapter's file; nil: there is no file.
  private func storedSecrets() throws(BondStoreError) -> AdapterSecrets? {
    var problems: [StoredBonds.Problem] = []
    if let contents = contents(of: path + "/" + Self.secretsName, &problems) {
      do {
        return try AdapterSecrets(jsonText: contents)
      } catch {
        throw .secrets(problem(Self.secretsName, error))
      }
    }
    if let problem = problems.first { throw .secrets(problem) }
    return nil
  }

  /// The store in the adapter's first folder. The user's decision on an app applies to the adapter, whichever of its
  /// folders the app's program has in this run.
  private var first: FileBondStore {
    FileBondStore(path: String(path[..<(path.lastIndex(of: Self.numberMark) ?? path.endIndex)]))
  }

  package func access(of app: String) throws(BondStoreError) -> Bool? { try permissions()[app] }

  package func setAccess(_ isAllowed: Bool, of app: String) throws(BondStoreError) {
    guard number == 1 else { return try first.setAccess(isAllowed, of: app) }
    try changePermissions { $0.set(isAllowed, for: app) }
  }

  package func noteUse(of app: String) throws(BondStoreError) {
    guard number == 1 else { return try first.noteUse(of: app) }
    try changePermissions { $0.noteUse(of: app) }
  }

  /// Changes the file with the decisions on apps if `body` changes its content.
  private func changePermissions(_ body: (inout AppPermissions) -> Void) throws(BondStoreError) {
    let folder = try open()
    defer { files.close(folder) }
    let former = try permissions()
    var apps = former
    body(&apps)
    guard apps != former else { return }
    try system { () throws(FileError) in
      try replace(Self.appsName, by: Array(apps.jsonText.utf8), in: folder)
    }
  }

  package func permissions() throws(BondStoreError) -> AppPermissions {
    guard number == 1 else { return try first.permissions() }
    guard let contents = try list(Self.appsName, { .apps($0) }) else { return AppPermissions() }
    do {
      return try AppPermissions(jsonText: contents)
    } catch {
      throw .apps(problem(Self.appsName, error))
    }
  }

  /// Returns the content of a list about apps, which has no keys; nil: there is none.
  ///
  /// Other users may be able to read the list. If they can write it, one of them may have changed it: the list is
  /// removed, so that no later run trusts it.
  ///
  /// - Parameter error: makes the error for a defect of the file.
  private func list(
    _ name: String, _ error: (StoredBonds.Problem) -> BondStoreError
  ) throws(BondStoreError) -> [UInt8]? {
    let file = path + "/" + name
    var problems: [StoredBonds.Problem] = []
    let contents = contents(of: file, mends: false, &problems)
    for problem in problems {
      guard case .isOpen(let mode) = problem.reason else { throw error(problem) }
      guard mode & 0o022 != 0 else { continue }
      try system { () throws(FileError) in try files.remove(file) }
      throw error(StoredBonds.Problem(path: file, reason: .wasWritable(mode: mode)))
    }
    return contents
  }

  // MARK: Sessions

  /// The sessions have a lock of their own: servers of simulated devices do not reserve the folder.
  package func reserveStoredApps() throws(BondStoreError) -> any Sendable {
    try prepareFolder()
    let folder = path
    let lock = try system { () throws(FileError) in
      try FolderLock(folder: folder, fileName: FolderLock.sessionsFileName, files: SystemFiles())
    }
    guard let lock else { throw .sessionsInUse(path) }
    return lock
  }

  package func storedApps(afterRestart: Bool) throws(BondStoreError) -> [StoredApp] {
    guard let boot else { return [] }
    guard let contents = try list(Self.sessionsName, { .sessions($0) }) else { return [] }
    do {
      let sessions = try StoredSessions(jsonText: contents)
      if sessions.boot == boot || afterRestart { return sessions.apps }
    } catch {
      throw .sessions(problem(Self.sessionsName, error))
    }
    try system { () throws(FileError) in try files.remove(path + "/" + Self.sessionsName) }
    return []
  }

  package func setStoredApps(_ apps: [StoredApp]) throws(BondStoreError) -> [String] {
    guard let boot else { return [] }
    let (sessions, missing) = StoredSessions.fitting(apps, boot: boot, limit: Self.maximumSize)
    let folder = try open()
    defer { files.close(folder) }
    try system { () throws(FileError) in
      try replace(Self.sessionsName, by: Array(sessions.jsonText.utf8), in: folder)
    }
    return missing
  }

  private func problem(_ name: String, _ error: BondDecodingError) -> StoredBonds.Problem {
    StoredBonds.Problem(path: path + "/" + name, reason: .init(error))
  }
}

// MARK: Names

extension FileBondStore {
  /// Returns a file name such as `C0-11-22-33-44-55.random.json`.
  static func fileName(of identity: DeviceAddress) -> String { name(of: identity) + ".json" }

  /// Returns the address in the name of a bond's file; nil: the file is not a bond's file.
  static func identity(fileName: String) -> DeviceAddress? {
    let parts = fileName.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, parts[2] == "json", let kind = DeviceAddress.Kind(word: String(parts[1])),
      let value = DeviceAddress.value(digits: String(parts[0]).replacing("-", with: ":"))
    else { return nil }
    let address = DeviceAddress(value, kind)
    return self.fileName(of: address) == fileName ? address : nil
  }

  /// The separator between an adapter's name and its folder's number. No escaped name contains it.
  private static let numberMark: Character = "+"

  /// Splits a folder's name into the adapter's name and the number; nil: there is no number.
  private static func numbered(_ name: String) -> (adapter: Substring, number: Int)? {
    guard let mark = name.lastIndex(of: numberMark) else { return nil }
    let digits = name[name.index(after: mark)...]
    guard let number = Int(digits), number > 1, "\(number)" == digits else { return nil }
    return (name[..<mark], number)
  }

  /// Reverses `escaped` and keeps a folder's number. Returns a name that `escaped` can't have produced unchanged.
  static func unescaped(_ name: String) -> String {
    if let (adapter, number) = numbered(name) { return unescaped(String(adapter)) + "\(numberMark)\(number)" }
    var bytes: [UInt8] = []
    var rest = Array(name.utf8)[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), rest.count >= 2,
        let escaped = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
      {
        bytes.append(escaped)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    let result = String(decoding: bytes, as: UTF8.self)
    return escaped(result) == name ? result : name
  }

  /// Returns true for a temporary file that a terminated process has left.
  static func isLeftOver(_ name: String) -> Bool {
    guard name.hasSuffix(temporarySuffix) else { return false }
    let parts = name.dropLast(temporarySuffix.count).split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count > 1, Int32(parts[parts.count - 1]) != nil else { return false }
    let file = parts.dropLast().joined(separator: ".")
    return [secretsName, appsName, sessionsName].contains(file) || identity(fileName: file) != nil
  }

  /// Returns a folder name that is unique for the adapter's name and can't refer to another folder.
  static func escaped(_ name: String) -> String {
    var result = ""
    for byte in name.utf8 {
      let character = Character(Unicode.Scalar(byte))
      let isPlain = character.isASCII && (character.isLetter || character.isNumber || "-_".contains(character))
      // A dot is allowed except at the beginning, because "." and ".." are other folders.
      if isPlain || character == "." && !result.isEmpty {
        result.append(character)
      } else {
        result += "%" + byte.hexadecimal
      }
    }
    return result.isEmpty ? "%" : result
  }
}
