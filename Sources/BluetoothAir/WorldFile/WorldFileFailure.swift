extension WorldFile {
  /// A problem in a world file.
  package struct Problem: Hashable, Sendable {
    /// The place of the problem; nil: the file as a whole.
    package var place: TextLocation?
    /// The path of the field, such as `devices[2].position`; empty: the file as a whole.
    package var field: String
    /// The description of the problem.
    package var reason: String
  }

  /// The error that a world file can't be read, with its first 20 problems.
  package struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The largest number of problems reported.
    package static let maximumCount = 20

    /// The file's path, or its name in messages.
    package let file: String
    /// The problems in the order of the text.
    package let problems: [Problem]
    /// The number of further problems.
    package let omitted: Int

    /// One line for each problem: `world.yaml:12:5: devices[2].position: expected …`.
    package var description: String {
      var lines = problems.map { problem in
        let place = problem.place.map { ":\($0.line):\($0.column)" } ?? ""
        return "\(file)\(place): " + (problem.field.isEmpty ? "" : problem.field + ": ") + problem.reason
      }
      if omitted > 0 { lines.append("\(file): \(omitted) more problems") }
      return lines.joined(separator: "\n")
    }
  }
}

/// The path from the root of the file to a value. Its text is computed only for a problem.
indirect enum FieldPath: Sendable {
  case root
  case field(FieldPath, String)
  case element(FieldPath, Int)

  var text: String {
    switch self {
    case .root: return ""
    case .field(let parent, let name):
      let isPlain = !name.isEmpty && name.unicodeScalars.allSatisfy { $0.properties.isAlphabetic || $0 == "$" }
      let shown = isPlain && name.utf8.count <= 40 ? name : "\"\(name.shortened)\""
      return parent.text.isEmpty ? shown : parent.text + "." + shown
    case .element(let parent, let index): return parent.text + "[\(index)]"
    }
  }
}

/// The problems found so far. The number of stored problems is limited.
struct ProblemList {
  private static let maximumCount = 1_000

  private var kept: [WorldFile.Problem] = []
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }
  /// True while spelling suggestions are worth their cost: only the first problems are reported.
  var wantsSuggestions: Bool { count < WorldFile.Failure.maximumCount * 2 }

  mutating func add(_ place: TextLocation?, _ path: FieldPath, _ reason: @autoclosure () -> String) {
    count += 1
    if kept.count < Self.maximumCount {
      kept.append(WorldFile.Problem(place: place, field: path.text, reason: reason()))
    }
  }

  func failure(of file: String) -> WorldFile.Failure {
    let sorted = kept.enumerated().sorted { left, right in
      let start = TextLocation(line: 0, column: 0)
      return (left.element.place ?? start, left.offset) < (right.element.place ?? start, right.offset)
    }.map(\.element)
    let told = Array(sorted.prefix(WorldFile.Failure.maximumCount))
    return WorldFile.Failure(file: file, problems: told, omitted: count - told.count)
  }
}
