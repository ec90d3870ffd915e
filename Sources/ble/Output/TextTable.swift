import BluetoothWire
import Foundation

/// A text table whose columns are as wide as their widest cell.
struct TextTable {
  private var rows: [[String]]

  init(_ header: [String]) { rows = [header] }

  var isEmpty: Bool { rows.count == 1 }

  mutating func add(_ row: [String]) { rows.append(row.map(\.printable)) }

  var lines: [String] { lines(of: widths) }
  var text: String { lines.joined(separator: "\n") }

  /// The space between two columns of the table.
  private static let gap = "  "

  /// The width of the widest cell of each column.
  private var widths: [Int] {
    (rows.first ?? []).indices.map { column in rows.map { $0[column].columns }.max() ?? 0 }
  }

  /// Returns the lines of the table, of which columns are narrowed until it fits: cells that are then too long end with
  /// an ellipsis.
  ///
  /// - Parameters:
  ///   - columns: the number of columns of the terminal for a line. If the steps are not enough, lines are longer.
  ///   - steps: the least widths of columns of the table, by their indices. A step begins when the one before is not
  ///     enough, and narrows the widest one of its columns first.
  func lines(fitting columns: Int, narrowing steps: [[Int: Int]]) -> [String] {
    var widths = widths
    let gaps = Self.gap.count * max(0, widths.count - 1)
    for step in steps {
      while widths.reduce(gaps, +) > columns {
        let narrowable = step.filter { widths[$0.key] > $0.value }.keys
        // Of two columns with one width, the first one, because a dictionary has no order.
        let widest = narrowable.max { widths[$0] == widths[$1] ? $0 > $1 : widths[$0] < widths[$1] }
        guard let widest else { break }
        widths[widest] -= 1
      }
    }
    return lines(of: widths)
  }

  /// Returns the table in blocks below each other, of which each fits: columns that have no room go to the next block,
  /// behind the columns that name the row.
  ///
  /// - Parameters:
  ///   - columns: the number of columns of the terminal for a line; nil: there is no limit.
  ///   - keys: the number of columns of the table that name a row.
  func blocks(fitting columns: Int?, keys: Int) -> String {
    guard let columns else { return text }
    let widths = widths
    func width(_ block: [Int]) -> Int { block.reduce(-Self.gap.count) { $0 + widths[$1] + Self.gap.count } }
    let names = Array(0..<min(keys, widths.count))
    var blocks: [[Int]] = [names]
    for column in names.count..<max(names.count, widths.count) {
      if width(blocks[blocks.count - 1] + [column]) > columns, blocks[blocks.count - 1].count > names.count {
        blocks.append(names)
      }
      blocks[blocks.count - 1].append(column)
    }
    return blocks.map { block in
      var part = TextTable(block.map { rows[0][$0] })
      part.rows += rows.dropFirst().map { row in block.map { row[$0] } }
      return part.text
    }
    .joined(separator: "\n\n")
  }

  private func lines(of widths: [Int]) -> [String] {
    rows.map { row in
      let cells = row.enumerated().map { index, cell in
        let cell = cell.shortened(to: widths[index])
        return index == row.count - 1 ? cell : cell + String(repeating: " ", count: widths[index] - cell.columns)
      }
      return cells.joined(separator: Self.gap)
    }
  }
}
