import BluetoothWire

/// A way through space and time: straight and even from each point to the next one.
package struct MovementPath: Hashable, Sendable {
  package struct Point: Hashable, Sendable {
    package var instant: Instant
    package var position: GridPosition

    package init(_ instant: Instant, _ position: GridPosition) {
      self.instant = instant
      self.position = position
    }
  }

  /// In order of time, at least one.
  private let points: [Point]

  /// The path through `points` in the order of their instants; of several at one instant the last one counts from then on.
  /// Before the first point it stands there, after the last one it stays. nil without any point.
  package init?(_ points: [Point]) {
    guard !points.isEmpty else { return nil }
    self.points = points.enumerated().sorted { ($0.element.instant, $0.offset) < ($1.element.instant, $1.offset) }
      .map(\.element)
  }

  /// How far, in millimetres, it leads away from where it is at `start`, until `end` (nil: at any time).
  func reach(from start: Instant, until end: Instant?) -> Int64 {
    let origin = position(at: start)
    var result = end.map { origin.distance(to: position(at: $0)) } ?? 0
    for point in points where point.instant > start && point.instant <= end ?? .distantFuture {
      result = max(result, origin.distance(to: point.position))
    }
    return result
  }

  /// Where it has brought one at `now`, rounded towards the point before.
  package func position(at now: Instant) -> GridPosition {
    // The first point that is still to come.
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
