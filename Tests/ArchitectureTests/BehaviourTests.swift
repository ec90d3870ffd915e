import Testing

@Suite("Numbered behaviours of Apple's framework") struct BehaviourTests {
  /// The number of items in each section. Sections 7 (state restoration), 8 (UUIDs) and 9 (errors) have no numbered
  /// items, and their tests have the section's number.
  static let items = [1: 11, 2: 8, 3: 14, 4: 18, 5: 3, 6: 16]

  @Test("Each numbered behaviour is in a test's title")
  func numbered() {
    let folders = ["Tests/CoreBluetoothTests/", "Tests/BluetoothDaemonTests/", "Tests/BluetoothLabTests/Apps/"]
    let titles = Repository.testAttributes
      .filter { test in folders.contains { test.path.hasPrefix($0) } }
      .compactMap(\.attribute.title)
    let numbers = Set(titles.flatMap { $0.matches(of: /\b\d\.\d+\b/).map { String($0.output) } })
    for (section, count) in Self.items {
      for item in (1...count).map({ "\(section).\($0)" }) {
        #expect(numbers.contains(item), "\(item)")
      }
    }
    for section in ["7 ", "8 ", "9 "] { #expect(titles.contains { $0.hasPrefix(section) }) }
  }
}
