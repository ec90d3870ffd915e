/// The pending deadlines of an accessory that waits for several things, such as its next measurement and the end of a
/// calibration. The context schedules the earliest.
struct AccessoryTimers<Purpose: Equatable & Sendable>: Sendable {
  /// The deadlines, each with the period for which `run` has set it.
  private var pending: [(purpose: Purpose, time: Duration, period: Duration?)] = []
  /// The purposes that `takeDue` has returned, which keep their memory for the next time.
  private var due: [Purpose] = []

  /// Returns true if a deadline for this purpose is pending.
  func has(_ purpose: Purpose) -> Bool { pending.contains { $0.purpose == purpose } }

  /// Sets the deadline for this purpose, and replaces the one that was pending; nil cancels it.
  mutating func set(_ purpose: Purpose, after time: Duration?, in context: inout AccessoryContext) {
    replace(purpose, after: time, period: nil, in: &context)
  }

  /// Sets the deadline for this purpose while it is needed, unless it is pending with the same period; otherwise cancels
  /// it. A period of zero or less is never due, and a new period begins now.
  mutating func run(
    _ purpose: Purpose, every period: Duration, while isNeeded: Bool, in context: inout AccessoryContext
  ) {
    guard isNeeded, period > .zero else {
      if has(purpose) { replace(purpose, after: nil, period: nil, in: &context) }
      return
    }
    if pending.contains(where: { $0.purpose == purpose && $0.period == period }) { return }
    replace(purpose, after: period, period: period, in: &context)
  }

  private mutating func replace(
    _ purpose: Purpose, after time: Duration?, period: Duration?, in context: inout AccessoryContext
  ) {
    pending.removeAll { $0.purpose == purpose }
    if let time { pending.append((purpose, context.now + time, period)) }
    schedule(in: &context)
  }

  /// Removes and returns the purposes whose deadlines have passed, in the order in which they were set.
  mutating func takeDue(in context: inout AccessoryContext) -> [Purpose] {
    due.removeAll(keepingCapacity: true)
    for entry in pending where entry.time <= context.now { due.append(entry.purpose) }
    pending.removeAll { $0.time <= context.now }
    schedule(in: &context)
    return due
  }

  private func schedule(in context: inout AccessoryContext) {
    let now = context.now
    context.wake(after: pending.lazy.map(\.time).min().map { $0 - now })
  }
}
