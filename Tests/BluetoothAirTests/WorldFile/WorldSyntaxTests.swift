import BluetoothLab
import Foundation
import TestSupport
import Testing

@testable import BluetoothAir

@Suite("World files: YAML and JSON")
struct WorldSyntaxTests {
  @Test("A world is the same in YAML and in JSON")
  func jsonIsYAML() throws {
    let yaml = try WorldFile(
      text: """
        seed: 18446744073709551615
        environment: office   # a word
        devices:
          - name: 'strap'
            accessory: {kind: heart-rate, beatsPerMinute: 0x50}
            position: [1, -2.5]
        """)
    let json = try WorldFile(
      text: """
        {
        \t"seed": 18446744073709551615, "environment": "office",
        \t"devices": [ { "name": "strap", "accessory": { "kind": "heart-rate", "beatsPerMinute": 80 },
        \t\t"position": [1.0, -2.5e0] } ]
        }
        """)
    // All but the place of each value in the text.
    func facts(_ file: WorldFile) -> [String] {
      Mirror(reflecting: file).children.filter { $0.label != "source" }.map { "\($0)" }
    }
    #expect(facts(yaml) == facts(json))
    #expect(yaml.seed == .max)
    #expect(yaml.members.first?.options.position.y == -2.5)
  }

  @Test("A YAML error is reported with its line and column")
  func noYAML() {
    #expect(
      complaints("devices: [\nclients: 5\n") == [
        "w:3:1: invalid YAML: did not find expected ',' or ']' (while parsing a flow sequence at line 1)"
      ])
    #expect(complaints("seed: 1: 2") == ["w:1:8: invalid YAML: mapping values are not allowed in this context"])
    #expect(complaints("seed: 1\n\tfoo: 2").first?.hasPrefix("w:2:1: invalid YAML: ") ?? false)
    #expect(complaints("seed: \"\u{7}\"").first?.hasPrefix("w:1:8: invalid YAML: ") ?? false)
    #expect(complaints("seed: 1\n---\nseed: 2").first?.contains("another document") ?? false)
  }

  @Test("A syntax error of a file whose name ends with .json is one of JSON", arguments: ["w.json", "W.JSON"])
  func noJSON(name: String) {
    let failure = #expect(throws: WorldFileFailure.self) { try WorldFile(text: "{\"devices\": [", named: name) }
    #expect(failure?.description.contains(": invalid JSON: ") == true)
  }

  @Test("A file without contents is refused", arguments: ["", "# nothing\n", "--- \n...\n"])
  func nothing(text: String) {
    #expect(complaints(text).count == 1)
  }

  @Test("A duplicate field in an object is an error, even if quoted once")
  func duplicates() {
    #expect(complaints("seed: 1\nlosses: []\n\"seed\": 2") == ["w:1:1: duplicate field \"seed\""])
  }

  @Test("Anchors and aliases are refused with their place")
  func anchors() {
    let refusal = "anchors (&) and aliases (*) are not supported; quote text that begins with & or *"
    #expect(complaints("seed: &one 1") == ["w:1:7: " + refusal])
    #expect(complaints("seed: *one") == ["w:1:7: " + refusal])
    #expect(complaints("devices:\n  - name: *name\n") == ["w:2:11: " + refusal])
    #expect(complaints("{\"seed\":*a}") == ["w:1:9: " + refusal])
  }

  @Test("The characters of anchors and aliases are allowed within text, in quotes and in comments")
  func ampersands() throws {
    let file = try WorldFile(
      text: """
        # *not* an alias, &nor an anchor
        devices:
          - {name: Tom &Jerry *1*, accessory: {kind: battery, localName: "&co"}}
        """)
    #expect(file.members.first?.name == "Tom &Jerry *1*")
    #expect("\(file.members[0].accessory)".contains("\"&co\""))
    #expect(complaints("devices: [{name: a, accessory: x *y}]").first?.contains("got \"x *y\"") ?? false)
  }

  @Test("Nested aliases that expand to billions of values are refused at once, as values and as keys")
  func aliasBombs() {
    var values = "a0: &a0 [x, x]\n"
    for level in 1...40 { values += "a\(level): &a\(level) [*a\(level - 1), *a\(level - 1)]\n" }
    #expect(complaints(values).first?.contains("anchors (&)") ?? false)
    #expect(complaints(values + "? *a40\n: 1\n").count == 1)
  }

  @Test(
    "Characters for private use are text beside & and *, as they are and by escapes",
    arguments: [
      ("\u{E000}&\u{E001}*", "\u{E000}&\u{E001}*"), (#"\uE000&\ue001*"#, "\u{E000}&\u{E001}*"),
      (#"&\U0000E000*\U000F0000"#, "&\u{E000}*\u{F0000}"), ("*\u{E002}", "*\u{E002}"),
    ])
  func masks(written: String, text: String) throws {
    let file = try WorldFile(text: "devices: [{name: \"\(written)\", accessory: heart-rate}] # &")
    #expect(file.members.map(\.name) == [text])
  }

  @Test("A text with all characters for private use is refused")
  func noMasks() {
    var text = "# &"
    let ranges: [ClosedRange<UInt32>] = [0xE000...0xF8FF, 0xF0000...0xFFFFD, 0x100000...0x10FFFD]
    for value in ranges.joined() {
      if let scalar = Unicode.Scalar(value) { text.unicodeScalars.append(scalar) }
    }
    #expect(complaints(text) == ["w: the file has all characters for private use"])
  }

  @Test("Tags are refused", arguments: ["seed: !!int 5", "!world {}", "devices: !!seq []", "devices: !mine [1]"])
  func tags(text: String) {
    #expect(complaints(text).first?.contains("tags (!) are not supported") ?? false)
  }

  @Test("Lists and objects that are nested too deeply are refused", arguments: [33, 900, 100_000])
  func depth(levels: Int) {
    for (open, close) in [("[", "]"), ("{a: ", "}"), ("- ", "")] {
      let text = String(repeating: open, count: levels) + "1" + String(repeating: close, count: levels)
      #expect(complaints(text).count == 1, "\(open)")
    }
  }

  @Test("A list or an object as a key is refused, at any depth")
  func keys() {
    #expect(complaints("? [a, b]\n: 1")[0] == "w:1:3: expected text as the name of a field, got a list or an object")
    #expect(complaints(String(repeating: "? ", count: 2_000) + "a").count == 1)
  }

  @Test("A file of more than 4 MiB is refused before it is parsed")
  func size() throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let path = URL(fileURLWithPath: folder.file("world.yaml"))
    try Data(repeating: UInt8(ascii: "#"), count: WorldFile.maximumSize + 1).write(to: path)
    #expect(throws: WorldFileFailure.self) { try WorldFile(path: path.path) }
    #expect(complaints(String(repeating: "#", count: WorldFile.maximumSize + 1))[0].contains("4194304 octets"))
  }

  @Test("The error for a missing file, or one that is not UTF-8, names its path")
  func files() throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let path = URL(fileURLWithPath: folder.file("world.yaml"))
    func reason() -> String {
      do throws(WorldFileFailure) {
        _ = try WorldFile(path: path.path)
        return ""
      } catch {
        return error.description
      }
    }
    #expect(reason() == "\(path.path): can't read the file: No such file or directory")
    try Data([0x61, 0xFF]).write(to: path)
    #expect(reason() == "\(path.path): not valid UTF-8")
    try Data("\u{FEFF}seed: 1\n".utf8).write(to: path)
    #expect(reason() == "")
  }

  @Test("Any prefix of a file is read, or refused with a place within it")
  func cuts() throws {
    let text = try String(contentsOfFile: ExampleWorlds.path("weather-station"), encoding: .utf8)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).count
    for end in stride(from: 0, to: text.count, by: 7) {
      do throws(WorldFileFailure) {
        _ = try WorldFile(text: String(text.prefix(end)))
      } catch {
        #expect(!error.problems.isEmpty)
        #expect(error.problems.allSatisfy { 1...lines ~= $0.place?.line ?? 1 })
      }
    }
  }
}
