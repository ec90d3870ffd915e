import Foundation
import TestSupport
import Testing

/// The file of `btserver --apps`.
@Suite("Apps file of a server", .timeLimit(.minutes(10)))
struct AppsFileTests {
  @Test("A script as the program of an app is refused with the file, the line and the key, and a binary is accepted")
  func script() async throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let (script, apps) = (folder.file("scale"), folder.file("apps.yaml"))
    try Data("#!/bin/sh\nexec sleep 60\n".utf8).write(to: URL(fileURLWithPath: script))
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: script)
    func check(_ executable: String, _ more: String = "") async throws -> Program.Ending {
      let text = "apps:\n  - name: com.example.scale\n    executable: \(executable)\n\(more)"
      try Data(text.utf8).write(to: URL(fileURLWithPath: apps))
      return try await Program.run("btserver", ["--check", "--socket", folder.file("s.sock"), "--apps", apps])
    }
    let refusal = try await check(script)
    #expect(refusal.status != 0)
    let reason = "executable: \(script) is a script: name the program that it starts"
    #expect(refusal.errors.contains("\(apps):3: \(reason)"), "\(refusal.errors)")
    let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let accepted = try await check(own)
    #expect(accepted.status == 0, "\(accepted.errors)")
    #expect(accepted.output.contains("app: com.example.scale, \(own)"))
    #expect(try await check(own, "    setsUpAccessories: true\n").status == 0)
    let flag = try await check(own, "    setsUpAccessories: 3\n")
    #expect(flag.errors.contains("\(apps):4: setsUpAccessories: expected true or false"), "\(flag.errors)")
  }

  @Test("A file of apps is read with the rules of world files: no aliases, a limit, and no file that has no end")
  func rules() async throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let apps = folder.file("apps.yaml")
    func refusal(of path: String) async throws -> String {
      let ending = try await Program.run("btserver", ["--check", "--socket", folder.file("s.sock"), "--apps", path])
      #expect(ending.status == 65)
      return ending.errors
    }
    func refusal(ofText text: String) async throws -> String {
      try Data(text.utf8).write(to: URL(fileURLWithPath: apps))
      return try await refusal(of: apps)
    }
    var bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n"
    for (name, last) in zip("bcdefghij", "abcdefghi") {
      let list = Array(repeating: "*\(last)", count: 9).joined(separator: ",")
      bomb += "\(name): &\(name) [\(list)]\n"
    }
    let anchors = "anchors (&) and aliases (*) are not supported; quote text that begins with & or *"
    #expect(try await refusal(ofText: bomb + "? *i\n: x\n").hasSuffix(": \(anchors)\n"))
    // Two keys that stand for billions of values are compared as they are written.
    #expect(try await refusal(ofText: bomb + "? *i\n: x\n? *i\n: y\n").hasSuffix(": duplicate field \"*i\"\n"))
    #expect(
      try await refusal(ofText: "apps:\n  - name: 5\n    path: x\n").contains(":3: unknown key \"path\" of an app"))
    #expect(
      try await refusal(ofText: String(repeating: "#", count: 4_194_305))
        == "btserver: \(apps): can't read the file: longer than 4194304 octets\n")
    #expect(try await refusal(of: "/dev/zero") == "btserver: /dev/zero: can't read the file: not a regular file\n")
    #expect(try await refusal(of: folder.path) == "btserver: \(folder.path): can't read the file: Is a directory\n")
    try #require(mkfifo(folder.file("fifo"), 0o600) == 0)
    #expect(
      try await refusal(of: folder.file("fifo"))
        == "btserver: \(folder.file("fifo")): can't read the file: not a regular file\n")
  }
}
