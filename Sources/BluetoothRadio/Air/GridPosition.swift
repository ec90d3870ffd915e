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

  /// The distance in millimetres, rounded down.
  package func distance(to other: GridPosition) -> UInt64 {
    let (dx, dy, dz) = (x - other.x, y - other.y, z - other.z)
    let square = UInt64(dx.magnitude * dx.magnitude + dy.magnitude * dy.magnitude + dz.magnitude * dz.magnitude)
    // The floating root may be off by one either way; whole numbers decide.
    var root = UInt64(Double(square).squareRoot())
    while root * root > square { root -= 1 }
    while (root + 1) * (root + 1) <= square { root += 1 }
    return root
  }
}
