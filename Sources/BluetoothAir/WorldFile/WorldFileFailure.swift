extension WorldFile {
  /// One thing that is wrong with a world file.
  package struct Problem: Hashable, Sendable {
    /// Where; nil: the file as a whole.
    package var place: TextPlace?
    /// Which field, such as `devices[2].position`; empty: the file as a whole.
    package var field: String
    /// What is wrong with it.
    package var reason: String
  }

  /// Why a world file can't be read: everything that is wrong with it, but for what is beyond the first twenty.
  package struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
    /// How many problems are told.
    package static let maximumCount = 20

    /// The file's path, or what stands for it.
    package let file: String
    /// In the order of the text.
    package let problems: [Problem]
    /// How many there are besides.
    package let omitted: Int

    /// A line for each problem: `world.yaml:12:5: devices[2].position: expected …`.
    package var description: String {
      var lines = problems.map { problem in
        let place = problem.place.map { ":\($0.line):\($0.column)" } ?? ""
        return "\(file)\(place): " + (problem.field.isEmpty ? "" : problem.field + ": ") + problem.reason
      }
      if omitted > 0 { lines.append("\(file): and \(omitted) more") }
      return lines.joined(separator: "\n")
    }
  }
}

/// The way from the file as a whole to a value in it. Its text is made only where something is wrong.
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

/// What has been found so far. Of a file in which everything is wrong not everything is kept.
struct ProblemList {
  private static let maximumCount = 1_000

  private var kept: [WorldFile.Problem] = []
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }
  /// Whether it is still worth while to look for a better word.
  var wantsSuggestions: Bool { count < WorldFile.Failure.maximumCount * 2 }

  mutating func add(_ place: TextPlace?, _ path: FieldPath, _ reason: @autoclosure () -> String) {
    count += 1
    if kept.count < Self.maximumCount {
      kept.append(WorldFile.Problem(place: place, field: path.text, reason: reason()))
    }
  }

  func failure(of file: String) -> WorldFile.Failure {
    let sorted = kept.enumerated().sorted { left, right in
      let start = TextPlace(line: 0, column: 0)
      return (left.element.place ?? start, left.offset) < (right.element.place ?? start, right.offset)
    }.map(\.element)
    let told = Array(sorted.prefix(WorldFile.Failure.maximumCount))
    return WorldFile.Failure(file: file, problems: told, omitted: count - told.count)
  }
}
