/// A length of time in whole nanoseconds. Link layer times are multiples of it, so sums are exact.
package struct TimeSpan: Hashable, Comparable, Sendable {
  package var nanoseconds: Int64

  package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  package static func nanoseconds(_ value: Int64) -> TimeSpan { TimeSpan(nanoseconds: value) }
  package static func microseconds(_ value: Int64) -> TimeSpan { TimeSpan(nanoseconds: value * 1_000) }
  package static func milliseconds(_ value: Int64) -> TimeSpan { TimeSpan(nanoseconds: value * 1_000_000) }
  package static func seconds(_ value: Int64) -> TimeSpan { TimeSpan(nanoseconds: value * 1_000_000_000) }
  package static var zero: TimeSpan { TimeSpan(nanoseconds: 0) }

  /// The nearest representable length; a duration beyond ±292 years is held at that.
  package init(_ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, overflow2) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
    nanoseconds = overflow || overflow2 ? (seconds < 0 ? .min : .max) : sum
  }

  package var duration: Duration { .nanoseconds(nanoseconds) }

  package static func < (left: TimeSpan, right: TimeSpan) -> Bool { left.nanoseconds < right.nanoseconds }
  package static func + (left: TimeSpan, right: TimeSpan) -> TimeSpan {
    TimeSpan(nanoseconds: left.nanoseconds + right.nanoseconds)
  }
  package static func - (left: TimeSpan, right: TimeSpan) -> TimeSpan {
    TimeSpan(nanoseconds: left.nanoseconds - right.nanoseconds)
  }
  package static func * (left: TimeSpan, right: Int64) -> TimeSpan {
    TimeSpan(nanoseconds: left.nanoseconds * right)
  }
  package static func * (left: Int64, right: TimeSpan) -> TimeSpan { right * left }
  package static func / (left: TimeSpan, right: Int64) -> TimeSpan {
    TimeSpan(nanoseconds: left.nanoseconds / right)
  }
  package static func += (left: inout TimeSpan, right: TimeSpan) { left = left + right }
  package static func -= (left: inout TimeSpan, right: TimeSpan) { left = left - right }
}

/// A point on a world's or an adapter's time line, in nanoseconds since that began.
package struct Instant: Hashable, Comparable, Sendable {
  package var nanoseconds: Int64

  package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// When the time line begins.
  package static var zero: Instant { Instant(nanoseconds: 0) }
  /// Later than everything.
  package static var distantFuture: Instant { Instant(nanoseconds: .max) }

  package var sinceZero: TimeSpan { TimeSpan(nanoseconds: nanoseconds) }

  package static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }
  /// The instant `span` later, held at `distantFuture`.
  package static func + (left: Instant, right: TimeSpan) -> Instant {
    let (sum, overflow) = left.nanoseconds.addingReportingOverflow(right.nanoseconds)
    return overflow ? .distantFuture : Instant(nanoseconds: sum)
  }
  package static func - (left: Instant, right: TimeSpan) -> Instant {
    Instant(nanoseconds: left.nanoseconds - right.nanoseconds)
  }
  package static func - (left: Instant, right: Instant) -> TimeSpan {
    TimeSpan(nanoseconds: left.nanoseconds - right.nanoseconds)
  }
  package static func += (left: inout Instant, right: TimeSpan) { left = left + right }
}

/// The earlier of two deadlines, of which either may be missing.
package func earliest(_ left: Instant?, _ right: Instant?) -> Instant? {
  guard let left else { return right }
  guard let right else { return left }
  return min(left, right)
}
