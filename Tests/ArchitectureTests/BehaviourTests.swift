import Testing

@Suite("Numbered behaviours of Apple's framework") struct BehaviourTests {
  /// The number of items in each section. Sections 8 (UUIDs) and 9 (errors) have no numbered items, and their tests
  /// have the section's number. Section 7 is state restoration, which is not implemented.
  static let items = [1: 11, 2: 8, 3: 14, 4: 18, 5: 3, 6: 16]

  /// The items without a test. Documentation/Design.md gives the reasons.
  static let untested: Set<String> = ["1.10", "2.8"]

  @Test("Each numbered behaviour is in a test's title, except those that Design.md lists")
  func numbered() throws {
    let titles = Repository.testAttributes
      .filter { $0.path.hasPrefix("Tests/CoreBluetoothTests/") || $0.path.hasPrefix("Tests/BluetoothDaemonTests/") }
      .compactMap(\.attribute.title)
    let numbers = Set(titles.flatMap { $0.matches(of: /\b\d\.\d+\b/).map { String($0.output) } })
    let design = try Repository.text("Documentation/Design.md")
    for (section, count) in Self.items {
      for item in (1...count).map({ "\(section).\($0)" }) {
        #expect(numbers.contains(item) != Self.untested.contains(item), "\(item)")
      }
    }
    for item in Self.untested { #expect(design.contains("| \(item) |"), "Design.md does not list \(item)") }
    for section in ["8 ", "9 "] { #expect(titles.contains { $0.hasPrefix(section) }) }
  }
}
