#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A file that a capture goes to, written from its beginning.
package final class CaptureFile {
  /// Why a file could not be made or written.
  package struct Failure: Error, Hashable, CustomStringConvertible {
    package let path: String
    /// The C library's error number.
    package let code: Int32

    package var description: String { "\(path): \(String(cString: strerror(code)))" }
  }

  package let path: String
  private let descriptor: Int32

  /// Makes the file, or empties it.
  package init(path: String) throws(Failure) {
    self.path = path
    descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw Failure(path: path, code: errno) }
  }

  deinit { close(descriptor) }

  /// Writes all of `bytes`; a full pipe makes it wait for the reader.
  package func append(_ bytes: [UInt8]) throws(Failure) {
    var written = 0
    while written < bytes.count {
      let result = bytes.withUnsafeBytes { buffer in
        write(descriptor, buffer.baseAddress.map { $0 + written }, buffer.count - written)
      }
      if result >= 0 {
        written += result
      } else if errno != EINTR {
        throw Failure(path: path, code: errno)
      }
    }
  }
}
