import BluetoothRadio
import BluetoothWire

/// An object that runs an app's tasks, queues and timers in the time of a world, so that time passes only while the app
/// is at rest. The module `BluetoothLabTime` implements it.
package protocol AppDriver: AnyObject, Sendable {
  /// Runs the app and the world in turn until `limit`. Evaluates `isDone` each time the app is at rest, and returns when
  /// it is true. A failure of the app to come to rest also ends the run; the driver reports it.
  func run(_ world: DrivenWorld, until limit: Instant, unless isDone: () -> Bool)

  /// Runs like the synchronous method while the calling task is suspended. The calling task evaluates `isDone`.
  ///
  /// - Parameter hasCondition: false if `isDone` is always false, so that nothing needs to evaluate it.
  nonisolated(nonsending) func run(
    _ world: DrivenWorld, until limit: Instant, hasCondition: Bool, unless isDone: () -> Bool
  ) async

  /// True if the calling thread runs the app's code on behalf of the driver.
  var ownsThread: Bool { get }

  /// True if no timer of the app is running.
  var hasNoTimers: Bool { get }
}

/// A world in virtual time as its `AppDriver` sees it. The driver calls it on one thread at a time, and never while the
/// app's code runs. Unchecked, because the engine is confined to that thread.
package final class DrivenWorld: @unchecked Sendable {
  private let engine: WorldEngine
  private let isHeld: @Sendable () -> Bool

  init(_ engine: WorldEngine, isHeld: @escaping @Sendable () -> Bool) {
    self.engine = engine
    self.isHeld = isHeld
  }

  /// The world's time.
  package var now: Instant { engine.now }

  /// The time of the next event: now, if calls of the app or callbacks are pending; nil: none.
  package var nextEvent: Instant? {
    if engine.hasRequests || engine.hasDeliveries || isHeld() { return engine.now }
    return engine.nextEvent
  }

  /// True if the world is held and has nothing else to do at the present instant.
  package var isWaiting: Bool { isHeld() && !engine.hasRequests && !engine.hasDeliveries }

  /// Processes the pending calls of the app and delivers the pending callbacks or, if there are none, processes the next
  /// event. Does nothing while the world is held.
  package func step() {
    engine.bound.check()
    if engine.hasRequests || engine.hasDeliveries {
      engine.settle()
    } else if !isHeld(), let next = engine.nextEvent {
      _ = engine.step(until: next)
    }
  }

  /// The number of callbacks that apps have had.
  package var deliveryCount: Int { engine.deliveryCount }

  /// True if the condition of the present run depends on the time, so that the caller checks it after every event.
  package var isWatched: Bool { engine.isWatched }

  /// Advances the world's time to `instant`, before which no event is pending.
  package func pass(to instant: Instant) { engine.passTime(to: instant) }
}
