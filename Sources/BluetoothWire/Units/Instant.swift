/// A duration in whole nanoseconds. Link layer times are multiples of a nanosecond, so sums are exact.
///
/// Inlinable, with each comparison operator defined explicitly: the event queue and the link layer do little else. A
/// profile of a simulation with many devices showed calls across the module boundary, and `>` called through a
/// witness table.
@usableFromInline package struct TimeSpan: Hashable, Comparable, Sendable {
  @usableFromInline package var nanoseconds: Int64

  @inlinable package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  @inlinable package static func nanoseconds(_ value: Int64) -> TimeSpan { TimeSpan(nanoseconds: value) }
  @inlinable package static func microseconds(_ value: Int64) -> TimeSpan { TimeSpan(nanoseconds: value * 1_000) }
  @inlinable package static func milliseconds(_ value: Int64) -> TimeSpan { TimeSpan(nanoseconds: value * 1_000_000) }
  @inlinable package static func seconds(_ value: Int64) -> TimeSpan { TimeSpan(nanoseconds: value * 1_000_000_000) }
  @inlinable package static var zero: TimeSpan { TimeSpan(nanoseconds: 0) }

  /// Creates the nearest representable duration. Clamps durations beyond ±292 years.
  package init(_ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, overflow2) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
    nanoseconds = overflow || overflow2 ? (seconds < 0 ? .min : .max) : sum
  }

  package var duration: Duration { .nanoseconds(nanoseconds) }

  @inlinable package static func < (left: TimeSpan, right: TimeSpan) -> Bool { left.nanoseconds < right.nanoseconds }
  @inlinable package static func > (left: TimeSpan, right: TimeSpan) -> Bool { left.nanoseconds > right.nanoseconds }
  @inlinable package static func <= (left: TimeSpan, right: TimeSpan) -> Bool { left.nanoseconds <= right.nanoseconds }
  @inlinable package static func >= (left: TimeSpan, right: TimeSpan) -> Bool { left.nanoseconds >= right.nanoseconds }
  @inlinable package static func == (left: TimeSpan, right: TimeSpan) -> Bool { left.nanoseconds == right.nanoseconds }
  @inlinable package static func + (left: TimeSpan, right: TimeSpan) -> TimeSpan {
    TimeSpan(nanoseconds: left.nanoseconds + right.nanoseconds)
  }
  @inlinable package static func - (left: TimeSpan, right: TimeSpan) -> TimeSpan {
    TimeSpan(nanoseconds: left.nanoseconds - right.nanoseconds)
  }
  @inlinable package static func * (left: TimeSpan, right: Int64) -> TimeSpan {
    TimeSpan(nanoseconds: left.nanoseconds * right)
  }
  @inlinable package static func * (left: Int64, right: TimeSpan) -> TimeSpan { right * left }
  @inlinable package static func / (left: TimeSpan, right: Int64) -> TimeSpan {
    TimeSpan(nanoseconds: left.nanoseconds / right)
  }
  @inlinable package static func += (left: inout TimeSpan, right: TimeSpan) { left = left + right }
  @inlinable package static func -= (left: inout TimeSpan, right: TimeSpan) { left = left - right }
}

/// A point in time in nanoseconds since the start of the simulated world or of the adapter.
@usableFromInline package struct Instant: Hashable, Comparable, Sendable {
  @usableFromInline package var nanoseconds: Int64

  @inlinable package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// The start of the time line.
  @inlinable package static var zero: Instant { Instant(nanoseconds: 0) }
  /// An instant later than all others.
  @inlinable package static var distantFuture: Instant { Instant(nanoseconds: .max) }

  @inlinable package var sinceZero: TimeSpan { TimeSpan(nanoseconds: nanoseconds) }

  @inlinable package static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }
  @inlinable package static func > (left: Instant, right: Instant) -> Bool { left.nanoseconds > right.nanoseconds }
  @inlinable package static func <= (left: Instant, right: Instant) -> Bool { left.nanoseconds <= right.nanoseconds }
  @inlinable package static func >= (left: Instant, right: Instant) -> Bool { left.nanoseconds >= right.nanoseconds }
  @inlinable package static func == (left: Instant, right: Instant) -> Bool { left.nanoseconds == right.nanoseconds }
  /// Returns the instant `span` later; `distantFuture` on overflow.
  @inlinable package static func + (left: Instant, right: TimeSpan) -> Instant {
    let (sum, overflow) = left.nanoseconds.addingReportingOverflow(right.nanoseconds)
    return overflow ? .distantFuture : Instant(nanoseconds: sum)
  }
  @inlinable package static func - (left: Instant, right: TimeSpan) -> Instant {
    Instant(nanoseconds: left.nanoseconds - right.nanoseconds)
  }
  @inlinable package static func - (left: Instant, right: Instant) -> TimeSpan {
    TimeSpan(nanoseconds: left.nanoseconds - right.nanoseconds)
  }
  @inlinable package static func += (left: inout Instant, right: TimeSpan) { left = left + right }
}

/// Returns the earlier of two deadlines, either of which may be nil.
@inlinable package func earliest(_ left: Instant?, _ right: Instant?) -> Instant? {
  guard let left else { return right }
  guard let right else { return left }
  return min(left, right)
}
