/// A source of events at virtual instants, such as a simulated radio world.
package protocol EventSource: AnyObject, Sendable {
  /// The instant of the next event in nanoseconds of virtual time, or nil if there is none.
  var nextEvent: Int64? { get }

  /// True if the next event may call code that belongs to the main queue. `step()` is then called in the context of
  /// the main queue; otherwise it is called on the thread that runs the app's work, which costs less.
  var needsMainQueue: Bool { get }

  /// Advances the source's clock to an instant at which a timer of the app fires, or a run ends. No event is pending
  /// before it.
  func timePassed(to instant: Int64)

  /// True if the source waits in real time for work outside the scheduler's control. `nextEvent` is then the present
  /// instant.
  var isWaiting: Bool { get }

  /// Executes exactly one event, which may call the app.
  func step()
}

extension EventSource {
  package var needsMainQueue: Bool { true }
  package var isWaiting: Bool { false }
  package func timePassed(to instant: Int64) {}
}
