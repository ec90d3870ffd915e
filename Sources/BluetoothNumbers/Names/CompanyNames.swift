/// The names of the companies with an assigned company identifier, in the order of the identifiers. A name is looked
/// up by counting lines in its block.
///
/// A single string for 50 names takes no more space than its octets. A table of strings or a switch over 4,000 cases
/// would be several times as large. It would also be no faster for the only purpose, display.
enum CompanyNames {
  private static let codesPerBlock = 50
  private static let blocks =
    blocks0 + blocks1 + blocks2 + blocks3 + blocks4 + blocks5 + blocks6 + blocks7 + blocks8 + blocks9 + blocks10

  /// Returns the company's name; nil if the identifier is not assigned.
  static func name(of code: UInt16) -> String? {
    let (block, line) = Int(code).quotientAndRemainder(dividingBy: codesPerBlock)
    guard block < blocks.count else { return nil }
    return blocks[block].withUTF8Buffer { text in
      var start = 0
      for _ in 0..<line {
        guard let end = text[start...].firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        start = end + 1
      }
      let end = text[start...].firstIndex(of: UInt8(ascii: "\n")) ?? text.endIndex
      return start == end ? nil : String(decoding: text[start..<end], as: UTF8.self)
    }
  }
}
