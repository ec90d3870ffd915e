import Testing

@Suite struct RequirementCoverageTests {
  /// One line of Documentation/Coverage-Requirements.tsv.
  struct Row {
    var id: String
    var requirement: String
    var claim: CoverageClaim
  }

  static func rows() throws -> [Row] {
    try Repository.table("Documentation/Coverage-Requirements.tsv").map { cells in
      try #require(cells.count == 5, "\(cells)")
      return Row(
        id: cells[0], requirement: cells[1],
        claim: CoverageClaim(subject: cells[0], state: cells[2], evidence: cells[3], proves: cells[4]))
    }
  }

  @Test(
    "The table lists each requirement once: 103 on architecture, 49 of the guide, 53 on classes, 217 on the radio")
  func complete() throws {
    var expected: [String] = []
    for (letter, count) in [("A", 103), ("G", 49), ("K", 53), ("L", 217)] {
      for number in 1...count { expected.append(letter + String(1000 + number).dropFirst()) }
    }
    let rows = try Self.rows()
    #expect(rows.map(\.id) == expected)
    #expect(rows.allSatisfy { !$0.requirement.isEmpty })
  }

  @Test("A requirement that works names enabled tests and says what they show")
  func worksIsShown() throws {
    let titles = Set(Repository.testTitles)
    for row in try Self.rows() { row.claim.expectShown(by: titles) }
  }

  @Test("A requirement that is decided otherwise gives the reason, and an open one claims nothing")
  func statesAreConsistent() throws {
    for row in try Self.rows() { row.claim.expectConsistent() }
  }
}
