import Foundation
import Testing

/// The commands of Documentation/Ble-tutorial.md, in the order of the page.
///
/// A yaml block is a file whose name is in its first line. In a console block, "..." stands for any lines. Of a command in
/// the background, the first lines are compared, as many as the page has.
@Suite("Tutorial of ble") struct TutorialTests {
  @Test(
    "The commands of the tutorial print what the page shows",
    .enabled(if: Golden.hasOtherPrograms, "they take real time"))
  func tutorial() async throws {
    let page = try String(contentsOfFile: Place.root + "/Documentation/Ble-tutorial.md", encoding: .utf8)
    var commands: [Session.Command] = []
    for block in page.matches(of: /(?s)(?:^|\n)```(console|yaml)\n(.*?)\n```/) {
      let text = String(block.2)
      if block.1 == "console" {
        commands += Session(text + "\n").commands
      } else if let name = text.firstMatch(of: /^# (\S+)\n/)?.1 {
        // A file is a command, too. Its text has no line "END".
        commands.append(.init(line: "cat >\(name) <<'END'\n\(text)\nEND", output: ""))
      }
    }
    try #require(commands.count > 10)
    let expected = Session(
      preface: "",
      commands: commands.map { command in
        // All lines of the page have come before the next command begins.
        guard command.line.hasSuffix("&"), let last = command.output.split(whereSeparator: \.isWhitespace).last else {
          return command
        }
        return .init(line: "\(command.line) # \(last.replacing(/\W/, with: "."))$", output: command.output)
      })
    let printed = try await expected.run(.live, hasMessages: false)
    for (command, expected) in zip(printed.commands, expected.commands) {
      let lines = command.output.split(separator: "\n", omittingEmptySubsequences: false).map(String.init).dropLast()
      let shown = expected.output.split(separator: "\n", omittingEmptySubsequences: false).map(String.init).dropLast()
      let isShown = Self.matches(shown, expected.isInBackground ? lines.prefix(shown.count) : lines)
      #expect(isShown, "expected\n\(expected.text)printed\n\(command.output)")
    }
  }

  /// Returns true if the lines are the expected ones, of which "..." stands for any number.
  private static func matches(_ expected: ArraySlice<String>, _ lines: ArraySlice<String>) -> Bool {
    guard let first = expected.first else { return lines.isEmpty }
    let rest = expected.dropFirst()
    if first == "..." { return (lines.startIndex...lines.endIndex).contains { matches(rest, lines[$0...]) } }
    guard let line = lines.first else { return false }
    return comparable(first) == comparable(line) && matches(rest, lines.dropFirst())
  }

  /// Returns a line with words in place of what differs from run to run.
  private static func comparable(_ line: String) -> String {
    let words = varying.reduce(line) { Golden.replace($1.pattern, in: $0, with: $1.name) }
    return words.replacing(/\s+$/, with: "")
  }

  private static let varying: [(pattern: String, name: String)] = [
    (#"^page at http://127\.0\.0\.1:\d+/[\w-]{22}/$"#, "PAGE"),
    (#"^\d+\t\d+\.\d+\tair \d+"#, "PACKET"),
    (#"\t0x[0-9A-F]{8}\t"#, "\tLINK\t"),
    (#"^\d+\.\d+(?=\s)"#, "TIME"),
    (#"^\S+  ([0-9A-F]{2}:){5}[0-9A-F]{2}  [0-9A-F-]{36}$"#, "DEVICE"),
    (#"([0-9A-F]{2}:){5}[0-9A-F]{2}"#, "ADDRESS"),
    (#"-\d+ dBm"#, "LEVEL"),
    (#"~[\d.]+ m"#, "DISTANCE"),
  ]
}
