import BluetoothRadio
import Foundation
import NIOConcurrencyHelpers
import NIOCore

/// A world on an event loop: sockets and radios take turns on one thread, so that no packet waits for another thread.
final class EventLoopExecutor: WorldExecutor, @unchecked Sendable {
  // `ring` is set once, before anything can ring; the rest is touched on the loop only.
  let loop: any EventLoop
  private let isOpen = NIOLockedValueBox(true)
  private var ring: (@Sendable () -> Void)?
  private var alarm: (due: NIODeadline, task: Scheduled<Void>)?

  /// The loop does all tasks that are due before it looks at its sockets, also those that have become due meanwhile: a world
  /// that always has something to do would leave them no turn. This is longer than the loop takes to look for tasks,
  /// which is more where code is not optimized.
  #if DEBUG
    private static let turn = TimeAmount.microseconds(50)
  #else
    private static let turn = TimeAmount.microseconds(10)
  #endif

  init(loop: any EventLoop) { self.loop = loop }

  /// What comes after the end is dropped: the loop may be gone.
  func execute(_ work: @escaping @Sendable () -> Void) {
    if isOpen.withLockedValue({ $0 }) { loop.execute(work) }
  }

  func wait<R: Sendable>(for work: () -> R) -> R {
    // After the end nobody moves the world any more.
    guard !loop.inEventLoop, isOpen.withLockedValue({ $0 }) else { return work() }
    return withoutActuallyEscaping(work) { work in
      let errand = Errand(work)
      let done = DispatchSemaphore(value: 0)
      loop.execute {
        errand.run()
        done.signal()
      }
      done.wait()
      guard let result = errand.result else { fatalError("an event loop has dropped what it was to do") }
      return result
    }
  }

  /// Handed to the loop by a thread that waits until it is done: only one of both touches it at a time.
  private final class Errand<R>: @unchecked Sendable {
    private var work: (() -> R)?
    private(set) var result: R?

    init(_ work: @escaping () -> R) { self.work = work }

    /// When it returns nobody keeps the work any more.
    func run() {
      let work = work.take()
      result = work?()
    }
  }

  func begin(_ ring: @escaping @Sendable () -> Void) {
    self.ring = ring
    loop.execute { [self] in self.ring?() }
  }

  func setTimer(_ wait: Int?) {
    guard let wait else { return }
    let due = NIODeadline.now() + max(.nanoseconds(Int64(wait)), Self.turn)
    // One that rings too early sets itself anew: cheaper than to set it for each packet.
    if let alarm, alarm.due <= due { return }
    alarm?.task.cancel()
    let task = loop.scheduleTask(deadline: due) { [self] in
      alarm = nil
      ring?()
    }
    alarm = (due, task)
  }

  func end() {
    execute { [self] in close() }
  }

  /// The same, at once. On the loop only.
  func close() {
    isOpen.withLockedValue { $0 = false }
    ring = nil
    alarm?.task.cancel()
    alarm = nil
  }
}
