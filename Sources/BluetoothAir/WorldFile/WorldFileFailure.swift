import BluetoothWire

/// A problem in a world file.
package struct WorldFileProblem: Hashable, Sendable {
  /// The place of the problem; nil: the file as a whole.
  package var place: TextLocation?
  /// The path of the field, such as `devices[2].position`; empty: the file as a whole.
  package var field: String
  /// The description of the problem.
  package var reason: String
}

/// The error that a world file can't be read, with its first 20 problems.
package struct WorldFileFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The largest number of problems reported.
  package static let maximumCount = 20

  /// The file's path, or its name in messages.
  package let file: String
  /// The problems in the order of the text.
  package let problems: [WorldFileProblem]
  /// The number of further problems.
  package let omitted: Int

  /// One line for each problem: `world.yaml:12:5: devices[2].position: expected …`.
  package var description: String { lines.joined(separator: "\n") }

  /// The lines of `description`.
  package var lines: [String] {
    var lines = problems.map { problem in
      let place = problem.place.map { ":\($0.line):\($0.column)" } ?? ""
      return "\(file.printable)\(place): " + (problem.field.isEmpty ? "" : problem.field + ": ") + problem.reason
    }
    if omitted > 0 { lines.append("\(file.printable): \(omitted) more problems") }
    return lines
  }
}
