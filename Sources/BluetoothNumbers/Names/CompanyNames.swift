/// The companies that the SIG gave codes to, in code order: a name is found by counting lines in its block.
///
/// One text for 50 names costs what its octets cost. A table of strings or a switch over 4,000 cases would be several times
/// as large, and no faster where it matters: to show a name to somebody.
enum CompanyNames {
  private static let codesPerBlock = 50
  private static let blocks =
    blocks0 + blocks1 + blocks2 + blocks3 + blocks4 + blocks5 + blocks6 + blocks7 + blocks8 + blocks9 + blocks10

  /// nil for a code that nobody has.
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
