extension Double {
  /// Returns the number limited to a range that contains 0; 0 for NaN, which `min` and `max` may return unchanged.
  func limited(to range: ClosedRange<Double>) -> Double {
    isNaN ? 0 : Swift.min(Swift.max(self, range.lowerBound), range.upperBound)
  }
}
