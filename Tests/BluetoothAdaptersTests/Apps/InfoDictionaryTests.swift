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

  @Test("A wrong value is reported with file, line and key, and a wrong text with its line")
  func problems() {
    let number = problem(Array((Self.head + "<key>CFBundleIdentifier</key>\n<integer>3</integer></dict></plist>").utf8))
    #expect(number?.hasPrefix("/App/Info.plist:4: CFBundleIdentifier: ") == true, "\(number ?? "none")")
    let mode = problem(
      Array((Self.head + "<key>a</key><true/>\n<key>UIBackgroundModes</key>\n<string>x</string></dict></plist>").utf8))
    #expect(mode?.hasPrefix("/App/Info.plist:5: UIBackgroundModes: ") == true, "\(mode ?? "none")")
    let tag = problem(Array((Self.head + "<key>a</key>\n<strin>3</string></dict></plist>").utf8))
    #expect(tag?.hasPrefix("/App/Info.plist:5: not a property list: ") == true, "\(tag ?? "none")")
    let empty = problem(Array((Self.head + "<key>CFBundleIdentifier</key>\n<string></string></dict></plist>").utf8))
    #expect(empty == "/App/Info.plist:4: CFBundleIdentifier: the text is empty")
    for text in ["", "text", "bplist00", Self.head + "<key>", "<plist><array/></plist>"] {
      #expect(problem(Array(text.utf8))?.hasPrefix("/App/Info.plist: not a property list") == true, "\(text)")
    }
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
