import NIOConcurrencyHelpers

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// An open file descriptor that travels in a message. It is closed when the last reference to this object goes, unless
/// `take()` has given it away. A message that is sent has a copy.
package final class DBusFileDescriptor: Hashable, Sendable {
  private let descriptor: NIOLockedValueBox<CInt?>

  package init(owning descriptor: CInt) { self.descriptor = NIOLockedValueBox(descriptor) }

  deinit { if let descriptor = take() { close(descriptor) } }

  /// Gives the descriptor away: the caller closes it. Returns nil if it was given away before.
  package func take() -> CInt? {
    descriptor.withLockedValue { value in
      defer { value = nil }
      return value
    }
  }

  /// Calls `body` with the open descriptor, if it was not given away.
  func withDescriptor<Result>(_ body: (CInt) -> Result) -> Result? {
    descriptor.withLockedValue { $0.map(body) }
  }

  package static func == (left: DBusFileDescriptor, right: DBusFileDescriptor) -> Bool { left === right }

  package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
