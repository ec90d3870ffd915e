import BluetoothWire
import Foundation
import TestSupport
import Testing

@testable import BluetoothServer

/// The names of the apps of clients.
@Suite struct AppIdentificationTests {
  private let folder: TemporaryFolder
  private let user: UInt32 = 1_000

  init() throws { folder = try TemporaryFolder() }

  /// Creates a program in a folder, with an `Info.plist` in another one.
  private func make(_ program: String, info: String? = nil, _ content: String = "") throws -> String {
    let path = folder.file(program)
    let files = FileManager.default
    try files.createDirectory(
      at: URL(fileURLWithPath: path).deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data().write(to: URL(fileURLWithPath: path))
    if let info { try writeInfo(info, content) }
    return path
  }

  private func writeInfo(_ file: String, _ content: String) throws {
    let text = "<?xml version=\"1.0\"?><plist version=\"1.0\"><dict>\(content)</dict></plist>"
    try Data(text.utf8).write(to: URL(fileURLWithPath: folder.file(file)))
  }

  private func client(_ program: String?, user: UInt32 = 1_000, file: ProgramFile? = nil) -> ClientIdentity {
    let file = file ?? program.flatMap { ProgramFile(path: $0) }
    return ClientIdentity(
      process: ClientIdentity.Process(id: 1, user: user, group: user, program: program, file: file), address: nil)
  }

  private func identifier(_ text: String) -> String { "<key>CFBundleIdentifier</key><string>\(text)</string>" }

  @Test("An app is named by the bundle identifier beside its program or in its bundle, else by its path")
  func names() throws {
    let apps = AppIdentification([], user: user)
    let plain = try make("plain/tool")
    #expect(apps.identity(of: client(plain)) == AppIdentity(name: plain))
    let beside = try make(
      "beside/tool", info: "beside/Info.plist",
      identifier("com.example.tool") + "<key>UIBackgroundModes</key><array><string>bluetooth-central</string></array>")
    let identity = apps.identity(of: client(beside))
    #expect(identity == AppIdentity(name: "com.example.tool", manifest: AppManifest(backgroundModes: [.central])))
    let bundle = try make(
      "Scale.app/Contents/MacOS/Scale", info: "Scale.app/Contents/Info.plist", identifier("com.example.scale"))
    #expect(apps.identity(of: client(bundle))?.name == "com.example.scale")
    // A folder above that is no bundle plays no part.
    let other = try make("other/bin/tool", info: "other/Info.plist", identifier("com.example.other"))
    #expect(apps.identity(of: client(other))?.name == other)
    // A manifest that can't be read.
    let broken = try make("broken/tool", info: "broken/Info.plist", "<key>")
    #expect(apps.identity(of: client(broken)) == AppIdentity(name: broken))
  }

  @Test("A program can't borrow a name: not that of another file, of another user, or of another program's identifier")
  func borrowing() throws {
    let apps = AppIdentification([], user: user)
    let first = try make("first/tool", info: "first/Info.plist", identifier("com.example.tool"))
    let second = try make("second/tool", info: "second/Info.plist", identifier("com.example.tool"))
    #expect(apps.identity(of: client(first))?.name == "com.example.tool")
    #expect(apps.identity(of: client(second))?.name == second)
    #expect(apps.identity(of: client(first))?.name == "com.example.tool")
    #expect(apps.identity(of: client(first, user: 1_001))?.name == "com.example.tool@1001")
    // In its own mount namespace a process can have any path.
    let stranger = client(first, file: ProgramFile(device: 7, number: 9))
    #expect(apps.identity(of: stranger)?.name == "tool (file 7:9)")
    #expect(apps.identity(of: client(nil, user: 1_001))?.name == "unknown program@1001")
    #expect(apps.identity(of: ClientIdentity(process: nil, address: "127.0.0.1")) == nil)
  }

  /// Makes the program of a user claim bundle identifiers.
  private func claim(
    _ apps: AppIdentification, _ identifiers: some Sequence<String>, by program: String, of user: UInt32
  ) throws {
    let path = try make("\(program)/tool")
    for text in identifiers {
      try writeInfo("\(program)/Info.plist", identifier(text))
      let name = apps.identity(of: client(path, user: user))?.name
      if name != "\(text)@\(user)" { Issue.record("\(name ?? "none") in place of \(text)") }
    }
  }

  @Test("A user with thousands of bundle identifiers takes none from others, and loses the own ones used the least")
  func manyIdentifiers() throws {
    let apps = AppIdentification([], user: user)
    let log = LogRecorder()
    let mallory: UInt32 = 770_001
    let kept = try make("kept/tool", info: "kept/Info.plist", identifier("com.example.kept"))
    #expect(apps.identity(of: client(kept))?.name == "com.example.kept")
    // The identifiers in use stay; of the others, those that have not been used for the longest time go.
    try claim(apps, ["com.mallory.used", "com.mallory.idle"], by: "mallory", of: mallory)
    for round in 0..<17 {
      try claim(apps, (0..<250).map { "com.mallory.a\(round).b\($0)" }, by: "mallory", of: mallory)
      try claim(apps, ["com.mallory.used"], by: "mallory", of: mallory)
    }
    let lines = log.lines(containing: "user \(mallory): has their share of bundle identifiers")
    #expect(lines.count == 1)
    // Another user's programs have their identifiers, old and new.
    let imitation = try make("imitation/tool", info: "imitation/Info.plist", identifier("com.example.kept"))
    #expect(apps.identity(of: client(imitation))?.name == imitation)
    let first = try make("first/tool", info: "first/Info.plist", identifier("com.example.tool"))
    let second = try make("second/tool", info: "second/Info.plist", identifier("com.example.tool"))
    #expect(apps.identity(of: client(first))?.name == "com.example.tool")
    #expect(apps.identity(of: client(second))?.name == second)
    // Of the user's own, the one in use is still owned, and the other one can be claimed again.
    let used = try make("used/tool", info: "used/Info.plist", identifier("com.mallory.used"))
    #expect(apps.identity(of: client(used, user: mallory))?.name == "\(used)@\(mallory)")
    try claim(apps, ["com.mallory.idle"], by: "heir", of: mallory)
  }

  @Test("Users beyond the limit of all users displace the bundle identifiers that have not been used the longest")
  func manyUsers() {
    var owners = BundleOwners()
    for user in 0..<UInt32(BundleOwners.limit) { _ = owners.owner(of: "a.b", claimedBy: "/first", ofUser: user) }
    #expect(owners.owner(of: "a.b", claimedBy: "/first", ofUser: 0).program == "/first")
    #expect(owners.owner(of: "a.b", claimedBy: "/first", ofUser: 70_000) == ("/first", false))
    #expect(owners.owner(of: "a.b", claimedBy: "/second", ofUser: 0).program == "/first")
    #expect(owners.owner(of: "a.b", claimedBy: "/second", ofUser: 1).program == "/second")
    #expect(owners.owner(of: "a.b", claimedBy: "/second", ofUser: 70_000).program == "/first")
  }

  @Test("A bundle identifier with other characters, or a very long one, names no app, and its manifest has no effect")
  func wrongIdentifiers() throws {
    let apps = AppIdentification([], user: user)
    let modes = "<key>UIBackgroundModes</key><array><string>bluetooth-central</string></array>"
    let identifiers = ["/bin/sh", "unknown program", "tool (file 7:9)", String(repeating: "a", count: 20_000)]
    for (number, text) in identifiers.enumerated() {
      let program = try make("\(number)/tool", info: "\(number)/Info.plist", identifier(text) + modes)
      #expect(apps.identity(of: client(program)) == AppIdentity(name: program), "\(text.prefix(20))")
      #expect(AppIdentification.declaration(of: program) == AppIdentity(name: program), "\(text.prefix(20))")
    }
  }

  @Test("A registered app has its name and manifest, whatever its folder says, and no other program gets the name")
  func registered() throws {
    let program = try make("app/tool", info: "app/Info.plist", identifier("com.example.other"))
    let manifest = AppManifest(usageDescription: "To test.")
    let apps = AppIdentification(
      [RegisteredApp(name: "com.example.app", executable: program, manifest: manifest)], user: user)
    #expect(apps.identity(of: client(program)) == AppIdentity(name: "com.example.app", manifest: manifest))
    let imitation = try make("copy/tool", info: "copy/Info.plist", identifier("com.example.app"))
    #expect(apps.identity(of: client(imitation))?.name == imitation)
    #expect(AppIdentification.declaration(of: imitation).name == "com.example.app")
  }

  @Test("A registered app is that of its user: the same program of another user is another app")
  func registeredUsers() throws {
    let program = try make("app/tool", info: "app/Info.plist", identifier("com.example.tool"))
    let root = try #require(AppUser("0"))
    #expect(AppUser("root") == root)
    #expect(root.number == 0 && root.environment["USER"] == "root")
    #expect(AppUser("no such user") == nil)
    let manifest = AppManifest(usageDescription: "To test.")
    let apps = AppIdentification(
      [
        RegisteredApp(name: "com.example.other@1001", executable: "/bin/sh", manifest: manifest),
        RegisteredApp(name: "com.example.system", executable: program, manifest: manifest, user: root),
      ], user: user)
    #expect(apps.identity(of: client(program, user: 0)) == AppIdentity(name: "com.example.system", manifest: manifest))
    #expect(apps.identity(of: client(program))?.name == "com.example.tool")
    #expect(apps.identity(of: client(program, user: 1_001))?.name == "com.example.tool@1001")
    // The name of a registered app stays that app's, with the number of a user, too.
    let imitation = try make("copy/tool", info: "copy/Info.plist", identifier("com.example.other"))
    #expect(apps.identity(of: client(imitation, user: 1_001))?.name == "\(imitation)@1001")
  }

  @Test("The server learns the program file of a process from the system")
  func programFile() throws {
    let path = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    #expect(ProgramFile(path: "/proc/self/exe") == ProgramFile(path: path))
    #expect(ProgramFile(path: folder.file("none")) == nil)
  }
}
