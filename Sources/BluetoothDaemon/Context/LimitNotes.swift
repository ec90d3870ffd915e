/// The log lines about limits that have been reached: one for each limit and user.
struct LimitNotes {
  /// The maximum number of lines in a run.
  private static let maximumCount = 1_024

  private var noted: Set<String> = []
  private var lines: [String] = []

  /// Adds a line for the log, once in a run.
  mutating func note(_ line: String) {
    if noted.count < Self.maximumCount, noted.insert(line).inserted { lines.append(line) }
  }

  /// True if `take` returns lines.
  var isEmpty: Bool { lines.isEmpty }

  /// Removes and returns the lines for the log.
  mutating func take() -> [String] {
    defer { lines.removeAll() }
    return lines
  }
}
