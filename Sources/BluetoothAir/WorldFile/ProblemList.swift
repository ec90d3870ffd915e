/// The problems found so far. The number of stored problems is limited.
struct ProblemList {
  private static let maximumCount = 1_000

  private var kept: [WorldFileProblem] = []
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }
  /// True while spelling suggestions are worth their cost: only the first problems are reported.
  var wantsSuggestions: Bool { count < WorldFileFailure.maximumCount * 2 }

  mutating func add(_ place: TextLocation?, _ path: FieldPath, _ reason: @autoclosure () -> String) {
    count += 1
    if kept.count < Self.maximumCount {
      kept.append(WorldFileProblem(place: place, field: path.text, reason: reason()))
    }
  }

  func failure(of file: String) -> WorldFileFailure {
    let sorted = kept.enumerated().sorted { left, right in
      let start = TextLocation(line: 0, column: 0)
      return (left.element.place ?? start, left.offset) < (right.element.place ?? start, right.offset)
    }.map(\.element)
    let listed = Array(sorted.prefix(WorldFileFailure.maximumCount))
    return WorldFileFailure(file: file, problems: listed, omitted: count - listed.count)
  }
}
