import NIOCore
import NIOPosix

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Why there is no way to a controller.
package struct TransportError: Error, Hashable, Sendable, CustomStringConvertible {
  /// One line: what is wrong, and what would help.
  package let description: String
  /// It does not pass by itself: somebody has to do something about it.
  package let isLasting: Bool

  package init(_ description: String, isLasting: Bool = true) {
    self.description = description
    self.isLasting = isLasting
  }
}

extension TransportError {
  /// What the system says of an `errno`, for the middle of a line.
  static func reason(_ code: Int32) -> String {
    let text = String(cString: strerror(code))
    // A name at the beginning, as in "RF-kill", stays one.
    guard let first = text.first, text.dropFirst().first?.isLowercase ?? false else { return text }
    return first.lowercased() + text.dropFirst()
  }

  /// What a user is told of an error of the network's.
  static func text(_ error: any Error) -> String {
    switch error {
    case let error as IOError: reason(error.errnoCode)
    case ChannelError.connectTimeout: "no answer"
    default: "\(error)"
    }
  }

  /// Why it could not be connected to `specifier`.
  init(connectingTo specifier: TransportSpecifier, _ error: any Error) {
    if let error = error as? TransportError {
      self = error
      return
    }
    let inner = (error as? NIOConnectionError).map { $0.connectionErrors.last?.error ?? error } ?? error
    if let unresolved = inner as? NIOConnectionError {
      self.init("there is no host called \"\(unresolved.host)\"")
      return
    }
    switch ((inner as? IOError)?.errnoCode, specifier) {
    case (ECONNREFUSED?, .tcp): self.init("connection refused: nobody listens there", isLasting: false)
    case (ENOENT?, .unix), (ECONNREFUSED?, .unix): self.init("nobody listens there", isLasting: false)
    case (EACCES?, _), (EPERM?, _): self.init("it is not allowed to connect there")
    default: self.init(Self.text(inner), isLasting: false)
    }
  }
}
