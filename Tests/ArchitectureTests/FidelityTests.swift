import Testing

@Suite struct FidelityTests {
  /// The quoted texts in the last column of the rows of Documentation/Fidelity.md.
  static func sentences() throws -> [(row: String, sentence: String)] {
    try Repository.text("Documentation/Fidelity.md").split(separator: "\n")
      .filter { $0.hasPrefix("| ") && !$0.hasPrefix("| ---") }
      .flatMap { line -> [(String, String)] in
        let cells = line.split(separator: "|")
        return (cells.last ?? "").matches(of: /"([^"]+)"/).map { (String(cells[0]), String($0.1)) }
      }
  }

  @Test("Fidelity.md names tests that exist")
  func testsExist() throws {
    let known = Set(Repository.testTitles)
    let named = try Self.sentences()
    #expect(named.count > 100)
    for (row, sentence) in named { #expect(known.contains(sentence), "\(row): no test is called \"\(sentence)\"") }
  }

  @Test("Each row of Fidelity.md that claims real or modelled behaviour names a test")
  func rowsAreShown() throws {
    for line in try Repository.text("Documentation/Fidelity.md").split(separator: "\n") where line.hasPrefix("| ") {
      let cells = line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast()
        .map { $0.drop { $0 == " " } }
      guard cells.count == 4, let claim = cells.dropFirst().first, let last = cells.last,
        claim.hasPrefix("real") || claim.hasPrefix("modelled") || claim.hasPrefix("chosen")
      else { continue }
      #expect(last.contains("\""), "\(cells[0])")
    }
  }
}
