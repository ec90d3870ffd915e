import BluetoothRadio
import Foundation
import NIOConcurrencyHelpers
import NIOCore

/// An executor that runs a world on an event loop: sockets and radios share one thread, so no packet waits for another
/// thread.
final class EventLoopExecutor: WorldExecutor, @unchecked Sendable {
  // Unchecked: `onTimer` is set once, before the timer can fire; the other properties are accessed on the loop only.
  let loop: any EventLoop
  private let isOpen = NIOLockedValueBox(true)
  private var onTimer: (@Sendable () -> Void)?
  private var timer: (due: NIODeadline, task: Scheduled<Void>)?

  /// The shortest delay of the timer. The loop runs all due tasks before it checks its sockets, including tasks that
  /// have become due meanwhile, so a world that is always busy would starve the sockets. The delay is longer than the
  /// loop takes to look for tasks, which takes longer in code that is not optimized.
  #if DEBUG
    private static let turn = TimeAmount.microseconds(50)
  #else
    private static let turn = TimeAmount.microseconds(10)
  #endif

  init(loop: any EventLoop) { self.loop = loop }

  /// Work after the end is dropped, because the loop may be gone.
  func execute(_ work: @escaping @Sendable () -> Void) {
    if isOpen.withLockedValue({ $0 }) { loop.execute(work) }
  }

  func wait<R: Sendable>(for work: () -> R) -> R {
    // After the end, no other thread uses the world.
    guard !loop.inEventLoop, isOpen.withLockedValue({ $0 }) else { return work() }
    return withoutActuallyEscaping(work) { work in
      let item = WorkItem(work)
      let done = DispatchSemaphore(value: 0)
      loop.execute {
        item.run()
        done.signal()
      }
      done.wait()
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
    guard let wait else { return }
    let due = NIODeadline.now() + max(.nanoseconds(Int64(wait)), Self.turn)
    // A timer that fires too early sets itself again; that is cheaper than setting it for each packet.
    if let timer, timer.due <= due { return }
    timer?.task.cancel()
    let task = loop.scheduleTask(deadline: due) { [self] in
      timer = nil
      onTimer?()
    }
    timer = (due, task)
  }

  func end() {
    execute { [self] in close() }
  }

  /// Stops the executor at once. On the loop only.
  func close() {
    isOpen.withLockedValue { $0 = false }
    onTimer = nil
    timer?.task.cancel()
    timer = nil
  }
}
