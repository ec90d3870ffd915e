import BluetoothWire
import Foundation
import TestSupport
import Testing

@testable import BluetoothAdapters

@Suite struct InfoDictionaryTests {
  private static let path = "/App/Info.plist"
  private static let head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<plist version=\"1.0\">\n<dict>\n"
  private static let full = """
    \(head)<key>CFBundleIdentifier</key>
    <string>com.example.scale</string>
    <key>UIBackgroundModes</key>
    <array>
      <string>audio</string>
      <string>bluetooth-central</string>
    </array>
    <key>NSBluetoothAlwaysUsageDescription</key>
    <string>To read your weight.</string>
    <key>LSMinimumSystemVersion</key>
    <real>1.5</real>
    </dict>
    </plist>
    """

  private func read(_ text: String) throws -> InfoDictionary {
    try InfoDictionary(octets: Array(text.utf8), path: Self.path)
  }

  private func problem(_ octets: [UInt8]) -> String? {
    do throws(InfoDictionary.Problem) {
      _ = try InfoDictionary(octets: octets, path: Self.path)
      return nil
    } catch {
      return error.description
    }
  }

  @Test("An Info.plist in XML or binary gives the bundle identifier, the background modes and the usage description")
  func values() throws {
    let info = try read(Self.full)
    #expect(info.bundleIdentifier == "com.example.scale")
    #expect(info.manifest.backgroundModes == [.central])
    #expect(info.manifest.usageDescription == "To read your weight.")
    let object = try PropertyListSerialization.propertyList(from: Data(Self.full.utf8), format: nil)
    let binary = try PropertyListSerialization.data(fromPropertyList: object, format: .binary, options: 0)
    #expect(try InfoDictionary(octets: Array(binary), path: Self.path) == info)
    let empty = try read(Self.head + "</dict></plist>")
    #expect(empty.bundleIdentifier == nil)
    #expect(empty.manifest.backgroundModes.isEmpty)
    #expect(empty.manifest.usageDescription == nil)
  }

  @Test("An app sets accessories up if one of the two keys of AccessorySetupKit has Bluetooth")
  func accessories() throws {
    for (key, transport, expected) in [
      ("NSAccessorySetupSupports", "Bluetooth", true), ("NSAccessorySetupKitSupports", "Bluetooth", true),
      ("NSAccessorySetupSupports", "WiFi", false),
    ] {
      let list = "<key>\(key)</key><array><string>\(transport)</string></array>"
      #expect(try read(Self.head + list + "</dict></plist>").manifest.setsUpAccessories == expected, "\(key)")
    }
    #expect(try read(Self.full).manifest.setsUpAccessories == false)
  }

  @Test("A wrong value is reported with file, line and key, and a wrong text with its line")
  func problems() {
    let number = problem(Array((Self.head + "<key>CFBundleIdentifier</key>\n<integer>3</integer></dict></plist>").utf8))
    #expect(number?.hasPrefix("/App/Info.plist:4: CFBundleIdentifier: ") == true, "\(number ?? "none")")
    let mode = problem(
      Array((Self.head + "<key>a</key><true/>\n<key>UIBackgroundModes</key>\n<string>x</string></dict></plist>").utf8))
    #expect(mode?.hasPrefix("/App/Info.plist:5: UIBackgroundModes: ") == true, "\(mode ?? "none")")
    let tag = problem(Array((Self.head + "<key>a</key>\n<strin>3</string></dict></plist>").utf8))
    #expect(tag == "/App/Info.plist:5: a: not a property list: <strin> is not a tag of property lists")
    let empty = problem(Array((Self.head + "<key>CFBundleIdentifier</key>\n<string></string></dict></plist>").utf8))
    #expect(empty == "/App/Info.plist:4: CFBundleIdentifier: the text is empty")
    for text in ["", "text", "bplist00", "<plist><array/></plist>"] {
      #expect(problem(Array(text.utf8))?.hasPrefix("/App/Info.plist: not a property list") == true, "\(text)")
    }
  }

  @Test("A bundle identifier consists of letters, digits, hyphens and periods, if it names an app")
  func identifiers() throws {
    func octets(_ identifier: String) -> [UInt8] {
      Array((Self.head + "<key>CFBundleIdentifier</key>\n<string>\(identifier)</string></dict></plist>").utf8)
    }
    let longest = String(repeating: "a", count: 512)
    for identifier in ["com.example.Scale-2", "tool", longest] {
      #expect(try InfoDictionary(octets: octets(identifier), path: Self.path).bundleIdentifier == identifier)
    }
    let line =
      "/App/Info.plist:4: CFBundleIdentifier: expected letters, digits, hyphens and periods, at most 512 octets"
    let wrong = [
      "/bin/sh", "unknown program", "com.example.tool@1000", "com.exämple", "com_example", "a\nb", longest + "a",
      String(repeating: "a", count: 20_000), "$(PRODUCT_BUNDLE_IDENTIFIER)",
    ]
    for identifier in wrong {
      #expect(problem(octets(identifier)) == line, "\(identifier.prefix(20))")
      let info = try InfoDictionary(octets: octets(identifier), path: Self.path, usesIdentifier: false)
      #expect(info.bundleIdentifier == identifier)
    }
  }

  @Test(
    "The first fault of a property list has a line, a key and a reason",
    arguments: [
      // A missing end tag, of a value, of a container and of a key.
      ("<key>a</key>\n<string>x\n</dict></plist>", "6: a: …</dict> is not the end of <string> of line 5"),
      ("<key>a</key>\n<array>\n<true/></dict></plist>", "6: a: …</dict> is not the end of <array> of line 5"),
      ("<key>a\n<true/></dict></plist>", "5: …<true> is in <key> of line 4, which contains text only"),
      // The end of the file in a container, in a tag, and in a comment.
      ("<key>a</key>\n<true/>\n", "6: a: …the file ends before </dict>; <dict> is in line 3"),
      ("<key>a</key>\n<stri", "5: a: …the file ends in the tag that begins in line 5"),
      ("<key>", "4: …the file ends before </key>; <key> is in line 4"),
      ("<key>a</key><!-- b\n", "4: a: …the file ends in the tag that begins in line 4"),
      // A key without a value, and a value without a key.
      ("<key>a</key>\n<key>b</key><true/></dict></plist>", "5: a: …the key has no value"),
      ("<key>a</key>\n\n</dict></plist>", "6: a: …the key has no value"),
      ("<key>a</key><true/>\n<string>b</string></dict></plist>", "5: a: …<string> has no <key> before it"),
      ("<key>a</key><array>\n<key>b</key></array></dict></plist>", "5: a: …<key> is not in a <dict>"),
      // Tags, text and numbers.
      ("<key>a</key>\n<True/></dict></plist>", "5: a: …<True> is not a tag of property lists"),
      ("</dict>\n</dict></plist>", "5: …</dict> is not the end of <plist> of line 2"),
      ("<key>a</key>\n<string>b & c</string></dict></plist>", "5: a: …& is not part of a reference such as &amp;"),
      ("<key>a</key>\n<integer>x</integer></dict></plist>", "5: a: …<integer> contains no number"),
      ("<key>a</key>\n<real>x</real></dict></plist>", "5: a: …<real> contains no number"),
    ])
  func faults(text: String, line: String) throws {
    let fault = try #require(PropertyListFault(in: Array((Self.head + text).utf8)))
    #expect("\(fault.line): \(fault.key.map { "\($0): " } ?? "")…\(fault.reason)" == line)
  }

  @Test("XML that is not well-formed is reported with file, line and key")
  func malformed() {
    func check(_ text: String, _ line: String) {
      #expect(problem(Array((Self.head + text).utf8)) == "/App/Info.plist:" + line)
    }
    check(
      "<key>a</key>\n<string>x\n</dict></plist>",
      "6: a: not a property list: </dict> is not the end of <string> of line 5")
    check(
      "<key>a</key>\n<true/>\n", "6: a: not a property list: the file ends before </dict>; <dict> is in line 3")
    check("<key>a</key>\n<key>b</key><true/></dict></plist>", "5: a: not a property list: the key has no value")
    check("<key>", "4: not a property list: the file ends before </key>; <key> is in line 4")
  }

  @Test("Comments, declarations, CDATA and references are no faults, and a text without tags has no line")
  func wellFormed() {
    let text = """
      <?xml version="1.0"?>
      <!DOCTYPE plist PUBLIC "a" "b" [ <!ENTITY c "d"> ]>
      <plist version="1.0"><!-- <dict> -->
      <dict><key>a &lt; &#66;&#x43;</key><string><![CDATA[<dict>]]></string>
      <key>b</key><integer> -0x1F </integer><key>c</key><real>1e3</real><key/><array/></dict>
      </plist>
      """
    #expect(PropertyListFault(in: Array(text.utf8)) == nil)
    #expect(PropertyListFault(in: Array("{ a = b; }".utf8)) == nil)
    #expect(PropertyListFault(in: Array("<plist>".utf16.flatMap { [UInt8($0), 0] })) == nil)
  }

  @Test("A text with very many nested lists is refused before Foundation reads it recursively")
  func nesting() {
    let deep = Self.head + "<key>a</key>" + String(repeating: "<array>", count: 8_000)
    #expect(problem(Array(deep.utf8)) == "/App/Info.plist: more than 1000 arrays and dictionaries")
  }

  @Test("Any octets give a value or a problem")
  func anyOctets() {
    var random = RandomStream(seed: 7)
    let octets = Array(Self.full.utf8)
    for _ in 0..<500 {
      var changed = octets
      for _ in 0..<3 { changed[Int.random(in: changed.indices, using: &random)] = .random(in: 0...255, using: &random) }
      if let line = problem(changed) { #expect(line.hasPrefix(Self.path)) }
    }
  }

  @Test("Only a regular file of limited length is read, and a missing one is told apart")
  func files() throws {
    let folder = try TemporaryFolder()
    func problem(_ path: String) -> InfoDictionary.Problem? {
      do throws(InfoDictionary.Problem) {
        _ = try InfoDictionary(path: path)
        return nil
      } catch {
        return error
      }
    }
    #expect(problem(folder.file("none"))?.isMissing == true)
    #expect(problem("/dev/zero")?.description == "/dev/zero: not a regular file")
    let path = folder.file("Info.plist")
    try Data(Self.full.utf8).write(to: URL(fileURLWithPath: path))
    #expect(try InfoDictionary(path: path).bundleIdentifier == "com.example.scale")
    try Data(repeating: 0x20, count: 65_537).write(to: URL(fileURLWithPath: path))
    #expect(problem(path)?.description == "\(path): longer than 65536 octets")
  }
}
