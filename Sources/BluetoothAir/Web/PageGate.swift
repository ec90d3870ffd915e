import NIOConcurrencyHelpers
import NIOCore

/// The way of other threads to a page's event loop, which ends with the page: work that comes later is dropped.
final class PageGate: Sendable {
  let loop: any EventLoop
  private let isOpen = NIOLockedValueBox(true)

  init(_ loop: any EventLoop) { self.loop = loop }

  func execute(_ work: @escaping @Sendable () -> Void) {
    isOpen.withLockedValue { isOpen in
      if isOpen { loop.execute(work) }
    }
  }

  func close() { isOpen.withLockedValue { $0 = false } }
}
