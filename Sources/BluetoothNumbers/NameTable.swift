import CBluetoothNumbers

/// A table of names, which `Scripts/generate-assigned-numbers` writes: a line for each number, in the order of the
/// numbers, with four hexadecimal digits, a tab and the name.
///
/// The tables are text in the program, which needs neither pointers nor initialization. A switch over them is several
/// times as large.
struct NameTable {
  private let text: UnsafeBufferPointer<UInt8>

  private init(_ names: bluetooth_names) {
    text = UnsafeBufferPointer(start: names.octets, count: names.count)
  }

  static var uuids: NameTable { NameTable(bluetooth_uuid_names()) }
  static var appearances: NameTable { NameTable(bluetooth_appearance_names()) }
  static var companies: NameTable { NameTable(bluetooth_company_names()) }

  /// Returns the name of a number; nil if the table has none.
  func name(of number: UInt16) -> String? {
    // The line of the number begins in this range, if the table has one.
    var lines = text.startIndex..<text.endIndex
    while !lines.isEmpty {
      let start = lineStart(before: lines.lowerBound + lines.count / 2, from: lines.lowerBound)
      let end = text[start...].firstIndex(of: UInt8(ascii: "\n")) ?? text.endIndex
      let found = self.number(at: start)
      if found == number { return String(decoding: text[(start + 5)..<end], as: UTF8.self) }
      lines = found < number ? min(end + 1, lines.upperBound)..<lines.upperBound : lines.lowerBound..<start
    }
    return nil
  }

  /// Returns the beginning of the line that contains `index`.
  private func lineStart(before index: Int, from first: Int) -> Int {
    text[first..<index].lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? first
  }

  private func number(at start: Int) -> UInt16 {
    text[start..<(start + 4)].reduce(0) { $0 << 4 | UInt16($1 < 0x3A ? $1 - 0x30 : $1 - 0x37) }
  }
}
