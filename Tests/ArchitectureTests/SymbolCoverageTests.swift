import Testing

@Suite struct SymbolCoverageTests {
  /// One line of Documentation/Coverage-Symbols.tsv.
  struct Row {
    var area: String
    var symbol: String
    var kind: String
    var claim: CoverageClaim
  }

  static func rows() throws -> [Row] {
    try Repository.table("Documentation/Coverage-Symbols.tsv").map { cells in
      try #require(cells.count == 6, "\(cells)")
      return Row(
        area: cells[0], symbol: cells[1], kind: cells[2],
        claim: CoverageClaim(subject: cells[1], state: cells[3], evidence: cells[4], proves: cells[5]))
    }
  }

  @Test("The table lists each of the 360 symbols of Apple's API once, in the inventory's order")
  func symbolsAreComplete() throws {
    let inventory = try Repository.table("Tests/APIInventory/core-symbols.tsv")
    #expect(inventory.count == 360)
    #expect(try Self.rows().prefix(360).map { [$0.area, $0.symbol, $0.kind] } == inventory)
  }

  @Test("The table ends with the 15 optional symbols: those of iOS 27, and the one with a type of Core Foundation")
  func optionalSymbolsAreComplete() throws {
    let inventory = try Repository.table("Tests/APIInventory/optional-symbols.tsv")
    #expect(inventory.count == 15)
    #expect(try Self.rows().dropFirst(360).map { [$0.area, $0.symbol, $0.kind] } == inventory)
  }

  @Test("A symbol that works names enabled tests and says what they show")
  func symbolsAreShown() throws {
    let titles = Set(Repository.testTitles)
    for row in try Self.rows() { row.claim.expectShown(by: titles) }
  }

  @Test("A symbol that is decided otherwise gives the reason, and an open one claims nothing")
  func symbolStatesAreConsistent() throws {
    for row in try Self.rows() { row.claim.expectConsistent() }
  }
}
