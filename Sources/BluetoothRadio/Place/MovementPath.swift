import BluetoothWire

/// A path of a moving radio: straight and at constant speed from each point to the next.
package struct MovementPath: Hashable, Sendable {
  package struct Point: Hashable, Sendable {
    package var instant: Instant
    package var position: GridPosition

    package init(_ instant: Instant, _ position: GridPosition) {
      self.instant = instant
      self.position = position
    }
  }

  /// At least one point, in order of time.
  private let points: [Point]

  /// Creates the path through `points` in the order of their instants; of several points with the same instant, the
  /// last one counts from that instant on. The radio stands at the first point before its instant, and at the last
  /// point after its instant. Returns nil if `points` is empty.
  package init?(_ points: [Point]) {
    guard !points.isEmpty else { return nil }
    self.points = points.enumerated().sorted { ($0.element.instant, $0.offset) < ($1.element.instant, $1.offset) }
      .map(\.element)
  }

  /// Returns the greatest distance, in millimetres, that the path reaches from its position at `start` until `end`
  /// (nil: without an end).
  func reach(from start: Instant, until end: Instant?) -> Int64 {
    let origin = position(at: start)
    var result = end.map { origin.distance(to: position(at: $0)) } ?? 0
    for point in points where point.instant > start && point.instant <= end ?? .distantFuture {
      result = max(result, origin.distance(to: point.position))
    }
    return result
  }

  /// Returns the position at `now`, rounded towards the previous point.
  package func position(at now: Instant) -> GridPosition {
    // Binary search for the first point after `now`.
    var low = 0
    var high = points.count
    while low < high {
      let middle = (low + high) / 2
      if points[middle].instant <= now { low = middle + 1 } else { high = middle }
    }
    guard low > 0 else { return points[0].position }
    guard low < points.count else { return points[low - 1].position }
    let (from, to) = (points[low - 1], points[low])
    let part = Int128((now - from.instant).nanoseconds)
    let whole = Int128((to.instant - from.instant).nanoseconds)
    func between(_ start: Int64, _ end: Int64) -> Int64 { start + Int64((Int128(end) - Int128(start)) * part / whole) }
    return GridPosition(
      x: between(from.position.x, to.position.x), y: between(from.position.y, to.position.y),
      z: between(from.position.z, to.position.z))
  }
}
