import NIOCore
import NIOPosix

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The reason why a connection to a controller, or a listening socket, could not be opened.
package struct TransportError: Error, Hashable, Sendable, CustomStringConvertible {
  /// One line that states the error and a remedy.
  package let description: String
  /// True if the error persists until the user takes action.
  package let isLasting: Bool

  package init(_ description: String, isLasting: Bool = true) {
    self.description = description
    self.isLasting = isLasting
  }
}

extension TransportError {
  /// Returns the system's text for an `errno`, with its first letter in lower case, for use after a colon.
  package static func reason(_ code: Int32) -> String {
    let text = String(cString: strerror(code))
    // An acronym at the beginning, as in "RF-kill", keeps its capitals.
    guard let first = text.first, text.dropFirst().first?.isLowercase ?? false else { return text }
    return first.lowercased() + text.dropFirst()
  }

  /// Returns the text for a network error, for display to the user.
  static func text(_ error: any Error) -> String {
    switch error {
    case let error as IOError: reason(error.errnoCode)
    case ChannelError.connectTimeout: "connection timed out"
    default: "\(error)"
    }
  }

  /// Creates the error for a failed connection to `specifier`.
  package init(connectingTo specifier: TransportSpecifier, _ error: any Error) {
    if let error = error as? TransportError {
      self = error
      return
    }
    let inner = (error as? NIOConnectionError).map { $0.connectionErrors.last?.error ?? error } ?? error
    if let unresolved = inner as? NIOConnectionError {
      self.init("unknown host \"\(unresolved.host)\"")
      return
    }
    switch ((inner as? IOError)?.errnoCode, specifier) {
    case (ECONNREFUSED?, .tcp): self.init("connection refused: no program is listening on this port", isLasting: false)
    case (ENOENT?, .unix), (ECONNREFUSED?, .unix): self.init("no program is listening on this socket", isLasting: false)
    case (EACCES?, _), (EPERM?, _): self.init("permission denied")
    default: self.init(Self.text(inner), isLasting: false)
    }
  }
}
