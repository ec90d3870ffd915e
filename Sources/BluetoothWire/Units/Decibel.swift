/// A level or a ratio of levels in steps of 1/256 dB; as an absolute level it counts from 1 mW (dBm).
/// Whole numbers, so that every machine comes to the same result.
///
/// Inlinable, as `Instant` is: every reception is decided by sums and comparisons of levels.
@usableFromInline package struct Decibel: Hashable, Comparable, Sendable {
  /// 256ths of a decibel.
  @usableFromInline package var steps: Int32

  @inlinable package init(steps: Int32) { self.steps = steps }
  @inlinable package init(_ whole: Int) { steps = Int32(whole) * 256 }
  /// The nearest step; values beyond ±1,000,000 dB are held there.
  package init(rounding value: Double) {
    let bounded = value.isNaN ? 0 : min(max(value, -1e6), 1e6)
    // Without `rounded()`, which would ask programs without Foundation for the C library's mathematics.
    steps = Int32(bounded * 256 + (bounded < 0 ? -0.5 : 0.5))
  }

  /// Rounded to whole decibels, halves away from zero.
  @inlinable package var rounded: Int { Int((steps >= 0 ? steps + 128 : steps - 128) / 256) }
  package var value: Double { Double(steps) / 256 }

  @inlinable package static func < (left: Decibel, right: Decibel) -> Bool { left.steps < right.steps }
  @inlinable package static func > (left: Decibel, right: Decibel) -> Bool { left.steps > right.steps }
  @inlinable package static func <= (left: Decibel, right: Decibel) -> Bool { left.steps <= right.steps }
  @inlinable package static func >= (left: Decibel, right: Decibel) -> Bool { left.steps >= right.steps }
  @inlinable package static func == (left: Decibel, right: Decibel) -> Bool { left.steps == right.steps }
  @inlinable package static func + (left: Decibel, right: Decibel) -> Decibel {
    Decibel(steps: left.steps &+ right.steps)
  }
  @inlinable package static func - (left: Decibel, right: Decibel) -> Decibel {
    Decibel(steps: left.steps &- right.steps)
  }
}
