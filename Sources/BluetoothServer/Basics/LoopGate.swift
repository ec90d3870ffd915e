import NIOConcurrencyHelpers
import NIOCore

/// The way of other threads to the event loop of a server. Adapters can outlive their server, so nothing passes after
/// its end.
final class LoopGate: Sendable {
  let loop: any EventLoop
  private let isClosed = NIOLockedValueBox(false)

  init(_ loop: any EventLoop) { self.loop = loop }

  /// Runs `body` on the event loop, unless the server has ended.
  func execute(_ body: @escaping @Sendable () -> Void) {
    // With the lock, so that the loop has not shut down.
    isClosed.withLockedValue { if !$0 { loop.execute(body) } }
  }

  /// Stops the program if the caller is not on the event loop.
  func check() { loop.preconditionInEventLoop() }

  /// Lets nothing pass from now on.
  func close() { isClosed.withLockedValue { $0 = true } }
}
