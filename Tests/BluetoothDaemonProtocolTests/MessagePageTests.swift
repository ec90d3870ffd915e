import Foundation
import Testing

@testable import BluetoothDaemonProtocol

/// The page of the protocol. `COREBLUETOOTH_WRITE_GOLDEN=1` writes its tables.
@Suite("The page of the messages")
struct MessagePageTests {
  private static let rewrites = ProcessInfo.processInfo.environment["COREBLUETOOTH_WRITE_GOLDEN"] == "1"
  private static let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("Documentation/Server-protocol.md")

  @Test("The tables of the page are those of the rows")
  func tables() throws {
    let (start, end) = ("<!-- messages -->\n", "<!-- end of messages -->")
    var text = try String(contentsOf: Self.file, encoding: .utf8)
    let first = try #require(text.range(of: start))
    let last = try #require(text.range(of: end))
    let tables = MessagePage().text
    if Self.rewrites {
      text.replaceSubrange(first.upperBound..<last.lowerBound, with: tables)
      try text.write(to: Self.file, atomically: true, encoding: .utf8)
    }
    #expect(text.contains(start + tables + end))
  }

  @Test("Every message of the page has a meaning, and every type of a field has words")
  func words() {
    let page = MessagePage()
    for message in page.groups.flatMap(\.messages) { #expect(!message.meaning.isEmpty, "\(message.name)") }
    for structure in page.structures { #expect(!structure.fields.isEmpty, "\(structure.name)") }
    for enumeration in page.enumerations {
      #expect(Set(enumeration.cases.map(\.number)).count == enumeration.cases.count, "\(enumeration.name)")
    }
  }
}
