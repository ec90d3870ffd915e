import BluetoothAdapters
import BluetoothDaemon
import BluetoothRadio
import BluetoothWire
import NIOConcurrencyHelpers

/// The clock of a world, for `Task.sleep(for:clock:)` and for timeouts that follow the world's time.
///
/// In virtual time, a sleep ends when `run` reaches its end. The world waits for the work that follows the sleep if the
/// product `BluetoothLabTime` drives the app; otherwise the task continues while the world goes on. A sleep in a task of a
/// `SimulatedApp` that is suspended at its end lasts until the app runs again.
public struct WorldClock: Clock, Sendable {
  /// A point in a world's time.
  public struct Instant: InstantProtocol, Sendable {
    /// The radio time since the world began.
    public var sinceStart: Duration

    /// Creates the instant that is `sinceStart` after the beginning of the world.
    public init(sinceStart: Duration) { self.sinceStart = sinceStart }

    /// The instant that is `duration` later.
    public func advanced(by duration: Duration) -> Instant { Instant(sinceStart: sinceStart + duration) }
    /// The time from this instant to `other`.
    public func duration(to other: Instant) -> Duration { other.sinceStart - sinceStart }
    /// True if `one` is earlier than `other`.
    public static func < (one: Instant, other: Instant) -> Bool { one.sinceStart < other.sinceStart }
  }

  let world: World

  /// The world's time.
  public var now: Instant { Instant(sinceStart: world.now) }

  /// One nanosecond, the unit in which worlds count time.
  public var minimumResolution: Duration { .nanoseconds(1) }

  /// Suspends the task until the world has reached `deadline`, or returns at the world's present time if it has passed.
  ///
  /// - Parameters:
  ///   - deadline: the end of the sleep.
  ///   - tolerance: ignored; the sleep ends exactly at `deadline`, rounded up to whole nanoseconds.
  /// - Throws: `CancellationError` as soon as the task is cancelled.
  public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
    let sleep = Sleep(DefaultAdapter.ofTask as? AppView)
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        guard sleep.begin(continuation) else { return }
        // Rounded up, so that the sleep never ends before its deadline.
        var span = TimeSpan(deadline.sinceStart)
        if span.duration < deadline.sinceStart, span.nanoseconds < .max { span.nanoseconds += 1 }
        let instant = BluetoothWire.Instant.zero + span
        world.requestQueue.perform { engine in sleep.schedule(at: instant, in: engine) }
      }
    } onCancel: {
      if sleep.end(with: .failure(CancellationError())) {
        world.requestQueue.perform { engine in sleep.removeFromSchedule(of: engine) }
      }
    }
  }
}

/// A sleep that ends once: at its time, or when its task is cancelled.
private final class Sleep: Sendable {
  private enum State {
    case notBegun
    case sleeping(CheckedContinuation<Void, any Error>)
    case ended(Result<Void, any Error>)
  }

  /// The app of the sleeping task; nil: none.
  private let app: AppView?
  private let state = NIOLockedValueBox(State.notBegun)
  /// The end of the sleep in the schedule of the world; nil: not scheduled.
  private let scheduled = NIOLockedValueBox<ScheduledOperation?>(nil)

  init(_ app: AppView?) { self.app = app }

  /// Stores the continuation. Returns false if the sleep has ended already; the continuation is resumed then.
  func begin(_ continuation: CheckedContinuation<Void, any Error>) -> Bool {
    let result: Result<Void, any Error>? = state.withLockedValue { state in
      if case .ended(let result) = state { return result }
      state = .sleeping(continuation)
      return nil
    }
    if let result { continuation.resume(with: result) }
    return result == nil
  }

  /// Ends the sleep. Returns true if it had begun and had not ended.
  @discardableResult
  func end(with result: Result<Void, any Error>) -> Bool {
    let continuation: CheckedContinuation<Void, any Error>? = state.withLockedValue { state in
      defer { state = .ended(result) }
      if case .sleeping(let continuation) = state { return continuation }
      return nil
    }
    continuation?.resume(with: result)
    return continuation != nil
  }

  /// Schedules the end of the sleep, unless the sleep has been cancelled.
  func schedule(at instant: BluetoothWire.Instant, in engine: WorldEngine) {
    let isSleeping: Bool = state.withLockedValue { state in
      if case .sleeping = state { true } else { false }
    }
    guard isSleeping else { return }
    let operation = engine.schedule(at: instant) { [self] _ in
      guard let app else {
        end(with: .success(()))
        return
      }
      app.whenRunning { [self] in end(with: .success(())) }
    }
    scheduled.withLockedValue { $0 = operation }
  }

  /// Removes the end of a cancelled sleep from the schedule, so that the world can be idle before that end.
  func removeFromSchedule(of engine: WorldEngine) {
    if let operation = scheduled.withLockedValue({ $0 }) { engine.cancel(operation) }
  }
}

extension World {
  /// The world's clock.
  public var clock: WorldClock { WorldClock(world: self) }
}
