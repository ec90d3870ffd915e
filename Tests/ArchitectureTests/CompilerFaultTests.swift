import Foundation
import Testing

/// The fault of the compiler because of which no module has a `_read` accessor.
@Suite("Compiler faults")
struct CompilerFaultTests {
  @Test(
    "A structure that is read through a _read accessor is destroyed in freed memory; if not, the rule can go",
    arguments: ["-Onone", "-O"])
  func readAccessor(optimization: String) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "compiler-fault-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let sources = Repository.root.appending(path: "Tests/CompilerFault")
    let files = ["Table.swift", "main.swift"].map { sources.appending(path: $0).path }
    func total(_ name: String, options: [String]) throws -> (reason: Process.TerminationReason, status: Int32) {
      let program = folder.appending(path: name).path
      let compiled = try run("/usr/bin/env", ["swiftc", optimization] + options + files + ["-o", program])
      #expect(compiled.status == 0)
      return try run(program, [])
    }
    let broken = try total("broken", options: [])
    #expect(broken.reason == .uncaughtSignal)
    let whole = try total("whole", options: ["-Xfrontend", "-disable-large-loadable-types-reg2mem"])
    #expect(whole.reason == .exit && whole.status == 0)
  }

  private func run(_ program: String, _ arguments: [String]) throws -> (
    reason: Process.TerminationReason, status: Int32
  ) {
    let process = Process()
    process.executableURL = URL(filePath: program)
    process.arguments = arguments
    // The crash is expected, so its backtrace is of no use.
    process.environment = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    return (process.terminationReason, process.terminationStatus)
  }
}
