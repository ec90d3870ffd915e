import CBluetoothNumbers

/// A table of names, which `Scripts/generate-assigned-numbers` writes: a line for each number, in the order of the
/// numbers, with four hexadecimal digits, a tab and the name.
///
/// The tables are text in the program, which needs neither pointers nor initialization. A switch over them is several
/// times as large.
struct NameTable {
  private static let newline = UInt8(ascii: "\n")

  private let text: UnsafeBufferPointer<UInt8>

  private init(_ names: bluetooth_names) {
    text = UnsafeBufferPointer(start: names.octets, count: names.count)
  }

  static var uuids: NameTable { NameTable(bluetooth_uuid_names()) }
  static var appearances: NameTable { NameTable(bluetooth_appearance_names()) }
  static var companies: NameTable { NameTable(bluetooth_company_names()) }

  // Builds without optimization search here, too, so loops stand where algorithms of collections would be slow.

  /// Returns the name of a number; nil if the table has none.
  func name(of number: UInt16) -> String? {
    // The line of the number begins in this range, if the table has one.
    var lines = text.startIndex..<text.endIndex
    while !lines.isEmpty {
      var start = lines.lowerBound + lines.count / 2
      while start > lines.lowerBound, text[start - 1] != Self.newline { start -= 1 }
      let found = self.number(at: start)
      if found == number { return name(at: start) }
      lines = found < number ? min(end(of: start) + 1, lines.upperBound)..<lines.upperBound : lines.lowerBound..<start
    }
    return nil
  }

  /// All numbers with their names.
  var rows: [(code: UInt16, name: String)] {
    var rows: [(code: UInt16, name: String)] = []
    var start = text.startIndex
    while start < text.endIndex {
      rows.append((number(at: start), name(at: start)))
      start = end(of: start) + 1
    }
    return rows
  }

  /// Returns the end of the line that begins at `start`.
  private func end(of start: Int) -> Int {
    var end = start
    while end < text.endIndex, text[end] != Self.newline { end += 1 }
    return end
  }

  private func name(at start: Int) -> String { String(decoding: text[(start + 5)..<end(of: start)], as: UTF8.self) }

  private func number(at start: Int) -> UInt16 {
    var number: UInt16 = 0
    for index in start..<(start + 4) {
      let digit = UInt16(text[index])
      number = number << 4 | (digit < 0x3A ? digit - 0x30 : digit - 0x37)
    }
    return number
  }
}
