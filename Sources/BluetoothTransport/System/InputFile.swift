import BluetoothWire

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A file that is read as a whole. Each reader has a limit, so that no file fills the memory: neither one that has no
/// end, such as `/dev/zero`, nor one that another user has made long. None but a file that the user's shell has opened
/// can make the program wait.
package enum InputFile {
  /// The kinds of files that a reader accepts.
  package enum Kinds: Sendable {
    /// Regular files.
    case regular
    /// Regular files, the standard input (`-`), files that the shell has opened, such as `/dev/fd/63`, and `/dev/null`.
    case given
  }

  /// The reason why a file can't be read.
  package struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The path; "standard input" for `-`.
    package let file: String
    package let reason: String
    /// True if there is no such file.
    package let isMissing: Bool

    /// The file and the reason, on one line.
    package var description: String { "can't read \(file): \(reason)".printable }

    fileprivate init(_ path: String, _ reason: String, isMissing: Bool = false) {
      (file, self.reason, self.isMissing) = (path == "-" ? "standard input" : path, reason, isMissing)
    }

    fileprivate init(_ path: String, code: Int32) {
      self.init(path, String(cString: strerror(code)), isMissing: code == ENOENT || code == ENOTDIR)
    }
  }

  /// Returns the content of a file.
  ///
  /// - Parameter limit: the maximum length in octets.
  /// - Throws: `Failure` if the file can't be read, is of another kind, or is longer than `limit`.
  package static func octets(of path: String, limit: Int, _ kinds: Kinds) throws(Failure) -> [UInt8] {
    let octets = try beginning(of: path, limit == .max ? limit : limit + 1, kinds)
    guard octets.count <= limit else { throw tooLong(path, limit) }
    return octets
  }

  /// Returns the first octets of a file, at most `count`.
  ///
  /// - Throws: `Failure` if the file can't be read, or is of another kind.
  package static func beginning(of path: String, _ count: Int, _ kinds: Kinds) throws(Failure) -> [UInt8] {
    let isOpened =
      kinds == .given && (["-", "/dev/stdin", "/dev/null"].contains(path) || path.hasPrefix("/dev/fd/"))
    // A FIFO that no program writes must not stop this program.
    let descriptor =
      isOpened && path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | (isOpened ? 0 : O_NONBLOCK))
    guard descriptor >= 0 else { throw Failure(path, code: errno) }
    defer { if descriptor != STDIN_FILENO { close(descriptor) } }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw Failure(path, code: errno) }
    switch UInt32(status.st_mode) & UInt32(S_IFMT) {
    case UInt32(S_IFDIR): throw Failure(path, code: EISDIR)
    case UInt32(S_IFREG): break
    default: guard isOpened else { throw Failure(path, "not a regular file") }
    }
    guard let octets = octets(from: descriptor, upTo: count) else { throw Failure(path, code: errno) }
    return octets
  }

  /// Reads an open file to its end, or up to `count` octets; nil: `errno` has the reason.
  package static func octets(from descriptor: Int32, upTo count: Int) -> [UInt8]? {
    var octets: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: min(count, pieceLength))
    while octets.count < count {
      let length = piece.withUnsafeMutableBytes {
        read(descriptor, $0.baseAddress, min($0.count, count - octets.count))
      }
      if length == 0 { break }
      if length > 0 {
        octets += piece.prefix(length)
      } else if errno != EINTR {
        return nil
      }
    }
    return octets
  }

  private static let pieceLength = 1 << 16

  private static func tooLong(_ path: String, _ limit: Int) -> Failure {
    Failure(path, "longer than \(limit) octets")
  }
}
