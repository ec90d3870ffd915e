import BluetoothTransport
import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The folder of a server's socket.
package struct SocketFolder: Sendable {
  package let path: String
  /// True if the server creates the folder if it is missing.
  private let isOwn: Bool

  /// - Parameters:
  ///   - socket: the path of the socket.
  ///   - isOwn: true if the server creates the folder if it is missing.
  package init(ofSocket socket: String, isOwn: Bool) {
    path = Self.parent(of: socket)
    self.isOwn = isOwn
  }

  /// The reason why no socket can be created in the folder; nil: after `create`, it can.
  package var problem: String? {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
      guard isOwn else { return "the folder \(path) does not exist" }
      return Self.failure(ofWritingTo: Self.parent(of: path)).map {
        "the folder \(path) does not exist and can't be created: \($0)"
      }
    }
    guard isFolder.boolValue else { return "\(path) is not a folder" }
    return Self.failure(ofWritingTo: path).map { "no socket can be created in the folder \(path): \($0)" }
  }

  /// Creates the folder if it is missing and the server's own, with the mode 755: the mode of the socket says who may
  /// connect.
  package func create() throws(ServerError) {
    guard isOwn else { return }
    guard mkdir(path, 0o755) == 0 else {
      let code = errno
      if code == EEXIST { return }
      throw ServerError("can't create the folder \(path): \(TransportError.reason(code))")
    }
    // The file mode creation mask restricts the mode of `mkdir`.
    chmod(path, 0o755)
  }

  /// Returns the reason why this process can't create files in a folder; nil: it can.
  private static func failure(ofWritingTo folder: String) -> String? {
    access(folder, W_OK | X_OK) == 0 ? nil : TransportError.reason(errno)
  }

  private static func parent(of path: String) -> String {
    URL(fileURLWithPath: path).absoluteURL.standardizedFileURL.deletingLastPathComponent().path
  }
}
