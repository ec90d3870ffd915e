import Testing

@Suite struct PageTests {
  /// The greatest length of a line of prose, in characters.
  static let width = 100

  /// Returns the lines of prose, with their numbers, that are longer than `width`. Code between fences, tables and
  /// headings are no prose. The targets of links and URLs do not count: they can't be broken.
  static func longLines(of text: String) -> [(number: Int, text: Substring)] {
    var isCode = false
    var result: [(number: Int, text: Substring)] = []
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      let start = line.drop { $0 == " " }
      if start.hasPrefix("```") { isCode.toggle() }
      if isCode || start.hasPrefix("|") || start.hasPrefix("#") || line.count <= width { continue }
      let visible = line.replacing(/\]\([^)]*\)/, with: "]").replacing(/https?:\/\/\S+/, with: "")
      if visible.count > width { result.append((index + 1, line)) }
    }
    return result
  }

  @Test("No line of prose in a page is longer than 100 characters")
  func proseIsWrapped() throws {
    let pages = try Repository.pages()
    #expect(pages.count > 30)
    for page in pages {
      for line in Self.longLines(of: page.text) { Issue.record("\(page.path):\(line.number): \(line.text)") }
    }
  }

  @Test("Long lines are found in paragraphs and lists, and not in code, tables, headings and targets of links")
  func longLinesAreFound() {
    let long = String(repeating: "word ", count: 20) + "end"
    let lines = [
      long, "- " + long, "  " + long, "| " + long + " |", "## " + long, "```sh", long, "```", "[a page](\(long))",
      "See https://example.org/" + String(repeating: "a", count: 100), String(long.prefix(100)), long,
    ]
    #expect(Self.longLines(of: lines.joined(separator: "\n")).map(\.number) == [1, 2, 3, 12])
  }
}
