import Foundation
import Testing

/// The golden files: `Tests/ProgramTests/Golden`.
enum Golden {
  /// The folder of a golden file, which tells how its commands run.
  enum Kind: String, CaseIterable {
    /// In the virtual time of `world.yaml`.
    case world = "World"
    /// Without an adapter.
    case plain = "Plain"
    /// With airs and servers, in real time.
    case live = "Live"
  }

  static let folder = Place.root + "/Tests/ProgramTests/Golden"

  /// True if tests write golden files instead of comparing them.
  static let isWriting = ProcessInfo.processInfo.environment["COREBLUETOOTH_WRITE_GOLDEN"] == "1"

  /// True if tests may take real time, and run tshark, groff and python3. Not all machines that build this package have
  /// these programs; `.ci/run` does.
  static let hasOtherPrograms = ProcessInfo.processInfo.environment["COREBLUETOOTH_OTHER_PROGRAMS"] == "1"

  /// The files of a kind. COREBLUETOOTH_GOLDEN=TEXT selects those whose names contain the text.
  static func names(_ kind: Kind) -> [String] {
    let part = ProcessInfo.processInfo.environment["COREBLUETOOTH_GOLDEN"] ?? ".txt"
    let files = (try? FileManager.default.contentsOfDirectory(atPath: "\(folder)/\(kind.rawValue)")) ?? []
    return files.filter { $0.hasSuffix(".txt") && $0.contains(part) }.sorted()
  }

  static func session(_ name: String, _ kind: Kind) throws -> Session {
    Session(try String(contentsOfFile: "\(folder)/\(kind.rawValue)/\(name)", encoding: .utf8))
  }

  static let all: [(name: String, session: Session)] = Kind.allCases.flatMap { kind in
    names(kind).compactMap { name in (try? session(name, kind)).map { (name, $0) } }
  }

  /// Compares what the commands of a file print with the file, or writes the file.
  static func check(_ name: String, _ kind: Kind) async throws {
    let expected = try session(name, kind)
    try #require(!expected.commands.isEmpty)
    let session = try await expected.run(kind)
    if isWriting {
      let path = "\(folder)/\(kind.rawValue)/\(name)"
      return try session.text.write(toFile: path, atomically: true, encoding: .utf8)
    }
    for (command, expected) in zip(session.commands, expected.commands) where command.output != expected.output {
      Issue.record("expected\n\(expected.text)got\n\(command.output)")
    }
  }

  /// Returns what a terminal shows of a command, with the same words in each run.
  static func output(
    of command: String, _ output: String, errors: String, known: [(value: String, name: String)]
  ) -> String {
    let output = output.isEmpty || output.hasSuffix("\n") ? output : output + "\n"
    // Without the lines of the log, and what the shell says about its jobs.
    let isLog = /^(\d{4}-\d\d-\d\dT|\[\d+\][+-]? |\.script: line \d+: +\d+ (Killed|Terminated))/
    let messages = errors.split(separator: "\n", omittingEmptySubsequences: false).filter { !$0.contains(isLog) }
    var text = output + messages.joined(separator: "\n")
    if !text.isEmpty && !text.hasSuffix("\n") { text += "\n" }
    for (value, name) in known {
      let value = NSRegularExpression.escapedPattern(for: value)
      // In a table, other cells follow after two spaces at least.
      text = replace(
        #"(?<![\w.])(?:(?<column>\#(value)(?<rest>/[\w.-]*)? *)(?=  \S)|\#(value)(?!\w))"#, in: text, with: name)
    }
    for one in varying where one.verbs.contains(where: { "\(command) ".contains("\($0) ") }) {
      text = replace(one.pattern, in: text, with: one.name)
    }
    return text
  }

  /// Replaces what a pattern matches. The part `column` of a pattern is a cell of a table whose width does not depend on
  /// its text: the replacement gets the same width. The part `rest` is kept.
  static func replace(_ pattern: String, in text: String, with name: String) -> String {
    guard let expression = try? NSRegularExpression(pattern: pattern, options: .anchorsMatchLines) else {
      Issue.record("\(pattern) is no regular expression")
      return text
    }
    var result = text
    let matches = expression.matches(in: text, range: NSRange(text.startIndex..., in: text))
    for match in matches.reversed() {
      guard var range = Range(match.range, in: text) else { continue }
      var word = name
      if pattern.contains("<rest>"), let rest = Range(match.range(withName: "rest"), in: text) { word += text[rest] }
      if pattern.contains("<column>"), let column = Range(match.range(withName: "column"), in: text) {
        range = column
        let width = text.distance(from: column.lowerBound, to: column.upperBound)
        word = word.padding(toLength: max(word.count, width), withPad: " ", startingAt: 0)
      }
      result.replaceSubrange(range, with: word)
    }
    return result
  }

  /// A text that differs from run to run: the commands whose outputs have it, a pattern, and what a golden file has in its
  /// place. A command that no row names prints the same text in each run.
  private static let varying: [(verbs: [String], pattern: String, name: String)] = [
    // The adapters of the machine's kernel.
    (["ble doctor"], #"(?<=other adapters  ).*"#, "<adapters>"),
    (["ble doctor"], #"(?<="subject":"other adapters","state":"ok","text":")[^"]*"#, "<adapters>"),
    // The version of OpenSSL.
    (["ble doctor"], #"(?<=encryption      ).*"#, "<library>"),
    (["ble doctor"], #"(?<="subject":"encryption","state":"ok","text":")[^"]*"#, "<library>"),
    // A random UUID of version 4.
    (["ble uuid"], #"\b[0-9A-F]{8}-[0-9A-F]{4}-4[0-9A-F]{3}-[89AB][0-9A-F]{3}-[0-9A-F]{12}\b"#, "<uuid>"),
    // The programming of a shell, which the package ArgumentParser writes: lines without the names of verbs and options.
    (["completions bash"], #"(?:^(?!_ble|.*(?:options|flags)=\((?!")|.*compgen -W '[^$']*').*\n)+"#, "[…]\n"),
    (["completions zsh"], #"(?:^(?!#compdef|_ble|            '[a-z]).*\n)+"#, "[…]\n"),
    (["completions fish"], #"(?:^(?! *case '|.*parse_subcommand (?:-r )?\d).*\n)+"#, "[…]\n"),
    // The time of a transfer in real time.
    (["ble send", "ble receive"], #"(?<= in )[\d.]+ s, [\d.]+ \w*B/s"#, "<time>"),
    (["ble send", "ble receive"], #"(?<="time":)[\d.]+"#, "<time>"),
    // The programming of a shell in a record.
    (["completions fish"], #"(?<="script":").*(?="\}$)"#, "<script>"),
    // The time of day, which is that of the world only in virtual time.
    (["serve --adapter", "ble l2cap", "ble alerts"], #"(?<="date":")\d{4}-\d\d-\d\dT[\d:.]+Z"#, "<date>"),
    (["ble l2cap"], #"(?<="time":)[\d.]+"#, "<time>"),
    // The identifier of a device, which belongs to the adapter.
    (["ble l2cap"], #"(?<="device":")[^"]*"#, "<device>"),
    // The time of real requests, and the identifier of a central without a bond.
    (["serve --adapter"], #"(?<="time":)[\d.]+|^\d+\.\d{3}(?=  )"#, "<time>"),
    (["serve --adapter"], #"(?<="central":")[^"]*"#, "<central>"),
    // The time of an air, and the place of a packet in its capture.
    (["air stats"], #"^[\d.]+ s(?= of radio time)"#, "<time> s"),
    (["air stats"], #"(?<="time":)[\d.]+"#, "<time>"),
    (["ble monitor"], #"^\d+\t\d+\.\d+(?=\t)"#, "<number>\t<time>"),
    (["ble monitor"], #""number":\d+,"time":[\d.]+"#, #""number":<number>,"time":<time>"#),
    // The time of a day.
    (["ble alerts"], #"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"#, "<time>"),
    // The user that runs the tests, whose number has four digits at most.
    (["ble clients"], #"(?<=<pid>  )(?: *)(?<column>\d+ *)(?=  )"#, "<id>"),
    (["ble clients"], #"(?<="user":)\d+"#, "<id>"),
    // The random address of an adapter of a server, whose bonds are new.
    (["ble why"], #"[0-9A-F]{2}(?::[0-9A-F]{2}){5}"#, "<address>"),
  ]
}

@Suite("Golden files of the programs") struct GoldenTests {
  @Test("The commands in the world of a file print what their golden files have", arguments: Golden.names(.world))
  func world(_ name: String) async throws { try await Golden.check(name, .world) }

  @Test("The commands without an adapter print what their golden files have", arguments: Golden.names(.plain))
  func plain(_ name: String) async throws { try await Golden.check(name, .plain) }

  @Test(
    "The commands with an air or a server print what their golden files have",
    .enabled(if: Golden.hasOtherPrograms, "they take real time"), arguments: Golden.names(.live))
  func live(_ name: String) async throws { try await Golden.check(name, .live) }
}
