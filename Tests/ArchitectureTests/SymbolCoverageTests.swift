import Testing

@Suite struct SymbolCoverageTests {
  /// One line of Documentation/Coverage-Symbols.tsv.
  struct Row {
    var area: String
    var symbol: String
    var kind: String
    var state: String
    /// For "works" the sentences of tests, with " | " between them; for "decided otherwise" the reason.
    var evidence: String
  }

  static func rows() throws -> [Row] {
    try Repository.table("Documentation/Coverage-Symbols.tsv").map { cells in
      try #require(cells.count == 5, "\(cells)")
      return Row(area: cells[0], symbol: cells[1], kind: cells[2], state: cells[3], evidence: cells[4])
    }
  }

  @Test("The table answers each of the 360 symbols of Apple's API once, in the inventory's order")
  func symbolsAreComplete() throws {
    let inventory = try Repository.table("Tests/APIInventory/core-symbols.tsv")
    #expect(inventory.count == 360)
    #expect(try Self.rows().map { [$0.area, $0.symbol, $0.kind] } == inventory)
  }

  @Test("A symbol that works names tests that exist")
  func symbolsAreTested() throws {
    let sentences = Set(Repository.testSentences)
    for row in try Self.rows() where row.state == "works" {
      for sentence in row.evidence.split(separator: " | ", omittingEmptySubsequences: false) {
        #expect(sentences.contains(String(sentence)), "\(row.symbol): no test is called \"\(sentence)\"")
      }
    }
  }

  @Test("A symbol that is decided otherwise says why, and one that is open says nothing")
  func symbolStatesAreExplained() throws {
    for row in try Self.rows() {
      switch row.state {
      case "works", "decided otherwise": #expect(!row.evidence.isEmpty, "\(row.symbol)")
      case "not yet": #expect(row.evidence.isEmpty, "\(row.symbol)")
      default: Issue.record("\(row.symbol) is in the state \"\(row.state)\"")
      }
    }
  }
}
