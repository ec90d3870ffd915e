import BluetoothLab
import CoreBluetooth
import DequeModule
import NIOConcurrencyHelpers

/// Runs tasks and a world in turn on the thread of the test: time passes only while no task can go on, so each run of a
/// test is the same.
package final class AppStage {
  package let world: World
  private let steps = StepExecutor()

  /// The executor of the tasks, for objects of an app that start tasks.
  package var executor: any TaskExecutor { steps }

  package init(_ world: World) { self.world = world }

  /// Starts a task. It runs when the test runs the world.
  package func start<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) -> AppTask<Value> {
    let outcome = NIOLockedValueBox<Result<Value, any Error>?>(nil)
    let task = Task(executorPreference: steps) {
      let result: Result<Value, any Error>
      do { result = .success(try await body()) } catch { result = .failure(error) }
      outcome.withLockedValue { $0 = result }
    }
    return AppTask(task: task, outcome: outcome)
  }

  /// Runs until the condition is true, for at most `limit` of radio time.
  ///
  /// - Returns: true if the condition became true.
  @discardableResult
  package func run(until condition: () -> Bool, limit: Duration = .seconds(60)) -> Bool {
    let end = world.now + limit
    while true {
      steps.runJobs()
      if condition() { return true }
      let now = world.now
      // The world's time has whole nanoseconds.
      guard end - now >= .nanoseconds(1) else { return false }
      // The condition reads the clock, so the world evaluates it after every event, such as the end of a sleep.
      world.run(until: { world.now >= now && (steps.hasJobs || condition()) }, limit: end - now)
    }
  }

  package func run(for duration: Duration) { run(until: { false }, limit: duration) }

  /// Runs until the task has ended, and returns its value or throws its error.
  package func value<Value>(of task: AppTask<Value>, limit: Duration = .seconds(60)) throws -> Value {
    guard run(until: { task.result != nil }, limit: limit), let result = task.result else { throw DidNotEnd() }
    return try result.get()
  }

  /// Runs a task to its end, and returns its value or throws its error.
  package func perform<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) throws -> Value {
    try value(of: start(body))
  }
}

/// The error of a task that has not ended within the limit of the test.
package struct DidNotEnd: Error {
  package init() {}
}

/// A task of a test.
package struct AppTask<Value: Sendable>: Sendable {
  package let task: Task<Void, Never>
  fileprivate let outcome: NIOLockedValueBox<Result<Value, any Error>?>

  /// The result; nil: the task has not ended.
  package var result: Result<Value, any Error>? { outcome.withLockedValue { $0 } }

  /// The error with which the task ended; nil: none.
  package var error: (any Error)? {
    guard case .failure(let error)? = result else { return nil }
    return error
  }

  package func cancel() { task.cancel() }
}

/// Keeps the jobs of tasks until the test runs them.
private final class StepExecutor: TaskExecutor {
  private let jobs = NIOLockedValueBox<Deque<UnownedJob>>([])

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLockedValue { $0.append(job) }
  }

  var hasJobs: Bool { jobs.withLockedValue { !$0.isEmpty } }

  /// Runs jobs until there are none.
  func runJobs() {
    while let job = jobs.withLockedValue({ $0.popFirst() }) { job.runSynchronously(on: asUnownedTaskExecutor()) }
  }
}

/// A value that tasks and the test change.
package final class Box<Value: Sendable>: Sendable {
  private let content: NIOLockedValueBox<Value>

  package init(_ value: Value) { content = NIOLockedValueBox(value) }

  package var value: Value {
    get { content.withLockedValue { $0 } }
    set { content.withLockedValue { $0 = newValue } }
  }
}

extension Box {
  @discardableResult
  package func change<Result>(_ body: (inout Value) -> Result) -> Result { content.withLockedValue { body(&$0) } }

  package func append<Element>(_ element: Element) where Value == [Element] {
    content.withLockedValue { $0.append(element) }
  }
}
