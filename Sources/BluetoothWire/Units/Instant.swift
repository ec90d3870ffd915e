/// A length of time in whole nanoseconds. Link layer times are multiples of it, so sums are exact.
///
/// Inlinable, all comparisons on their own: the event queue and the link layer do little else, and a profile of a crowd had
/// calls across the module's border in it, those of `>` through a witness table.
@usableFromInline package struct TimeSpan: Hashable, Comparable, Sendable {
  @usableFromInline package var nanoseconds: Int64

  @inlinable package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  @inlinable package static func nanoseconds(_ value: Int64) -> TimeSpan { TimeSpan(nanoseconds: value) }
  @inlinable package static func microseconds(_ value: Int64) -> TimeSpan { TimeSpan(nanoseconds: value * 1_000) }
  @inlinable package static func milliseconds(_ value: Int64) -> TimeSpan { TimeSpan(nanoseconds: value * 1_000_000) }
  @inlinable package static func seconds(_ value: Int64) -> TimeSpan { TimeSpan(nanoseconds: value * 1_000_000_000) }
  @inlinable package static var zero: TimeSpan { TimeSpan(nanoseconds: 0) }

  /// The nearest representable length; a duration beyond ±292 years is held at that.
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

/// A point on a world's or an adapter's time line, in nanoseconds since that began.
@usableFromInline package struct Instant: Hashable, Comparable, Sendable {
  @usableFromInline package var nanoseconds: Int64

  @inlinable package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// When the time line begins.
  @inlinable package static var zero: Instant { Instant(nanoseconds: 0) }
  /// Later than everything.
  @inlinable package static var distantFuture: Instant { Instant(nanoseconds: .max) }

  @inlinable package var sinceZero: TimeSpan { TimeSpan(nanoseconds: nanoseconds) }

  @inlinable package static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }
  @inlinable package static func > (left: Instant, right: Instant) -> Bool { left.nanoseconds > right.nanoseconds }
  @inlinable package static func <= (left: Instant, right: Instant) -> Bool { left.nanoseconds <= right.nanoseconds }
  @inlinable package static func >= (left: Instant, right: Instant) -> Bool { left.nanoseconds >= right.nanoseconds }
  @inlinable package static func == (left: Instant, right: Instant) -> Bool { left.nanoseconds == right.nanoseconds }
  /// The instant `span` later, held at `distantFuture`.
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

/// The earlier of two deadlines, of which either may be missing.
@inlinable package func earliest(_ left: Instant?, _ right: Instant?) -> Instant? {
  guard let left else { return right }
  guard let right else { return left }
  return min(left, right)
}
