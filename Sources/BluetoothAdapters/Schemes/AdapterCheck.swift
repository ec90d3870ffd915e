#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// One thing that an adapter needs, and if it is there.
package struct AdapterCheck: Hashable, Sendable {
  package enum State: String, Sendable {
    case good = "ok"
    case warning
    /// The adapter can't be used.
    case bad = "missing"
  }

  package let subject: String
  package let state: State
  package let text: String
  /// The action by which a user provides it.
  package let remedy: String?

  /// The advice for an adapter of which nothing more is known.
  package static let advice = "see the lines above, and what was logged on the standard error"

  package init(_ subject: String, _ state: State, _ text: String, remedy: String? = nil) {
    (self.subject, self.state, self.text, self.remedy) = (subject, state, text, remedy)
  }

  /// Checks a Unix socket.
  ///
  /// - Parameter remedy: the action if there is none.
  static func socket(_ path: String, remedy: String) -> Self {
    var status = stat()
    guard stat(path, &status) == 0 else { return Self("socket", .bad, "\(path) does not exist", remedy: remedy) }
    guard status.st_mode & S_IFMT == S_IFSOCK else {
      return Self("socket", .bad, "\(path) is no socket", remedy: remedy)
    }
    guard access(path, R_OK | W_OK) == 0 else {
      return Self("socket", .bad, "\(path) belongs to another user", remedy: "run this program as that user")
    }
    return Self("socket", .good, path)
  }

  /// Checks the device of a serial line.
  static func serialLine(_ device: String) -> Self {
    guard access(device, F_OK) == 0 else {
      return Self("serial line", .bad, "\(device) does not exist", remedy: "plug the controller in; ls /dev/tty*")
    }
    guard access(device, R_OK | W_OK) == 0 else {
      return Self(
        "serial line", .bad, "no permission for \(device)", remedy: "sudo usermod -aG dialout $USER, and log in again")
    }
    return Self("serial line", .good, device)
  }
}
