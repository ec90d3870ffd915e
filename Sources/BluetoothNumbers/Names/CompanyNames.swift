/// The names of the companies with an assigned company identifier, in the order of the identifiers: blocks of 50 lines,
/// one name per line. The lookup of a name counts the lines in its block.
///
/// One string per block takes no more space than its octets. A table of strings or a switch over 4,000 cases would be
/// several times as large. The names are for display only, so the speed of the lookup does not matter.
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
