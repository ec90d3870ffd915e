import BluetoothLabTime
@preconcurrency import Dispatch
import Foundation
import Synchronization

/// The steps of a run: the virtual instant in nanoseconds and the name of each step, in order.
final class Trace: Sendable {
  struct Step: Equatable, CustomStringConvertible {
    let instant: Int64
    let label: String

    var description: String { "\(instant) \(label)" }
  }

  private let state = Mutex<[Step]>([])

  func note(_ label: String) {
    let step = Step(instant: AppTime.now, label: label)
    state.withLock { $0.append(step) }
  }

  var lines: [String] { steps.map(\.description) }

  /// The lines with instants in whole milliseconds.
  var milliseconds: [String] {
    steps.map { "\(($0.instant + millisecond / 2) / millisecond) \($0.label)" }
  }

  var steps: [Step] { state.withLock { $0 } }
}

/// A world that calls the app at fixed instants.
final class CallbackSource: EventSource {
  private let state: Mutex<(index: Int, callbacks: [(instant: Int64, body: @Sendable () -> Void)])>

  init(_ callbacks: [(instant: Int64, body: @Sendable () -> Void)]) {
    state = Mutex((0, callbacks))
  }

  var nextEvent: Int64? {
    state.withLock { $0.index < $0.callbacks.count ? $0.callbacks[$0.index].instant : nil }
  }

  func step() {
    let body = state.withLock { state in
      defer { state.index += 1 }
      return state.callbacks[state.index].body
    }
    body()
  }
}

let millisecond: Int64 = 1_000_000

/// An app that reacts to each callback in a different way. The app knows nothing of virtual time.
final class SampleApp: Sendable {
  actor Store {
    let trace: Trace
    var values: [Int] = []

    init(trace: Trace) {
      self.trace = trace
    }

    func add(_ value: Int) {
      values.append(value)
      trace.note("actor \(value)")
    }
  }

  let trace: Trace
  let queue = DispatchQueue(label: "sample-app.work")
  let store: Store
  let stream: AsyncStream<Int>.Continuation
  private let pending = Mutex<CheckedContinuation<Int, Never>?>(nil)

  init(trace: Trace) {
    self.trace = trace
    store = Store(trace: trace)
    let (values, continuation) = AsyncStream.makeStream(of: Int.self)
    stream = continuation
    Task { [trace] in
      for await value in values { trace.note("stream \(value)") }
      trace.note("stream ended")
    }
    Task { [self] in
      let value = await withCheckedContinuation { continuation in pending.withLock { $0 = continuation } }
      self.trace.note("continuation \(value)")
    }
  }

  func inPlace() { trace.note("in place") }

  func onMainQueue() {
    DispatchQueue.main.async {
      dispatchPrecondition(condition: .onQueue(.main))
      MainActor.assumeIsolated { self.trace.note("main queue") }
      DispatchQueue.main.async { self.trace.note("main queue again") }
    }
  }

  func onQueue() {
    queue.async {
      dispatchPrecondition(condition: .onQueue(self.queue))
      self.trace.note("queue")
      DispatchQueue.main.async { self.trace.note("queue to main queue") }
    }
    queue.async { self.trace.note("queue second") }
    queue.sync { trace.note("queue sync") }
  }

  func inTask() {
    Task {
      trace.note("task")
      await Task.yield()
      trace.note("task after yield")
      await MainActor.run { trace.note("task on main actor") }
      trace.note("task back")
    }
  }

  func inMainActorTask() {
    Task { @MainActor in
      dispatchPrecondition(condition: .onQueue(.main))
      trace.note("main actor task")
      await Task.yield()
      trace.note("main actor task after yield")
    }
  }

  func inActor() {
    Task {
      await store.add(1)
      await store.add(2)
    }
  }

  func inStream() {
    stream.yield(1)
    stream.yield(2)
    stream.finish()
    pending.withLock { $0.take() }?.resume(returning: 7)
  }

  func inDetachedTask() {
    Task.detached(priority: .low) { [self] in
      trace.note("detached task")
      let sum = await withTaskGroup(of: Int.self) { group in
        for value in 1...3 { group.addTask { value } }
        return await group.reduce(0, +)
      }
      trace.note("group \(sum)")
    }
  }

  func sleep() {
    Task {
      let start = ContinuousClock.now
      let date = Date()
      try await Task.sleep(for: .milliseconds(5))
      trace.note("slept")
      try await Task.sleep(nanoseconds: 2_500_000)
      trace.note("slept again, \(start.duration(to: .now)), \(milliseconds(since: date)) ms")
      try await SuspendingClock().sleep(until: .now + .microseconds(1))
      trace.note("slept on the suspending clock")
      try await timeout()
    }
  }

  /// Loses a race against a short sleep.
  private func timeout() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        try await Task.sleep(for: .seconds(3))
        self.trace.note("not reached")
      }
      group.addTask {
        try await Task.sleep(for: .milliseconds(7))
        self.trace.note("timeout")
      }
      try await group.next()
      group.cancelAll()
    }
  }

  func after() {
    let start = DispatchTime.now()
    let date = Date()
    DispatchQueue.main.asyncAfter(deadline: .now() + .milliseconds(3)) {
      let elapsed = DispatchTime.now().uptimeNanoseconds - start.uptimeNanoseconds
      self.trace.note("main after, \(elapsed) ns, \(self.milliseconds(since: date)) ms")
    }
    queue.asyncAfter(wallDeadline: .now() + .milliseconds(4)) { self.trace.note("queue after wall time") }
    queue.asyncAfter(deadline: start + 0.002) { self.trace.note("queue after") }
  }

  func timerSource() {
    let source = DispatchSource.makeTimerSource(queue: queue)
    let count = Mutex(0)
    source.setEventHandler { [source, trace] in
      trace.note("source")
      let isDone = count.withLock {
        $0 += 1
        return $0 == 3
      }
      if isDone { source.cancel() }
    }
    source.setCancelHandler { [trace] in trace.note("source cancelled") }
    source.schedule(deadline: .now() + .milliseconds(1), repeating: .milliseconds(10))
    source.resume()
  }

  func groups() {
    let group = DispatchGroup()
    queue.async(group: group) { self.trace.note("group member") }
    group.enter()
    queue.asyncAfter(deadline: .now() + .milliseconds(1)) { group.leave() }
    group.notify(queue: .main) { self.trace.note("group notified") }
    let item = DispatchWorkItem { self.trace.note("work item") }
    item.notify(queue: .main) { self.trace.note("work item notified") }
    queue.async(execute: item)
  }

  func blockingCalls() {
    let semaphore = DispatchSemaphore(value: 0)
    Task.detached { [trace] in
      DispatchQueue.main.sync { trace.note("main sync from a task") }
      try? await Task.sleep(for: .milliseconds(2))
      semaphore.signal()
    }
    queue.async { [trace] in
      semaphore.wait()
      trace.note("semaphore")
      let isExpired = semaphore.wait(timeout: .now() + .milliseconds(5)) == .timedOut
      trace.note("semaphore expired \(isExpired)")
      Thread.sleep(forTimeInterval: 0.25)
      trace.note("thread slept")
    }
  }

  private func milliseconds(since date: Date) -> String {
    // The wall clock in floating point is not exact.
    String(format: "%.2f", Date().timeIntervalSince(date) * 1e3)
  }
}

/// The sample app's run, without timers of a run loop.
enum Scenario {
  static let end = 1_000 * millisecond

  static func make(_ trace: Trace) -> CallbackSource {
    let app = SampleApp(trace: trace)
    let callbacks: [@Sendable () -> Void] = [
      app.inPlace, app.onMainQueue, app.onQueue, app.inTask, app.inMainActorTask, app.inActor, app.inStream,
      app.inDetachedTask, app.sleep, app.after, app.timerSource, app.groups, app.blockingCalls,
    ]
    return CallbackSource(
      callbacks.enumerated().map { index, body in (Int64(index + 1) * 50 * millisecond, body) })
  }

  static let expected = """
    50000000 in place
    100000000 main queue
    100000000 main queue again
    150000000 queue
    150000000 queue second
    150000000 queue sync
    150000000 queue to main queue
    200000000 task
    200000000 task after yield
    200000000 task on main actor
    200000000 task back
    250000000 main actor task
    250000000 main actor task after yield
    300000000 actor 1
    300000000 actor 2
    350000000 stream 1
    350000000 stream 2
    350000000 stream ended
    350000000 continuation 7
    400000000 detached task
    400000000 group 6
    455000000 slept
    457500000 slept again, 0.0075 seconds, 7.50 ms
    457501000 slept on the suspending clock
    464501000 timeout
    502000000 queue after
    503000000 main after, 3000000 ns, 3.00 ms
    504000000 queue after wall time
    551000000 source
    561000000 source
    571000000 source
    571000000 source cancelled
    600000000 group member
    600000000 work item
    600000000 work item notified
    601000000 group notified
    650000000 main sync from a task
    652000000 semaphore
    657000000 semaphore expired true
    907000000 thread slept
    """.split(separator: "\n").map(String.init)
}

/// An app that uses timers of the main run loop.
@MainActor
final class RunLoopApp {
  let trace: Trace

  nonisolated init(trace: Trace) {
    self.trace = trace
  }

  func start() {
    _ = Timer.scheduledTimer(withTimeInterval: 0.02, repeats: false) { _ in
      self.trace.note("timer")
      Task {
        try await Task.sleep(for: .milliseconds(5))
        self.trace.note("slept after the timer")
      }
    }
    let count = Mutex(0)
    _ = Timer.scheduledTimer(withTimeInterval: 0.05, repeats: true) { timer in
      let number = count.withLock {
        $0 += 1
        return $0
      }
      self.trace.note("repeating timer \(number)")
      if number == 3 { timer.invalidate() }
    }
  }

  nonisolated static func make(_ trace: Trace) -> CallbackSource {
    let app = RunLoopApp(trace: trace)
    return CallbackSource([(10 * millisecond, { MainActor.assumeIsolated { app.start() } })])
  }

  nonisolated static let expected = [
    (30, "timer"), (35, "slept after the timer"), (60, "repeating timer 1"), (110, "repeating timer 2"),
    (160, "repeating timer 3"),
  ].map { "\($0) \($1)" }
}
