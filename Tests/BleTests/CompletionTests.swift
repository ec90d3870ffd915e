import ArgumentParser
import Foundation
import Testing

@testable import ble

/// The completions of a shell, which replace its own completion of file names.
@Suite struct CompletionTests {
  private static let script = Ble.completionScript(for: .bash)

  @Test(
    "An option for a file or a folder completes its names, and one of a list completes the list",
    arguments: [
      ("--world", "-f"), ("--capture", "-f"), ("--plot", "-f"), ("--merge", "-f"), ("--output", "-f"),
      ("--keys", "-f"), ("--token-file", "-f"), ("--control", "-f"), ("--folder", "-d"), ("--bonds", "-d"),
      ("--protocol", "-W 'command'"), ("--format", "-W '"), ("--clients", "-W 'subscribe'"),
    ])
  func options(name: String, completion: String) {
    let lines = Self.script.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    let next = zip(lines, lines.dropFirst()).filter { $0.0.hasSuffix("'\(name)')") }.map(\.1)
    #expect(!next.isEmpty)
    for line in next { #expect(line.contains("add_completions \(completion)"), "\(name): \(line)") }
  }

  @Test(
    "An argument that is a file completes the names of files",
    arguments: [
      ("simulate", 1), ("serve", 1), ("replay", 1), ("send", 1), ("capture_show", 1), ("capture_filter", 1),
      ("capture_stats", 1), ("capture_convert", 2), ("capture_decrypt", 2), ("air_fault", 1), ("air_capture", 1),
      ("bonds_import", 1),
    ])
  func positional(verb: String, count: Int) throws {
    let functions = Self.script.components(separatedBy: "\n}\n")
    let function = try #require(functions.first { $0.contains("_ble_\(verb)() {\n") })
    let parts = function.components(separatedBy: "# Offer positional completions\n")
    #expect(parts.count == 2)
    #expect((parts.last ?? "").components(separatedBy: "add_completions -f\n").count == count + 1)
  }
}
