/// A source of events at virtual instants, such as a simulated radio world.
package protocol EventSource: AnyObject, Sendable {
  /// The instant of the next event in nanoseconds of virtual time, or nil if there is none.
  var nextEvent: Int64? { get }

  /// True if the next event may call code that belongs to the main queue. `step()` is then called in the context of
  /// the main queue; otherwise it is called on the thread that runs the app's work, which costs less.
  var needsMainQueue: Bool { get }

  /// Takes note that time has moved to an instant at which a timer of the app fires, or a run ends. There is no event up
  /// to this instant.
  func timePassed(to instant: Int64)

  /// Executes exactly one event, which may call the app.
  func step()
}

extension EventSource {
  package var needsMainQueue: Bool { true }
  package func timePassed(to instant: Int64) {}
}

/// The limits that turn a hang into an error.
public struct AppTimeLimits: Sendable {
  /// The real time without progress after which `settle` and `run` fail. Blocking calls of the app must be shorter.
  public var stallSeconds = 10.0
  /// The number of units of work that the app may run at one virtual instant.
  public var unitsPerInstant = 100_000

  public init(stallSeconds: Double = 10, unitsPerInstant: Int = 100_000) {
    self.stallSeconds = stallSeconds
    self.unitsPerInstant = unitsPerInstant
  }
}

/// Counts since the activation.
package struct AppTimeCounters: Sendable, Equatable {
  /// The units of the app's work: Swift jobs, blocks and resumed threads.
  package var units = 0
  /// The times that the app came to rest.
  package var settles = 0
  /// The timers that fired.
  package var timers = 0
  /// The units of work that threads outside the scheduler added, such as the app's own threads, blocking I/O and
  /// URLSession. The order of this work is not reproducible.
  package var foreignWakeUps = 0
}
