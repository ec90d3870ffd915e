import Foundation
import Testing

/// The golden files beside the pages that describe the programs, and beside the verbs of ble.
@Suite("Golden files and pages") struct PageTests {
  static let reference = text("Ble-reference")

  private static func text(_ page: String) -> String {
    (try? String(contentsOfFile: Place.root + "/Documentation/\(page).md", encoding: .utf8)) ?? ""
  }

  /// A row of the table of records in Documentation/Ble-reference.md.
  private struct Kind {
    var fields: Set<String>
    let mayBeNull: Bool
  }

  private static let kinds: [String: Kind] = {
    var kinds: [String: Kind] = [:]
    let records = reference.components(separatedBy: "<!-- options -->")[0]
    for row in records.matches(of: /\n\| `(\w+)` \| `[^|]* \| (.*) \|(?=\n)/) {
      // Words in parentheses are values and explanations.
      let names = row.2.replacing(/\([^()]*\)/, with: "")
      var fields = Set(names.matches(of: /`(\w+)`/).map { String($0.1) })
      if names.contains(/\ba value\b/) {
        fields.formUnion(["value", "text", "decoded", "number", "unit", "fields", "problem"])
      }
      kinds[String(row.1)] = Kind(fields: fields, mayBeNull: row.2.contains("null"))
    }
    return kinds
  }()

  @Test("Each field of a record in Documentation/Ble-reference.md has one type, and each field with a type is in one")
  func fieldTypes() {
    let fields = Self.kinds.values.reduce(into: Set<String>()) { $0.formUnion($1.fields) }
    for name in fields { #expect(RecordTypes.types[name]?.count == 1, "\(name): \(RecordTypes.types[name] ?? [])") }
    let records = Self.reference.components(separatedBy: "### Types of the fields\n")[0]
    for name in RecordTypes.types.keys { #expect(fields.contains(name) || records.contains("`\(name)`"), "\(name)") }
    #expect(fields.count > 150)
  }

  @Test("Each record in a golden file is as Documentation/Ble-reference.md describes it, and each kind is in one")
  func records() throws {
    var seen: Set<String> = []
    for (name, session) in Golden.all {
      for command in session.commands {
        let lines = command.output.split(separator: "\n")
        for line in lines where line.hasPrefix(#"{"version":"#) {
          // A golden file has words in place of numbers that differ from run to run.
          let text = line.replacing(/:<\w+>/, with: ":0").replacing("[<pid>]", with: "[0]")
          guard let record = try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any],
            let kind = record["record"] as? String, let row = Self.kinds[kind]
          else {
            Issue.record("\(name): no documented record: \(line)")
            continue
          }
          seen.insert(kind)
          #expect(line.hasPrefix(#"{"version":2,"record":""#), "\(name): \(line)")
          for problem in RecordTypes.problems(of: String(text)) { Issue.record("\(name): \(problem): \(line)") }
          let unknown = Set(record.keys).subtracting(row.fields).subtracting(["version", "record"])
          #expect(unknown.isEmpty, "\(name): not documented: \(unknown): \(line)")
          let hasNull = record.values.contains { $0 is NSNull }
          #expect(row.mayBeNull || !hasNull, "\(name): a field is null, not absent: \(line)")
        }
        // The records of ble alone are what it prints.
        if command.line.contains(/^ble .*--json/) && !command.line.contains("|") && !command.isInBackground {
          let others = lines.filter { !$0.contains(/^(\{"version":|ble: |  *|\[exit status )/) }
          #expect(others.isEmpty, "\(name): \(command.line): no records: \(others)")
        }
      }
    }
    #expect(seen.symmetricDifference(Self.kinds.keys).isEmpty, "\(seen.symmetricDifference(Self.kinds.keys))")
  }

  @Test("Each example on the pages about ble is in a golden file, except those with a mark")
  func examples() {
    let shown = Golden.all.flatMap { $0.session.commands.map(\.shown) }
    let examples = (Self.text("Ble") + Self.reference).matches(
      of: /(<!-- not a case -->\n)?```console\n(\$ ble [^`]*?)```/)
    for example in examples where example.1 == nil {
      #expect(shown.contains(String(example.2)), "no golden file has\n\(example.2)")
    }
    #expect(examples.count > 8)
  }

  /// A verb, in the form of swift-argument-parser.
  private struct Verb: Decodable {
    struct Name: Decodable { let name: String }
    struct Argument: Decodable {
      let names: [Name]?
      let shouldDisplay: Bool
    }

    let commandName: String
    let arguments: [Argument]?
    let subcommands: [Verb]?

    var hasRecords: Bool { options.contains("--json") }
    var options: [String] {
      let names = (arguments ?? []).filter(\.shouldDisplay).flatMap { ($0.names ?? []).map(\.name) }
      return names.filter { $0.count > 1 }.map { "--\($0)" }
    }

    var verbs: [Verb] { (subcommands ?? []).filter { $0.commandName != "help" } }

    /// The verb and its further verbs, each with all words that name it.
    func all(_ name: String) -> [(name: String, verb: Verb)] {
      [(name, self)] + verbs.flatMap { $0.all("\(name) \($0.commandName)") }
    }
  }

  private struct Help: Decodable { let command: Verb }

  private static func verbs() async throws -> [(name: String, verb: Verb)] {
    let place = try Place(for: "")
    defer { place.remove() }
    let status = try await place.run(["ble", "--experimental-dump-help"])
    try #require(status == 0)
    return try JSONDecoder().decode(Help.self, from: Data(place.read(".shell").utf8)).command.all("ble")
  }

  @Test("Each verb of ble has golden files, also with --json")
  func verbs() async throws {
    let commands = Golden.all.flatMap { $0.session.commands.map { $0.line + " " } }
    let verbs = try await Self.verbs().filter { $0.verb.verbs.isEmpty }
    // A verb that is the default of another one needs no name.
    let defaults = ["ble air serve": "ble air -", "ble apps list": "ble apps -", "ble bonds list": "ble bonds -"]
    for (name, verb) in verbs {
      let own = commands.filter { $0.contains("\(name) ") || $0.contains(defaults[name] ?? name + " ") }
      #expect(!own.isEmpty, "\(name)")
      // The standard output of bluez and lockstep belongs to their programs.
      #expect(verb.hasRecords != name.contains(/^ble (bluez|lockstep)/), "\(name)")
      #expect(!verb.hasRecords || own.contains { $0.contains("--json ") }, "\(name) --json")
    }
    #expect(verbs.count > 40)
  }

  @Test(
    "The tables of options in Documentation/Ble-reference.md are those of the help",
    .enabled(if: Golden.hasOtherPrograms, "it runs python3"))
  func options() async throws {
    let place = try Place(for: "")
    defer { place.remove() }
    let page = "\(Place.root)/Documentation/Ble-reference.md"
    let isWriting = ProcessInfo.processInfo.environment["COREBLUETOOTH_WRITE_TABLES"] == "1"
    let command = ["\(Place.root)/Scripts/option-tables", "\(Place.programs)/ble", page]
    let status = try await place.run(command + (isWriting ? [] : ["--check"]))
    #expect(status == 0, "\(place.read(".shell")); COREBLUETOOTH_WRITE_TABLES=1 writes them")
  }

  @Test(
    "Each verb of ble has a manual page with all its options, which groff accepts",
    .enabled(if: Golden.hasOtherPrograms, "it runs groff and python3"))
  func manual() async throws {
    let place = try Place(for: "")
    defer { place.remove() }
    let made = try await place.run(["\(Place.root)/Scripts/manual-pages", "\(Place.programs)/ble", "man1"])
    #expect(made == 0, "\(place.read(".shell"))")
    let part = Self.reference.components(separatedBy: "### Exit statuses\n").last
    let table = part?.components(separatedBy: "\n### ").first ?? ""
    let statuses = "\n\(table)".matches(of: /\n\| (\d+) \| ([a-z]+)/).map { "\($0.1)\($0.2)" }
    #expect(!statuses.isEmpty)
    let verbs = try await Self.verbs()
    for (name, verb) in verbs {
      let page = "man1/\(name.replacing(" ", with: "-")).1"
      let groff = "groff -man -Kutf8 -Tutf8 -P-c -ww \(page) 2>problems"
      let command = "\(groff) | sed 's/.\\x08//g' | tr -d ' \\n'; exit ${PIPESTATUS[0]}"
      let status = try await place.run(["bash", "-c", command])
      // Hyphens at the ends of lines, and the lines, are those of groff.
      let text = place.read(".shell")
      #expect(status == 0 && place.read("problems").isEmpty, "\(page): \(place.read("problems"))")
      #expect(statuses.allSatisfy(text.contains) && text.contains("ENVIRONMENTCOREBLUETOOTH_ADAPTER"), "\(page)")
      let missing = verb.options.filter { !text.contains($0) }
      #expect(missing.isEmpty, "\(page): \(missing)")
    }
    let pages = try FileManager.default.contentsOfDirectory(atPath: "\(place.folder)/man1")
    #expect(pages.count == verbs.count && pages.count > 50)
  }
}
