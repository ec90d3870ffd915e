import BluetoothRadio
import Foundation
import NIOConcurrencyHelpers
import NIOCore

/// An executor that runs a world on an event loop, on one thread with the sockets.
final class EventLoopExecutor: WorldExecutor, @unchecked Sendable {
  // Unchecked: `onTimer` is set once, before the timer can fire, and cleared on the loop; `isOpen` has a lock; `timer`
  // and `handlerStart` are accessed on the loop only.
  let loop: any EventLoop
  private let isOpen = NIOLockedValueBox(true)
  private var onTimer: (@Sendable () -> Void)?
  private var timer: (due: NIODeadline, task: Scheduled<Void>)?
  /// The time at which the timer's handler began; nil outside of it.
  private var handlerStart: NIODeadline?

  /// The minimum delay of the timer. The loop runs all due tasks before it checks its sockets, including tasks that
  /// have become due meanwhile, so a world with due events would starve the sockets. The delay is longer than the loop
  /// takes to check for due tasks (longer in a debug build), and in proportion to the time that the handler took, because
  /// a slow machine or a sanitizer makes both longer.
  #if DEBUG
    private static let turn = TimeAmount.microseconds(50)
  #else
    private static let turn = TimeAmount.microseconds(10)
  #endif
  /// The ratio of the time that the handler took to the minimum delay after it.
  private static let handlerTimePerTurn: Int64 = 32

  init(loop: any EventLoop) { self.loop = loop }

  /// Schedules `work`. After `close`, drops it, because the loop may have ended.
  func execute(_ work: @escaping @Sendable () -> Void) {
    // With the lock, so that the loop has not shut down.
    isOpen.withLockedValue { if $0 { loop.execute(work) } }
  }

  func wait<R: Sendable>(for work: () -> R) -> R {
    // On the loop or after `close`, no other thread uses the world.
    guard !loop.inEventLoop else { return work() }
    return withoutActuallyEscaping(work) { work in
      let item = WorkItem(work)
      let done = DispatchSemaphore(value: 0)
      let isOpen = isOpen.withLockedValue { isOpen in
        if isOpen {
          loop.execute {
            item.run()
            done.signal()
          }
        }
        return isOpen
      }
      if isOpen { done.wait() } else { item.run() }
      guard let result = item.result else { fatalError("the event loop dropped a task") }
      return result
    }
  }

  /// Work that a thread hands to the loop and waits for. Unchecked: only one of the two threads accesses it at a time.
  private final class WorkItem<R>: @unchecked Sendable {
    private var work: (() -> R)?
    private(set) var result: R?

    init(_ work: @escaping () -> R) { self.work = work }

    /// Runs the work, and releases it before returning.
    func run() {
      let work = work.take()
      result = work?()
    }
  }

  func begin(_ onTimer: @escaping @Sendable () -> Void) {
    self.onTimer = onTimer
    loop.execute { [self] in self.onTimer?() }
  }

  func setTimer(_ wait: Int?) {
    assert(loop.inEventLoop || !isOpen.withLockedValue { $0 }, "the timer of a world was set outside its event loop")
    guard let wait else { return }
    let now = NIODeadline.now()
    var turn = Self.turn
    if let handlerStart { turn = max(turn, .nanoseconds((now - handlerStart).nanoseconds / Self.handlerTimePerTurn)) }
    let due = now + max(.nanoseconds(Int64(wait)), turn)
    // A timer that fires too early is set again by its handler: cheaper than setting the timer for each packet.
    if let timer, timer.due <= due { return }
    timer?.task.cancel()
    let task = loop.scheduleTask(deadline: due) { [self] in
      timer = nil
      handlerStart = .now()
      onTimer?()
      handlerStart = nil
    }
    timer = (due, task)
  }

  func end() {
    execute { [self] in close() }
  }

  /// Stops the timer and drops all further work. On the loop only.
  func close() {
    loop.preconditionInEventLoop()
    isOpen.withLockedValue { $0 = false }
    onTimer = nil
    timer?.task.cancel()
    timer = nil
  }
}
