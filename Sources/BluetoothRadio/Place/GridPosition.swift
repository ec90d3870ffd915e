/// A position in space, in whole millimetres, so that every machine computes the same distances.
package struct GridPosition: Hashable, Sendable {
  package var x: Int64
  package var y: Int64
  package var z: Int64

  package init(x: Int64, y: Int64 = 0, z: Int64 = 0) {
    self.x = x
    self.y = y
    self.z = z
  }

  /// Creates a position from metres. Coordinates are clamped to ±1,000 km; NaN counts as 0.
  package init(metresX x: Double, y: Double, z: Double) {
    func millimetres(_ metres: Double) -> Int64 {
      metres.isNaN ? 0 : Int64(min(max(metres, -1e6), 1e6) * 1_000 + (metres < 0 ? -0.5 : 0.5))
    }
    self.init(x: millimetres(x), y: millimetres(y), z: millimetres(z))
  }

  /// Returns the square of the distance, in square millimetres; the largest number if an axis differs by more than
  /// about 2,147 km.
  @inline(__always)
  package func squaredDistance(to other: GridPosition) -> UInt64 {
    func difference(_ left: Int64, _ right: Int64) -> UInt64 {
      UInt64(bitPattern: left > right ? left &- right : right &- left)
    }
    let (dx, dy, dz) = (difference(x, other.x), difference(y, other.y), difference(z, other.z))
    guard (dx | dy | dz) < 1 << 31 else { return .max }
    return dx * dx + dy * dy + dz * dz
  }

  /// Returns an upper bound of the distance, in millimetres: the distance rounded down, plus 1.
  func distance(to other: GridPosition) -> Int64 {
    Int64(Double(squaredDistance(to: other)).squareRoot()) + 1
  }
}
