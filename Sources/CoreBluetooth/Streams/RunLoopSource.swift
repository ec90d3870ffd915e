import Dispatch
import Foundation
import NIOConcurrencyHelpers

/// Wakes a run loop for a stream from any thread, and keeps the run loop running while the stream is scheduled. It is
/// a timer that fires on demand, because Foundation on Linux has no custom run loop source that another thread can
/// signal, and blocks passed to a run loop wait until something else wakes it.
final class RunLoopSource: Sendable {
  private struct Parts {
    let loop: RunLoop
    let mode: RunLoop.Mode
    var timer: Timer?
  }

  private let parts: NIOLockedValueBox<AppBox<Parts>>
  private let isSignalled = NIOLockedValueBox(false)
  let isMain: Bool
  /// True if the main queue also serves the stream, because some programs never run the main run loop.
  private let usesMainQueue: Bool

  private static let longTime: TimeInterval = 100_000_000

  init(_ loop: RunLoop, _ mode: RunLoop.Mode, _ side: StreamSide) {
    parts = NIOLockedValueBox(AppBox(value: Parts(loop: loop, mode: mode)))
    isMain = loop === RunLoop.main
    usesMainQueue = isMain && (mode == .default || mode == .common)
    self.side = side
    let timer = Timer(fire: .distantFuture, interval: Self.longTime, repeats: true) { [weak self] _ in
      // Makes `run(mode:before:)` return after a stream event, as it does for other sources but not for timers.
      if let self, serve() { RunLoop.current._stop() }
    }
    loop.add(timer, forMode: mode)
    parts.withLockedValue { $0.value.timer = timer }
  }

  private weak let side: StreamSide?

  func serves(_ loop: RunLoop, _ mode: RunLoop.Mode) -> Bool {
    parts.withLockedValue { $0.value.loop === loop && $0.value.mode == mode }
  }

  func isSame(as other: RunLoopSource) -> Bool {
    let (loop, mode) = other.parts.withLockedValue { (AppBox(value: $0.value.loop), $0.value.mode) }
    return serves(loop.value, mode)
  }

  /// True if the caller is on the run loop's thread.
  var isCurrent: Bool {
    let current = RunLoop.current
    return parts.withLockedValue { $0.value.loop === current }
  }

  /// Schedules the run loop to serve the stream soon.
  func signal() {
    let isNews = isSignalled.withLockedValue { isSignalled in
      defer { isSignalled = true }
      return !isSignalled
    }
    guard isNews, let timer = parts.withLockedValue({ AppBox(value: $0.value.timer) }).value else { return }
    timer.fireDate = Date()
    if usesMainQueue { DispatchQueue.main.async { _ = self.serve() } }
  }

  /// Delivers one event only, so that other sources get their turn in the run loop. Returns false if there was none.
  private func serve() -> Bool {
    let isNew = isSignalled.withLockedValue { isSignalled in
      defer { isSignalled = false }
      return isSignalled
    }
    guard isNew, let side, side.serve(self) else { return false }
    side.signal()
    return true
  }

  func cancel() {
    let timer = parts.withLockedValue { parts in
      defer { parts.value.timer = nil }
      return AppBox(value: parts.value.timer)
    }
    timer.value?.invalidate()
  }
}
