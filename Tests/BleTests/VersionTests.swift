import ArgumentParser
import Foundation
import Testing

@testable import ble

/// The version that the programs show.
@Suite struct VersionTests {
  @Test("--version shows the version of the change log, with -dev before its release")
  func version() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let log = try String(contentsOf: root.appendingPathComponent("CHANGELOG.md"), encoding: .utf8)
    let heading = try #require(log.split(separator: "\n").first { $0.hasPrefix("## ") })
    let numbers = heading.filter { $0.isNumber || $0 == "." }
    let request = #expect(throws: (any Error).self) { try Ble.parseAsRoot(["--version"]) }
    let shown = request.map { Ble.message(for: $0) }
    #expect(shown == numbers + (heading.contains("Unreleased") ? "-dev" : ""))
    #expect(request.map { Ble.exitCode(for: $0) } == ExitCode.success)
  }
}
