import Foundation

/// The working copy from which the tests were compiled.
package enum WorkingCopy {
  package static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// Returns the location of the file at `path`, relative to the root.
  package static func url(_ path: String) -> URL { root.appendingPathComponent(path) }

  /// Returns the text of the file at `path`, relative to the root.
  package static func text(_ path: String) throws -> String { try String(contentsOf: url(path), encoding: .utf8) }
}
