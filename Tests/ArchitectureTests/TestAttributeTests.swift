import Testing

@Suite("Test attributes in source") struct TestAttributeTests {
  private func titles(_ text: String) -> [String] {
    TestAttributeReader.attributes(in: text).filter { $0.name == "Test" && $0.isEnabled }.compactMap(\.title)
  }

  @Test("The reader returns a title with its escapes, on the same or the next line, before arguments and traits")
  func places() {
    let text = #"""
      @Suite("s") struct S {
        @Test("one") func one() {}
        @Test(
          "two \"quoted\" \(name("x"))", .timeLimit(.minutes(1)), arguments: [(1, "a)"), (2, "b")])
        func two() {}
        @Test func three() {}
      }
      """#
    #expect(titles(text) == ["one", #"two \"quoted\" \(name("x"))"#])
    let names = TestAttributeReader.attributes(in: text).map(\.name)
    #expect(names == ["Suite", "Test", "Test", "Test"])
  }

  @Test("The reader ignores tests in comments, nested comments and strings")
  func hidden() {
    let text = #"""
      // @Test("a") func a() {}
      /* @Test("b") /* @Test("c") */ @Test("d") */
      let text = "@Test(\"e\")"
      let more = """
        @Test("f")
        """
      let raw = ##"@Test("g")"##
      let inner = "\(value(of: "@Test"))"
      @Test("h") func h() {}
      """#
    #expect(titles(text) == ["h"])
  }

  @Test("A test with a disabling or a conditional trait does not count as enabled")
  func traits() {
    let text = #"""
      @Test("a", .disabled("later")) func a() {}
      @Test("b", .enabled(if: isThere)) func b() {}
      @Test("c .disabled", arguments: [".disabled"] /* .disabled */) func c() {}
      """#
    #expect(titles(text) == ["c .disabled"])
  }

  @Test("The reader returns the rows of the coverage tables that a test names")
  func shows() {
    let text = #"""
      @Test("a", .requirement("A001", "K002"), .symbol("CBUUID.init(string:)"), arguments: ["x"]) func a() {}
      @Test("b", arguments: [requirement("x")]) func b() {}
      """#
    let attributes = TestAttributeReader.attributes(in: text)
    #expect(attributes[0].shows == ["requirement": ["A001", "K002"], "symbol": ["CBUUID.init(string:)"]])
    #expect(attributes[1].shows.isEmpty)
  }

  @Test("The reader finds the tests of this package")
  func package() {
    #expect(Repository.testTitles.contains("The reader finds the tests of this package"))
    #expect(Repository.testTitles.count > 2_000)
  }
}
