import Testing

@Suite struct RequirementCoverageTests {
  @Test(
    "The table lists each requirement once: 103 on architecture, 49 of the guide, 53 on classes, 218 on the radio")
  func complete() throws {
    var expected: [String] = []
    for (letter, count) in [("A", 103), ("G", 49), ("K", 53), ("L", 218)] {
      for number in 1...count { expected.append(letter + String(1000 + number).dropFirst()) }
    }
    let rows = try CoverageTable.requirement.rows()
    #expect(rows.map(\.claim.subject) == expected)
    #expect(rows.allSatisfy { !$0.cells[1].isEmpty })
  }
}
