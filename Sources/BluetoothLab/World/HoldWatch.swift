import BluetoothDaemon
import Dispatch
import NIOConcurrencyHelpers

/// The limits of the real time for which a run waits for work that holds the world.
package struct HoldLimits: Sendable {
  /// The time between two looks at the work.
  package var period: Duration
  /// The number of periods without progress before a warning.
  package var warning: Int
  /// The number of periods without progress before the run ends.
  package var stall: Int

  package init(period: Duration = .seconds(1), warning: Int = 10, stall: Int = 60) {
    self.period = period
    self.warning = warning
    self.stall = stall
  }
}

/// The work that holds a world, and the watch over a run that waits for it: work that never returns is an error, and not
/// a hang. Periods are counted instead of the time, so that a stop in a debugger counts as one.
final class HoldWatch: Sendable {
  private struct State {
    var limits = HoldLimits()
    /// The places in the source of the calls of `hold` whose work has not returned.
    var held: [Int: String] = [:]
    var nextNumber = 0
    /// The number of changes of `held` and of waits.
    var changes = 0
    var seen = 0
    /// The number of periods without a change.
    var idle = 0
    /// The function that wakes the run that waits; nil: no run waits.
    var wake: (@Sendable () -> Void)?
    var isStalled = false
    /// True while the next look is scheduled.
    var isScheduled = false

    var places: [String] { held.sorted { $0.key < $1.key }.map(\.value) }

    /// Counts a period. Returns the report that is due.
    mutating func periodEnded(_ wake: @escaping @Sendable () -> Void) -> Report? {
      idle = seen == changes ? idle + 1 : 0
      seen = changes
      if idle == limits.stall {
        isStalled = true
        return .stall(limits.period * idle, held: places, wake: wake)
      }
      return idle == limits.warning ? .warning(limits.period * idle, held: places) : nil
    }
  }

  private enum Report {
    case warning(Duration, held: [String])
    case stall(Duration, held: [String], wake: @Sendable () -> Void)
  }

  private let state = NIOLockedValueBox(State())

  var limits: HoldLimits {
    get { state.withLockedValue { $0.limits } }
    set { state.withLockedValue { $0.limits = newValue } }
  }

  /// The places in the source of the calls of `hold` whose work has not returned, in the order of the calls.
  var places: [String] { state.withLockedValue { $0.places } }

  /// True if the run that waits must end.
  var isStalled: Bool { state.withLockedValue { $0.isStalled } }

  /// Adds work. Returns its number.
  func add(_ place: String) -> Int {
    state.withLockedValue { state in
      let number = state.nextNumber
      state.nextNumber += 1
      state.changes += 1
      state.held[number] = place
      return number
    }
  }

  /// Removes work that has returned.
  func remove(_ number: Int) {
    state.withLockedValue { state in
      state.changes += 1
      state.held[number] = nil
    }
  }

  /// Begins the watch over a run that waits.
  ///
  /// - Parameter wake: called when the run must end.
  func beginWait(wake: @escaping @Sendable () -> Void) {
    let period: Duration? = state.withLockedValue { state in
      state.changes += 1
      state.isStalled = false
      state.wake = wake
      defer { state.isScheduled = true }
      return state.isScheduled ? nil : state.limits.period
    }
    if let period { scheduleLook(after: period) }
  }

  func endWait() {
    state.withLockedValue { state in
      state.isStalled = false
      state.wake = nil
    }
  }

  private func scheduleLook(after period: Duration) {
    let milliseconds = Int(period / .milliseconds(1))
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { [weak self] in
      self?.look()
    }
  }

  private func look() {
    let (report, period) = state.withLockedValue { state -> (Report?, Duration?) in
      guard let wake = state.wake else {
        state.isScheduled = false
        return (nil, nil)
      }
      return (state.periodEnded(wake), state.limits.period)
    }
    switch report {
    case .warning(let time, let held):
      Self.logger.warning("the world has been held for \(time) by work that has not returned: \(Self.list(held))")
    case .stall(let time, let held, let wake):
      Self.logger.error("a run ends, because work holds the world and has not returned for \(time): \(Self.list(held))")
      wake()
    case nil: break
    }
    if let period { scheduleLook(after: period) }
  }

  private static func list(_ places: [String]) -> String { places.joined(separator: ", ") }

  // Created for each message, so that a logging system that the app sets up later is used.
  private static var logger: PrintableLogger { PrintableLogger("BluetoothLab") }
}
