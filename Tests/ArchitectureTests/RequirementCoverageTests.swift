import Testing

@Suite struct RequirementCoverageTests {
  /// One line of Documentation/Coverage-Requirements.tsv.
  struct Row {
    var id: String
    var requirement: String
    var state: String
    /// For "works" the sentences of tests, with " | " between them; for "decided otherwise" the reason.
    var evidence: String
  }

  static func rows() throws -> [Row] {
    try Repository.table("Documentation/Coverage-Requirements.tsv").map { cells in
      try #require(cells.count == 4, "\(cells)")
      return Row(id: cells[0], requirement: cells[1], state: cells[2], evidence: cells[3])
    }
  }

  @Test(
    "The table answers every requirement once: 103 on architecture, 49 of the guide, 53 on classes, 217 on the radio")
  func complete() throws {
    var expected: [String] = []
    for (letter, count) in [("A", 103), ("G", 49), ("K", 53), ("L", 217)] {
      for number in 1...count { expected.append(letter + String(1000 + number).dropFirst()) }
    }
    let rows = try Self.rows()
    #expect(rows.map(\.id) == expected)
    #expect(rows.allSatisfy { !$0.requirement.isEmpty })
  }

  @Test("A requirement that works names tests that exist")
  func worksIsTested() throws {
    let sentences = Set(Repository.testSentences)
    for row in try Self.rows() where row.state == "works" {
      for sentence in row.evidence.split(separator: " | ", omittingEmptySubsequences: false) {
        #expect(sentences.contains(String(sentence)), "\(row.id): no test is called \"\(sentence)\"")
      }
    }
  }

  @Test("What is decided otherwise says why, and what is open says nothing")
  func statesAreExplained() throws {
    for row in try Self.rows() {
      switch row.state {
      case "works", "decided otherwise": #expect(!row.evidence.isEmpty, "\(row.id)")
      case "not yet": #expect(row.evidence.isEmpty, "\(row.id)")
      default: Issue.record("\(row.id) is in the state \"\(row.state)\"")
      }
    }
  }
}
