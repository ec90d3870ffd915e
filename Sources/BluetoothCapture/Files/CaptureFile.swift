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
  ///
  /// - Parameter isPrivate: nobody but its owner may read it.
  package init(path: String, isPrivate: Bool = false) throws(Failure) {
    self.path = path
    descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, isPrivate ? 0o600 : 0o644)
    guard descriptor >= 0 else { throw Failure(path: path, code: errno) }
    // A file that was there has kept its mode.
    var status = stat()
    if isPrivate, fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG { fchmod(descriptor, 0o600) }
  }

  deinit { close(descriptor) }

  /// Writes all of `bytes`; a full pipe makes it wait for the reader.
  ///
  /// - Parameter replaced: so many octets at the file's end are written over; of a pipe, none can be.
  package func append(_ bytes: [UInt8], over replaced: Int = 0) throws(Failure) {
    if replaced > 0, lseek(descriptor, off_t(-replaced), SEEK_CUR) < 0 { throw Failure(path: path, code: errno) }
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
