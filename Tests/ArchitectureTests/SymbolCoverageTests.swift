import Testing

@Suite struct SymbolCoverageTests {
  @Test("The table lists each of the 360 symbols of Apple's API once, in the inventory's order")
  func symbolsAreComplete() throws {
    let inventory = try Repository.table("Tests/APIInventory/core-symbols.tsv")
    #expect(inventory.count == 360)
    #expect(try CoverageTable.symbol.rows().prefix(360).map { Array($0.cells.prefix(3)) } == inventory)
  }

  @Test("The table ends with the 15 optional symbols: those of iOS 27, and the one with a type of Core Foundation")
  func optionalSymbolsAreComplete() throws {
    let inventory = try Repository.table("Tests/APIInventory/optional-symbols.tsv")
    #expect(inventory.count == 15)
    #expect(try CoverageTable.symbol.rows().dropFirst(360).map { Array($0.cells.prefix(3)) } == inventory)
  }
}
