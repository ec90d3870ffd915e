import BluetoothCrypto
import BluetoothHost
import BluetoothWire
import Foundation
import TestSupport
import Testing

@testable import BluetoothBonds
@testable import BluetoothDaemon

@Suite("Bonds on disk and in memory")
struct BondStoreTests {
  private static let fileName = "C0-11-22-33-44-55.random.json"

  private static func address(_ number: UInt64) -> DeviceAddress { DeviceAddress(number, .public) }

  // MARK: Both kinds

  /// Runs `body` with a store of each kind, with room for three bonds.
  private static func eachStore(_ body: (any BondStore) throws -> Void) throws {
    let folder = try TemporaryFolder()
    try body(MemoryBondStore(limit: 3))
    try body(folder.store(limit: 3))
  }

  @Test("A saved bond is loaded by its address and replaces only the earlier bond of that address")
  func saving() throws {
    try Self.eachStore { store in
      #expect(try store.load() == StoredBonds())
      try store.save(Bonds.simple(Self.address(2)))
      try store.save(Bonds.full())
      try store.save(Bonds.simple(Self.address(1)))
      try store.save(Bonds.simple(Self.address(2), name: "new"))
      let loaded = try store.load()
      #expect(loaded.problems.isEmpty)
      #expect(
        loaded.records == [Bonds.simple(Self.address(1)), Bonds.simple(Self.address(2), name: "new"), Bonds.full()])
    }
  }

  @Test("A public and a random address with the same digits are two devices")
  func addressTypes() throws {
    try Self.eachStore { store in
      try store.save(Bonds.simple(Bonds.address))
      try store.save(Bonds.simple(DeviceAddress(Bonds.address.value, .public)))
      #expect(try store.load().records.count == 2)
    }
  }

  @Test("A forgotten device's bond is removed; forgetting it again changes nothing")
  func forgetting() throws {
    try Self.eachStore { store in
      try store.save(Bonds.simple())
      try store.save(Bonds.simple(Self.address(1)))
      #expect(try store.remove(Bonds.address))
      #expect(try !store.remove(Bonds.address))
      #expect(try store.load().records == [Bonds.simple(Self.address(1))])
    }
  }

  @Test("An update replaces an existing bond and never creates one")
  func updating() throws {
    try Self.eachStore { store in
      #expect(try !store.update(Bonds.simple()))
      #expect(try !store.contains(Bonds.address))
      #expect(try store.load().records == [])
      try store.save(Bonds.simple())
      #expect(try store.update(Bonds.simple(name: "changed")))
      #expect(try store.contains(Bonds.address))
      #expect(try store.load().records == [Bonds.simple(name: "changed")])
    }
  }

  @Test("An update of earlier keys does not overwrite the keys of a newer bond")
  func updatingForeignKeys() throws {
    try Self.eachStore { store in
      try store.save(Bonds.simple())
      var other = Bonds.simple()
      other.bond.key = LongTermKey(Block(high: 9, low: 9), isAuthenticated: true, isSecureConnections: true)
      try store.save(other)
      #expect(try !store.update(Bonds.simple(name: "changed")))
      #expect(try store.load().records == [other])
    }
  }

  @Test("The user's decisions about apps are stored; other apps have none")
  func apps() throws {
    try Self.eachStore { store in
      #expect(try store.access(of: "one") == nil)
      try store.setAccess(true, of: "one")
      try store.setAccess(false, of: "two \"of\" them")
      #expect(try store.access(of: "one") == true)
      #expect(try store.access(of: "two \"of\" them") == false)
      try store.setAccess(false, of: "one")
      #expect(try store.access(of: "one") == false)
      #expect(try store.access(of: "three") == nil)
      #expect(try store.permissions().order == ["one", "two \"of\" them"])
      #expect(try store.permissions()["one"] == false)
      #expect(try store.load() == StoredBonds())
    }
  }

  @Test("The list of apps keeps the order of the decisions, and drops the oldest one at its limit")
  func appOrder() throws {
    var apps = AppPermissions()
    for number in 0..<1_000 { apps.set(number.isMultiple(of: 2), for: "app \(7 * number % 1_000)") }
    let stored = try AppPermissions(jsonText: Array(apps.jsonText.utf8))
    #expect(stored == apps && stored.order == apps.order)
    apps.set(true, for: "one more")
    #expect(apps["app 0"] == nil && apps["app 7"] == false)
    // Earlier versions have written no order, and a user can add an app to the list alone.
    let text = #"{"format": 1, "apps": {"c": true, "b": true, "a": false, "d": true}, "order": ["d", "b", "e"]}"#
    #expect(try AppPermissions(jsonText: Array(text.utf8)).order == ["a", "c", "d", "b"])
  }

  @Test("The names of the apps that have used the adapter are stored without a decision, and the oldest are dropped")
  func users() throws {
    try Self.eachStore { store in
      try store.setAccess(false, of: "one")
      for app in ["two", "one", "two"] { try store.noteUse(of: app) }
      #expect(try store.permissions().users == ["two", "one"])
      #expect(try store.permissions().order == ["one"])
      #expect(try store.access(of: "two") == nil)
    }
    var apps = AppPermissions()
    for number in 0..<257 { apps.noteUse(of: "app \(number)") }
    #expect(apps.users.count == 256 && apps.users.first == "app 1")
    #expect(try AppPermissions(jsonText: Array(apps.jsonText.utf8)) == apps)
    apps.noteUse(of: String(repeating: "a", count: 1 << 16))
    #expect(apps.users.count == 1)
    apps.noteUse(of: String(repeating: "a", count: 1 + 1 << 16))
    #expect(apps.users.isEmpty)
  }

  @Test("A list of apps that is malformed, or that others can write, is an error and decides nothing")
  func brokenApps() throws {
    let folder = try TemporaryFolder()
    let store = folder.store()
    try store.setAccess(true, of: "one")
    for text in [
      "", "{}", "{\"format\": 1}", "{\"format\": 1, \"apps\": {\"one\": 1}}", "{\"format\": 2, \"apps\": {}}",
    ] {
      try folder.write(text, FileBondStore.appsName)
      #expect(throws: BondStoreError.self) { try store.access(of: "one") }
      #expect(throws: BondStoreError.self) { try store.setAccess(true, of: "one") }
      #expect(try folder.text(FileBondStore.appsName) == text)
    }
    try folder.write("{\"format\": 1, \"apps\": {\"one\": true}}", FileBondStore.appsName)
    #expect(try store.access(of: "one") == true)
    try folder.setMode(0o666, FileBondStore.appsName)
    _ = try store.load()
    #expect(throws: BondStoreError.self) { try store.access(of: "one") }
    // The list is removed, so that no later run relies on it.
    #expect(try store.access(of: "one") == nil)
    #expect(!folder.bondFiles.contains(FileBondStore.appsName))
  }

  @Test("A list of apps that others can read decides, and one that others can write is removed with the reason")
  func openApps() throws {
    let folder = try TemporaryFolder()
    let store = folder.store()
    let file = folder.adapter + "/" + FileBondStore.appsName
    try store.setAccess(false, of: "one")
    for mode in [0o604, 0o640, 0o644] {
      try folder.setMode(mode, FileBondStore.appsName)
      #expect(try store.access(of: "one") == false)
    }
    // The next change restricts the list.
    try store.setAccess(false, of: "two")
    #expect(try folder.mode(FileBondStore.appsName) == 0o600)
    for mode in [0o620, 0o602, 0o666] {
      try store.setAccess(false, of: "one")
      try folder.setMode(mode, FileBondStore.appsName)
      let error = #expect(throws: BondStoreError.self) { try store.access(of: "one") }
      let text =
        "can't read the permissions of apps, which do not apply: \(file): other users could change the file (mode "
        + "\(String(mode, radix: 8))); ignored and removed"
      #expect(error?.description == text)
      #expect(!folder.bondFiles.contains(FileBondStore.appsName))
    }
  }

  @Test("The report of a damaged file says what the file should have")
  func contentNames() throws {
    let folder = try TemporaryFolder()
    let store = folder.store()
    try store.setAccess(false, of: "one")
    try folder.write("{}", FileBondStore.appsName)
    try folder.write("{}", FileBondStore.sessionsName)
    try folder.write("{}", FileBondStore.secretsName)
    let apps = #expect(throws: BondStoreError.self) { try store.permissions() }
    #expect(apps?.description.contains("apps.json: not a valid list of permissions; ignored: ") == true)
    let sessions = #expect(throws: BondStoreError.self) { try store.storedApps() }
    #expect(sessions?.description.contains("sessions.json: not a valid list of sessions; ignored: ") == true)
    let secrets = #expect(throws: BondStoreError.self) { try store.secrets(Self.makeSecrets) }
    #expect(secrets?.description.contains("adapter.json: not a valid identity of an adapter; ignored: ") == true)
  }

  @Test("The adapters in a folder are those with bonds or secrets, with their names; listing them changes nothing")
  func adapters() throws {
    let folder = try TemporaryFolder()
    let base = folder.path + "/bonds"
    for name in ["hci", "my phone", "%41", ".."] {
      try FileBondStore(folder: base, adapter: name).save(Bonds.simple())
    }
    let other = base + "/other"
    try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: false)
    for name in ["work.tmp", "a.1.tmp", "notes.json"] {
      #expect(FileManager.default.createFile(atPath: other + "/" + name, contents: nil))
    }
    try FileManager.default.createSymbolicLink(atPath: base + "/link", withDestinationPath: base + "/hci")
    let temporary = Self.fileName + ".4711.tmp"
    try folder.write("half", temporary)
    try folder.write("half", "mine.tmp")
    try folder.setMode(0o755)
    let found = try FileBondStore.adapters(in: base)
    #expect(Set(found.map(\.name)) == ["hci", "my phone", "%41", ".."] && found.count == 4)
    for (_, store) in found { #expect(try store.look().records == [Bonds.simple()]) }
    #expect(folder.bondFiles.contains(temporary))
    #expect(try folder.mode() == 0o755)
    // The clean-up removes only this store's files.
    _ = try folder.store().load()
    #expect(!folder.bondFiles.contains(temporary) && folder.bondFiles.contains("mine.tmp"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: other).count == 3)
    #expect(try FileBondStore.adapters(in: folder.path + "/nowhere").isEmpty)
  }

  @Test("At the limit a new bond is refused, an existing one can be replaced, and a removed one makes room")
  func limit() throws {
    try Self.eachStore { store in
      for number in 1...3 { try store.save(Bonds.simple(Self.address(UInt64(number)))) }
      #expect(throws: BondStoreError.full(limit: 3)) { try store.save(Bonds.simple(Self.address(4))) }
      #expect(try store.load().records.count == 3)
      try store.save(Bonds.simple(Self.address(3), name: "again"))
      try store.remove(Self.address(1))
      try store.save(Bonds.simple(Self.address(4)))
      #expect(try store.load().records.map(\.identity.value) == [2, 3, 4])
    }
  }

  @Test("An adapter's secrets are generated once")
  func secrets() throws {
    let folder = try TemporaryFolder()
    let stores: [any BondStore] = [MemoryBondStore(), folder.store()]
    for store in stores {
      #expect(try store.secrets(Self.makeSecrets) == Self.makeSecrets())
      #expect(try store.secrets(Self.makeOtherSecrets) == Self.makeSecrets())
      #expect(try store.load() == StoredBonds())
    }
  }

  @Test("The number of resets is kept with the secrets; without secrets nothing is stored")
  func identifierGeneration() throws {
    try Self.eachStore { store in
      try store.setIdentifierGeneration(3)
      #expect(try store.secrets(Self.makeSecrets).identifierGeneration == 0)
      try store.setIdentifierGeneration(4)
      var expected = Self.makeSecrets()
      expected.identifierGeneration = 4
      #expect(try store.secrets(Self.makeOtherSecrets) == expected)
    }
  }

  private static func makeSecrets() -> AdapterSecrets {
    AdapterSecrets(identity: Bonds.address, identityKey: Bonds.secret)
  }

  private static func makeOtherSecrets() -> AdapterSecrets {
    Issue.record("made again")
    return AdapterSecrets(identity: nil, identityKey: .zero)
  }

  // MARK: Files

  @Test("Each bond has a file, in a folder, that only the owner can access")
  func modes() throws {
    let folder = try TemporaryFolder()
    try folder.store().save(Bonds.simple())
    _ = try folder.store().secrets(Self.makeSecrets)
    #expect(folder.bondFiles == [Self.fileName, "adapter.json"])
    #expect(try folder.mode() == 0o700)
    for name in folder.bondFiles { #expect(try folder.mode(name) == 0o600) }
    #expect(try folder.text(Self.fileName) == Bonds.simple().jsonText)
  }

  @Test("The permissions of files and folders open to others are restricted, and exposed keys are reported")
  func closing() throws {
    let folder = try TemporaryFolder()
    try folder.store().save(Bonds.simple())
    try folder.setMode(0o755)
    try folder.setMode(0o644, Self.fileName)
    let loaded = try folder.store().load()
    #expect(loaded.records == [Bonds.simple()])
    #expect(loaded.problems == [.init(path: folder.adapter + "/" + Self.fileName, reason: .wasOpen(mode: 0o644))])
    #expect(loaded.problems.first?.description.contains("mode 644") == true)
    #expect(try folder.mode() == 0o700)
    #expect(try folder.mode(Self.fileName) == 0o600)
    #expect(try folder.store().load().problems.isEmpty)
  }

  @Test("A read-only look changes no permissions and reports that the keys are exposed")
  func lookingAtOpenFiles() throws {
    let folder = try TemporaryFolder()
    try folder.store().save(Bonds.simple())
    try folder.setMode(0o666, Self.fileName)
    let found = try folder.store().look()
    #expect(found.records == [Bonds.simple()])
    #expect(found.problems == [.init(path: folder.adapter + "/" + Self.fileName, reason: .isOpen(mode: 0o666))])
    #expect(found.problems.first?.description.contains("changed to 600") == false)
    #expect(try folder.mode(Self.fileName) == 0o666)
  }

  @Test("A record too large to be read again is not written, and the previous one stays")
  func tooLarge() throws {
    let folder = try TemporaryFolder()
    let store = folder.store()
    try store.save(Bonds.simple())
    var record = Bonds.simple()
    record.name = String(repeating: "n", count: 1 << 20)
    let size = record.jsonText.utf8.count
    #expect(throws: BondStoreError.tooLarge(octets: size, limit: 1 << 20)) { try store.save(record) }
    #expect(throws: BondStoreError.tooLarge(octets: size, limit: 1 << 20)) { _ = try store.update(record) }
    #expect(try store.load().records == [Bonds.simple()])
  }

  @Test("A folder's number is part of the adapter's displayed name")
  func numberedFolders() throws {
    let folder = try TemporaryFolder()
    let base = folder.path + "/bonds"
    for name in ["phone", "phone+2", "phone+02", "phone+1", "a b+3"] {
      try FileBondStore(folder: base, shownAs: name).save(Bonds.simple())
    }
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: base).sorted() == [
        "a%20b+3", "phone", "phone%2B02", "phone%2B1", "phone+2",
      ])
    #expect(try FileBondStore.adapters(in: base).map(\.name) == ["a b+3", "phone", "phone+02", "phone+1", "phone+2"])
  }

  @Test("A bond is imported if it has a key and its address can be an identity")
  func checkedImport() throws {
    func error(_ change: (inout BondRecord) -> Void) -> BondImportError? {
      var record = Bonds.simple()
      change(&record)
      do throws(BondImportError) { try record.checkImport() } catch { return error }
      return nil
    }
    #expect(error { _ in } == nil)
    let key = try #require(Bonds.simple().bond.key ?? Bonds.simple().bond.ownKey)
    #expect(error { $0.bond = HostBond(identity: $0.identity) } == .noKey)
    #expect(
      error {
        $0.bond = HostBond(identity: $0.identity)
        $0.bond.key = LongTermKey(
          .zero, size: 16, isAuthenticated: key.isAuthenticated, isSecureConnections: true)
      } == .noKey)
    for (value, kind) in [
      (0x41BE_0000_0001, DeviceAddress.Kind.random), (0, .random), (0xFFFF_FFFF_FFFF, .random), (0, .public),
      (0xFFFF_FFFF_FFFF, .public), (0xC000_0000_0000, .random),
    ] {
      let address = DeviceAddress(UInt64(value), kind)
      #expect(
        error {
          var bond = HostBond(identity: address)
          bond.key = key
          $0 = BondRecord(bond, identifier: $0.identifier)
        } == .notAnIdentity(address))
    }
    #expect(error { $0.name = String(repeating: "n", count: 248) } == nil)
    #expect(error { $0.name = String(repeating: "n", count: 249) } == .longName(octets: 249))
  }

  @Test("Symbolic links are not followed, neither as the file nor as the folder")
  func links() throws {
    let folder = try TemporaryFolder()
    try folder.store().save(Bonds.simple())
    let other = folder.adapter + "/" + "00-00-00-00-00-07.public.json"
    try FileManager.default.createSymbolicLink(atPath: other, withDestinationPath: folder.adapter + "/" + Self.fileName)
    let loaded = try folder.store().load()
    #expect(loaded.records == [Bonds.simple()])
    #expect(loaded.problems == [.init(path: other, reason: .untrusted)])
    let linked = folder.path + "/bonds/linked"
    try FileManager.default.createSymbolicLink(atPath: linked, withDestinationPath: folder.adapter)
    let store = FileBondStore(folder: folder.path + "/bonds", adapter: "linked")
    #expect(throws: BondStoreError.untrustedFolder(linked)) { try store.load() }
    #expect(throws: BondStoreError.untrustedFolder(linked)) { try store.save(Bonds.simple()) }
  }

  @Test("Malformed, truncated, foreign, too long, newer or misnamed files stay and hide no bond")
  func problems() throws {
    let folder = try TemporaryFolder()
    try folder.store().save(Bonds.simple())
    let text = Bonds.simple().jsonText
    let later = text.replacing(#""format" : 1"#, with: #""format" : 9"#)
    try folder.write("", "00-00-00-00-00-01.public.json")
    try folder.write(String(text.dropLast(9)), "00-00-00-00-00-02.public.json")
    try folder.write(text, "00-00-00-00-00-03.public.json")
    try folder.write(later, "00-00-00-00-00-04.public.json")
    try folder.write(String(repeating: " ", count: 1 << 20) + text, "00-00-00-00-00-05.public.json")
    try folder.write(text, "c0-11-22-33-44-55.random.json")
    try folder.write("notes", "README")
    try FileManager.default.createDirectory(
      atPath: folder.adapter + "/00-00-00-00-00-06.public.json", withIntermediateDirectories: false)
    let names = folder.bondFiles
    let loaded = try folder.store().load()
    #expect(loaded.records == [Bonds.simple()])
    let reasons = loaded.problems.map { problem in
      let name = problem.path.split(separator: "/").last ?? ""
      return switch problem.reason {
      case .malformed(let text): "\(name): \(text)"
      default: "\(name): \(problem.reason)"
      }
    }
    let expected = [
      "00-00-00-00-00-01.public.json: the file is empty", "00-00-00-00-00-02.public.json: not valid JSON",
      "00-00-00-00-00-03.public.json: the device does not match", "00-00-00-00-00-04.public.json: laterFormat(9)",
      "00-00-00-00-00-05.public.json: the file is longer", "00-00-00-00-00-06.public.json: untrusted",
      "README: foreign",
      "c0-11-22-33-44-55.random.json: foreign",
    ]
    #expect(reasons.count == expected.count)
    for (reason, expected) in zip(reasons, expected) {
      #expect(reason.hasPrefix(expected))
    }
    #expect(folder.bondFiles == names)
    for problem in loaded.problems { #expect(problem.description.split(separator: "\n").count == 1) }
  }

  @Test("The leftovers of an interrupted write are removed, but not during another write")
  func leftOvers() throws {
    let folder = try TemporaryFolder()
    try folder.store().save(Bonds.simple())
    let temporary = Self.fileName + ".4711.tmp"
    try folder.write("{", temporary)
    let files = SystemFiles()
    let writer = try files.openFolder(folder.adapter)
    #expect(try files.lock(writer, waits: false))
    #expect(try folder.store().load() == StoredBonds(records: [Bonds.simple()]))
    #expect(folder.bondFiles.contains(temporary))
    files.close(writer)
    #expect(try folder.store().load() == StoredBonds(records: [Bonds.simple()]))
    #expect(folder.bondFiles == [Self.fileName])
  }

  @Test("Unreadable secrets are an error and stay, since with new secrets no peer would recognize the adapter")
  func brokenSecrets() throws {
    let folder = try TemporaryFolder()
    try folder.store().save(Bonds.simple())
    try folder.write("{\"format\": 1}", "adapter.json")
    do throws(BondStoreError) {
      _ = try folder.store().secrets(Self.makeSecrets)
      Issue.record("new ones were made")
    } catch {
      guard case .secrets = error, "\(error)".contains("identityKey") else {
        Issue.record("\(error)")
        return
      }
    }
    #expect(try folder.text("adapter.json") == "{\"format\": 1}")
  }

  @Test("Adapters with names that are special to the system get separate folders in the right place")
  func adapterNames() throws {
    let names = ["..", ".", "", "a/b", "a%2Fb", "phone", "my phone", "ä", "../../x", "C0:11"]
    #expect(Set(names.map(FileBondStore.escaped)).count == names.count)
    for name in names {
      let escaped = FileBondStore.escaped(name)
      #expect(!escaped.contains("/") && !escaped.hasPrefix(".") && !escaped.isEmpty)
    }
    #expect(FileBondStore.escaped("my phone.2") == "my%20phone.2")
    #expect(FileBondStore.name(of: Bonds.address) == "C0-11-22-33-44-55.random")
    let folder = try TemporaryFolder()
    try FileBondStore(folder: folder.path + "/", adapter: "..").save(Bonds.simple())
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["%2E."])
  }

  @Test("The bonds' folder is in XDG_DATA_HOME if that is an absolute path, else in the home folder, else nowhere")
  func defaultFolder() throws {
    let folder = { (variables: [String: String]) throws(BondStoreError) in
      try FileBondStore.defaultFolder { variables[$0] }
    }
    #expect(try folder(["XDG_DATA_HOME": "/data", "HOME": "/home/z"]) == "/data/swift-corebluetooth/bonds")
    let inHome = "/home/z/.local/share/swift-corebluetooth/bonds"
    #expect(try folder(["XDG_DATA_HOME": "data", "HOME": "/home/z"]) == inHome)
    #expect(try folder(["XDG_DATA_HOME": "", "HOME": "/"]) == "/.local/share/swift-corebluetooth/bonds")
    #expect(throws: BondStoreError.noFolder) { try folder(["HOME": ""]) }
  }

  @Test("A system error is reported with the path, the operation and the system's reason")
  func systemErrors() throws {
    let folder = try TemporaryFolder()
    try "".write(toFile: folder.path + "/bonds", atomically: false, encoding: .utf8)
    do throws(BondStoreError) {
      try folder.store().save(Bonds.simple())
      Issue.record("saved")
    } catch {
      #expect("\(error)" == "\(folder.adapter): checking the file failed: Not a directory")
    }
  }
}
