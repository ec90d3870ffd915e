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
    func check(_ executable: String) async throws -> Program.Ending {
      let text = "apps:\n  - name: com.example.scale\n    executable: \(executable)\n"
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
  }
}
