/// A place in space, in whole millimetres, so that distances are the same on every machine.
package struct GridPosition: Hashable, Sendable {
  package var x: Int64
  package var y: Int64
  package var z: Int64

  package init(x: Int64, y: Int64 = 0, z: Int64 = 0) {
    self.x = x
    self.y = y
    self.z = z
  }

  /// In metres, held within ±1,000 km; what is not a number counts as 0.
  package init(metresX x: Double, y: Double, z: Double) {
    func millimetres(_ metres: Double) -> Int64 {
      metres.isNaN ? 0 : Int64(min(max(metres, -1e6), 1e6) * 1_000 + (metres < 0 ? -0.5 : 0.5))
    }
    self.init(x: millimetres(x), y: millimetres(y), z: millimetres(z))
  }

  /// The square of the distance, in square millimetres; held at the largest number from 3,000 km on.
  @inline(__always)
  package func squaredDistance(to other: GridPosition) -> UInt64 {
    func difference(_ left: Int64, _ right: Int64) -> UInt64 {
      UInt64(bitPattern: left > right ? left &- right : right &- left)
    }
    let (dx, dy, dz) = (difference(x, other.x), difference(y, other.y), difference(z, other.z))
    guard (dx | dy | dz) < 1 << 31 else { return .max }
    return dx * dx + dy * dy + dz * dz
  }

  /// The distance, in millimetres, rounded up.
  func distance(to other: GridPosition) -> Int64 {
    Int64(Double(squaredDistance(to: other)).squareRoot()) + 1
  }
}
