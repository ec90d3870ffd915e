/// An error of virtual time.
public enum AppTimeError: Error, Equatable, CustomStringConvertible {
  /// A kind of work or a clock escapes the scheduler, so the app under test cannot follow virtual time.
  case unsupported(leg: String)
  /// The world runs in real time.
  case realTimeWorld
  /// Virtual time is not active.
  case notActive
  /// Another world is active, or another thread runs the app's work.
  case busy
  /// No work made progress within the limit. `held` describes the work that runs, waits or is queued.
  case stalled(seconds: Double, held: [String])
  /// The app ran more than `items` units of work at one virtual instant.
  case neverRests(items: Int, held: [String])
  /// The target lies before the present virtual time.
  case timeRunsForward(now: Int64, target: Int64)

  /// A sentence about the cause, and one about the remedy.
  public var description: String {
    switch self {
    case .unsupported(let leg):
      "Virtual time is not supported in this process: \(leg) escapes the scheduler. Link the test executable "
        + "dynamically and use a Swift toolchain that this package supports. If this package is a dynamic library, name "
        + "the library in LD_PRELOAD."
    case .realTimeWorld:
      "The app cannot follow a world in real time. Create the world with World(time: .virtual)."
    case .notActive:
      "The app is not under the control of a world. Call this inside World.withAppTime."
    case .busy:
      "Virtual time is in use by another world or another thread. Run these tests one at a time, for example with "
        + "`swift test --no-parallel` or in one serialized suite."
    case .stalled(let seconds, let held):
      "The app made no progress for \(seconds) s of real time. Work that has not finished: \(Self.list(held))."
    case .neverRests(let items, let held):
      "The app does not come to rest: it ran more than \(items) units of work at one virtual instant. "
        + "Queued work: \(Self.list(held))."
    case .timeRunsForward(let now, let target):
      "Virtual time cannot move back from \(now) ns to \(target) ns."
    }
  }

  private static func list(_ items: [String]) -> String {
    items.isEmpty ? "none" : items.joined(separator: "; ")
  }
}
