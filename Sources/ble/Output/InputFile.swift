import BluetoothWire
import Foundation

/// A file that is read as a whole.
enum InputFile {
  private static let pieceLength = 1 << 16

  /// Returns the content of a file; `-`: of the standard input.
  ///
  /// - Throws: `Failure` with the reason and exit status 65 if it can't be read.
  static func octets(of path: String) throws -> [UInt8] {
    let descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure(path) }
    defer { if descriptor != STDIN_FILENO { close(descriptor) } }
    var octets: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: pieceLength)
    while true {
      let count = read(descriptor, &piece, piece.count)
      if count == 0 { return octets }
      if count > 0 {
        octets += piece.prefix(count)
      } else if errno != EINTR {
        throw failure(path)
      }
    }
  }

  private static func failure(_ path: String) -> Failure {
    .system("can't read \(path == "-" ? "standard input" : path.printable)", status: ExitStatus.ambiguous)
  }
}
