/// Prints lines under headings, in columns of the necessary width; the output is also valid Markdown.
struct Table {
  var headings: [String]
  var rows: [[String]] = []

  func text() -> String {
    let widths = headings.indices.map { column in
      ([headings] + rows).map { $0[column].count }.max() ?? 0
    }
    func line(_ cells: [String]) -> String {
      let padded = zip(cells, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
      return "| " + padded.joined(separator: " | ") + " |"
    }
    let rule = "| " + widths.map { String(repeating: "-", count: $0) }.joined(separator: " | ") + " |"
    return ([line(headings), rule] + rows.map(line)).joined(separator: "\n")
  }
}

extension Int {
  /// The number with a comma between groups of three digits.
  var grouped: String {
    let digits = String(magnitude)
    var text = ""
    for (index, digit) in digits.enumerated() {
      if index > 0 && (digits.count - index) % 3 == 0 { text.append(",") }
      text.append(digit)
    }
    return self < 0 ? "-" + text : text
  }
}

extension Double {
  /// Returns the number with `digits` digits after the decimal point.
  func rounded(to digits: Int) -> String {
    var scale = 1.0
    for _ in 0..<digits { scale *= 10 }
    let scaled = Int((magnitude * scale).rounded())
    let whole = String(scaled / Int(scale))
    guard digits > 0 else { return whole }
    let fraction = String(scaled % Int(scale))
    return (self < 0 ? "-" : "") + whole + "." + String(repeating: "0", count: digits - fraction.count) + fraction
  }
}
