import BluetoothWire
import Foundation

/// A text table whose columns are as wide as their widest cell.
struct TextTable {
  private var rows: [[String]]

  init(_ header: [String]) { rows = [header] }

  var isEmpty: Bool { rows.count == 1 }

  mutating func add(_ row: [String]) { rows.append(row.map(\.printable)) }

  var text: String {
    let widths = (rows.first ?? []).indices.map { column in rows.map { $0[column].columns }.max() ?? 0 }
    return rows.map { row in
      let cells = row.enumerated().map { index, cell in
        index == row.count - 1 ? cell : cell + String(repeating: " ", count: widths[index] - cell.columns)
      }
      return cells.joined(separator: "  ")
    }.joined(separator: "\n")
  }
}
