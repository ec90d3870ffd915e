import BluetoothWire

/// The loss of an antenna by direction, relative to its strongest direction. The loss depends only on the angle to the
/// antenna's axis.
///
/// The axis keeps its direction in space while the radio moves.
package struct DirectionalLoss: Hashable, Sendable {
  /// The loss at one angle to the axis.
  private struct Point: Hashable {
    /// The cosine of the angle.
    let cosine: Double
    let loss: Decibel
  }

  /// The axis as a vector, of any length except 0.
  private let axis: SIMD3<Double>
  /// At least two points, from the angle 0 (cosine 1) to 180° (cosine −1).
  private let points: [Point]

  /// Creates a loss from its values at equal steps of the angle, which are interpolated.
  ///
  /// - Parameters:
  ///   - axis: the direction of the axis, as a vector. With a length of 0, or with a component that is not finite, the
  ///     axis is that of x.
  ///   - losses: the losses in the directions from 0° to 180° off the axis. Negative losses count as 0 dB. A list with
  ///     fewer than two elements means the same loss in all directions.
  package init(axis: (x: Double, y: Double, z: Double), losses: [Decibel]) {
    let vector = SIMD3(axis.x, axis.y, axis.z)
    let largest = max(abs(axis.x), abs(axis.y), abs(axis.z))
    let isUsable = axis.x.isFinite && axis.y.isFinite && axis.z.isFinite && largest > 0
    // Scaled so that squares neither overflow nor vanish.
    self.axis = isUsable ? vector / largest : SIMD3(1, 0, 0)
    let values = (losses.count < 2 ? Array(repeating: losses.first ?? Decibel(0), count: 2) : losses)
      .map { max($0, Decibel(0)) }
    let cosines = Self.cosines(steps: values.count - 1)
    points = zip(cosines, values).map { Point(cosine: $0, loss: $1) }
  }

  /// Returns the cosines of the angles from 0° to 180° in equal steps, by halves and sums of angles: these need only
  /// operations whose result is the same on every machine.
  private static func cosines(steps: Int) -> [Double] {
    // Step sizes are multiples of 180°/2³², as accurate as any antenna is measured.
    let bits = 32
    var halves: [(cosine: Double, sine: Double)] = [(-1, 0), (0, 1)]
    while halves.count <= bits {
      let last = halves[halves.count - 1]
      let cosine = ((1 + last.cosine) / 2).squareRoot()
      halves.append((cosine, last.sine / (2 * cosine)))
    }
    return (0...steps).map { step in
      // The angle in units of 180°/2³².
      let angle = UInt64(step) << UInt64(bits) / UInt64(steps)
      var (cosine, sine) = (1.0, 0.0)
      for bit in 0...bits where angle >> UInt64(bits - bit) & 1 == 1 {
        let half = halves[bit]
        (cosine, sine) = (cosine * half.cosine - sine * half.sine, sine * half.cosine + cosine * half.sine)
      }
      return cosine
    }
  }

  /// Returns the loss in the direction from the antenna at `origin` to `place`. At a distance of 0 there is no
  /// direction, and no loss.
  func loss(from origin: GridPosition, to place: GridPosition) -> Decibel {
    let difference = SIMD3(
      Double(place.x) - Double(origin.x), Double(place.y) - Double(origin.y), Double(place.z) - Double(origin.z))
    func product(_ left: SIMD3<Double>, _ right: SIMD3<Double>) -> Double {
      left.x * right.x + left.y * right.y + left.z * right.z
    }
    let lengths = (product(difference, difference) * product(axis, axis)).squareRoot()
    guard lengths > 0 else { return Decibel(0) }
    let cosine = product(difference, axis) / lengths
    // Binary search for the first point with a smaller cosine, that is, with a greater angle.
    var low = 1
    var high = points.count - 1
    while low < high {
      let middle = (low + high) / 2
      if points[middle].cosine < cosine { high = middle } else { low = middle + 1 }
    }
    let (before, after) = (points[low - 1], points[low])
    guard before.cosine > after.cosine else { return before.loss }
    let part = min(max((before.cosine - cosine) / (before.cosine - after.cosine), 0), 1)
    return before.loss + Decibel(rounding: part * (after.loss - before.loss).value)
  }
}
