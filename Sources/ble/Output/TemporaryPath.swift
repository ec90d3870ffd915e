import Foundation
import NIOConcurrencyHelpers

/// A file or a folder that exists only as long as this object. `removeAll()` removes it before a signal ends the
/// program.
final class TemporaryPath: Sendable {
  let path: String

  /// The paths that exist, files before their folders.
  private static let existing = NIOLockedValueBox<[String]>([])
  /// The number of tries to find an unused name.
  private static let tries = 100

  private init(_ path: String) { self.path = path }

  /// Creates an empty file with an unused hidden name, open for writing.
  ///
  /// - Parameters:
  ///   - folder: the folder of the file; empty: the current folder.
  ///   - mode: the permissions, of which the process's mask takes some away.
  /// - Returns: the file and its descriptor, which the caller closes; nil: `errno` tells the reason.
  static func makeFile(in folder: String, mode: mode_t) -> (file: TemporaryPath, descriptor: Int32)? {
    for _ in 0..<tries {
      let path = (folder.isEmpty ? "" : folder + "/") + ".ble-" + String(UInt64.random(in: .min ... .max), radix: 36)
      let descriptor: Int32? = existing.withLockedValue { existing in
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else { return nil }
        existing.insert(path, at: 0)
        return descriptor
      }
      if let descriptor { return (TemporaryPath(path), descriptor) }
      guard errno == EEXIST else { return nil }
    }
    return nil
  }

  /// Creates a folder for temporary files that only this user may enter.
  ///
  /// - Throws: `Failure` if it can't be created.
  static func makeFolder() throws -> TemporaryPath {
    // mkdtemp chooses a name that nobody can guess, and opens the folder to its owner only.
    var name = Array((NSTemporaryDirectory() + "/ble-XXXXXX").utf8CString)
    let path: String? = existing.withLockedValue { existing in
      guard mkdtemp(&name) != nil else { return nil }
      let path = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
      existing.append(path)
      return path
    }
    guard let path else { throw Failure.system("can't create a temporary folder") }
    return TemporaryPath(path)
  }

  /// Returns the path of a file in this folder that the caller creates. The file disappears before the folder.
  func file(named name: String) -> TemporaryPath {
    let file = TemporaryPath(path + "/" + name)
    Self.existing.withLockedValue { $0.insert(file.path, at: 0) }
    return file
  }

  deinit { remove() }

  /// Removes the file or the empty folder.
  func remove() {
    Self.existing.withLockedValue { existing in
      guard let index = existing.firstIndex(of: path) else { return }
      existing.remove(at: index)
      Self.remove(path)
    }
  }

  /// Gives the file another name; then it is no longer temporary.
  ///
  /// - Parameter replaces: false: fails with EEXIST if there is a file of that name.
  /// - Returns: 0, or the error number.
  func keep(as name: String, replaces: Bool) -> Int32 {
    Self.existing.withLockedValue { existing in
      guard let index = existing.firstIndex(of: path) else { return ENOENT }
      // A link, unlike a renaming, does not replace a file that has appeared meanwhile.
      guard (replaces ? rename(path, name) : link(path, name)) == 0 else { return errno }
      existing.remove(at: index)
      if !replaces { Self.remove(path) }
      return 0
    }
  }

  /// Removes all temporary files and folders, before the caller ends the program.
  static func removeAll() {
    existing.withLockedValue { existing in
      for path in existing { remove(path) }
      existing = []
    }
  }

  private static func remove(_ path: String) {
    // `unlink` refuses folders, `rmdir` refuses everything else.
    if unlink(path) != 0 { rmdir(path) }
  }
}

extension Failure {
  /// Returns a failure with the reason of an error number of the C library.
  static func system(_ subject: String, code: Int32 = errno, status: Int32 = EXIT_FAILURE) -> Failure {
    Failure("\(subject): \(String(cString: strerror(code)))", status: status)
  }
}
