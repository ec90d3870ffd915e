/// A level or a ratio of levels in steps of 1/256 dB. An absolute level is relative to 1 mW (dBm). Integer arithmetic
/// gives the same result on every machine.
///
/// Inlinable like `Instant`, because sums and comparisons of levels decide every reception.
@usableFromInline package struct Decibel: Hashable, Comparable, Sendable {
  /// The level in units of 1/256 dB.
  @usableFromInline package var steps: Int32

  @inlinable package init(steps: Int32) { self.steps = steps }
  @inlinable package init(_ whole: Int) { steps = Int32(whole) * 256 }
  /// Creates the level of the nearest step. Clamps `value` to ±1,000,000 dB; NaN becomes 0 dB.
  package init(rounding value: Double) {
    let bounded = value.isNaN ? 0 : min(max(value, -1e6), 1e6)
    // Without `rounded()`, which would make programs that do not use Foundation depend on the C mathematics library.
    steps = Int32(bounded * 256 + (bounded < 0 ? -0.5 : 0.5))
  }

  /// The level in whole decibels, rounded half away from zero.
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
