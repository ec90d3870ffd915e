/// The limits that turn a hang into an error.
public struct AppTimeLimits: Sendable {
  /// The real time without progress after which `settle` and `run` fail. Blocking calls of the app must be shorter.
  public var stallSeconds = 10.0
  /// The real time without progress in seconds after which the process ends with a list of the work that has not
  /// finished.
  ///
  /// The process ends where no error can end the wait: the test body waits without running its world, or the app keeps
  /// the thread that the test body needs. The end comes at least `stallSeconds` after the report of the wait.
  /// `Double.infinity` never ends the process.
  public var abortSeconds = 60.0
  /// The number of units of work that the app may run at one virtual instant.
  public var unitsPerInstant = 100_000

  /// Creates limits.
  public init(stallSeconds: Double = 10, abortSeconds: Double = 60, unitsPerInstant: Int = 100_000) {
    self.stallSeconds = stallSeconds
    self.abortSeconds = abortSeconds
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
  /// The threads that the app and its libraries created, without the threads of libdispatch and of the scheduler.
  package var threads = 0
  /// The dispatch sources of descriptors, signals and processes that the app and its libraries created.
  package var outsideSources = 0
  /// The events that the source processed after their time, because the app blocked a thread.
  package var lateEvents = 0
}
