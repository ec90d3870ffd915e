import Foundation

/// A folder for the files of a test, which is removed with this object. `remove` at the end of the test's scope, by
/// `defer`, keeps the object alive until then.
package final class TemporaryFolder: Sendable {
  package let path: String

  /// Creates an empty folder in the system's folder for temporary files.
  package init() throws {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("test-" + UUID().uuidString)
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
    path = url.path
  }

  deinit { remove() }

  /// Removes the folder with its files.
  package func remove() { try? FileManager.default.removeItem(atPath: path) }

  package var url: URL { URL(fileURLWithPath: path) }

  /// Returns the path of a file in the folder.
  package func file(_ name: String) -> String { path + "/" + name }

  /// The names of the files in the folder, sorted.
  package var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted() }
}

/// Calls `body` with a new folder, and removes the folder afterwards.
package func withTemporaryFolder<R>(_ body: (TemporaryFolder) throws -> R) throws -> R {
  let folder = try TemporaryFolder()
  defer { folder.remove() }
  return try body(folder)
}

/// Calls `body` with a new folder, and removes the folder afterwards.
package func withTemporaryFolder<R>(
  isolation: isolated (any Actor)? = #isolation, _ body: (TemporaryFolder) async throws -> R
) async throws -> R {
  let folder = try TemporaryFolder()
  defer { folder.remove() }
  return try await body(folder)
}
