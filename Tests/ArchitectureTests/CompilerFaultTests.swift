import Foundation
import TestSupport
import Testing

/// The fault of the compiler because of which no module has a `_read` accessor.
@Suite("Compiler faults")
struct CompilerFaultTests {
  @Test(
    "A structure that is read through a _read accessor is destroyed in freed memory; if not, the rule can go",
    arguments: ["-Onone", "-O"])
  func readAccessor(optimization: String) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "compiler-fault-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let sources = Repository.root.appending(path: "Tests/CompilerFault")
    let files = ["Table.swift", "main.swift"].map { sources.appending(path: $0).path }
    func run(_ name: String, options: [String]) async throws -> Program.Ending {
      let program = folder.appending(path: name)
      let compiled = try await Program.run(
        URL(filePath: "/usr/bin/env"), ["swiftc", optimization] + options + files + ["-o", program.path])
      #expect(compiled.status == 0, "\(compiled.errors)")
      // The crash is expected, so its backtrace is of no use.
      return try await Program.run(program, [], environment: ["SWIFT_BACKTRACE": "enable=no"])
    }
    let broken = try await run("broken", options: [])
    #expect(broken.reason == .uncaughtSignal)
    let whole = try await run("whole", options: ["-Xfrontend", "-disable-large-loadable-types-reg2mem"])
    #expect(whole.reason == .exit && whole.status == 0)
  }
}
