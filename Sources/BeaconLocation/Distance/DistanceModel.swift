import Foundation

/// A model of the path loss, which relates the received level to the distance: the level falls by 10 · `exponent`
/// decibels when the distance grows tenfold, and deviates from that by `shadowing` (the log-distance model).
///
/// The deviation comes from walls, bodies and reflections. It is constant as long as nothing moves, so a longer
/// measurement does not reduce it: with the default values, the distance is within a factor of 3.5 of the estimate in 95
/// of 100 places.
public struct DistanceModel: Hashable, Sendable {
  /// The path loss exponent: 2 in free space, 2.5 to 4 indoors, less than 2 in corridors. Values below 0.1 count as 0.1.
  public var exponent: Double
  /// The standard deviation of the level in decibels: 3 outdoors, 4 to 8 indoors. Negative values count as 0.
  public var shadowing: Double

  /// Creates a model.
  public init(exponent: Double = 2.5, shadowing: Double = 7) {
    self.exponent = exponent
    self.shadowing = shadowing
  }

  /// The path loss in decibels over the first metre in free space at 2.44 GHz: 20 · log₁₀(4π · 1 m / λ).
  public static let lossAtOneMetre = 40.2

  /// The quantile of the normal distribution that bounds 95 of 100 deviations.
  private static let quantile = 1.96

  /// Estimates the distance.
  ///
  /// - Parameters:
  ///   - level: the received level in dBm, the mean of several packets if possible.
  ///   - levelAtOneMetre: the level at a distance of one metre in dBm, as beacons advertise it.
  /// - Returns: the estimate; nil if a value is not finite.
  public func estimate(level: Double, levelAtOneMetre: Double) -> DistanceEstimate? {
    let slope = 10 * max(exponent, 0.1)
    let metres = pow(10, (levelAtOneMetre - level) / slope)
    let factor = pow(10, Self.quantile * max(shadowing, 0) / slope)
    guard metres.isFinite, (metres * factor).isFinite, metres > 0 else { return nil }
    return DistanceEstimate(metres: metres, interval: metres / factor...metres * factor)
  }

  /// Estimates the distance of a device that tells its transmit power.
  ///
  /// The antennas of both devices change the level by several decibels, so this estimate is worse than one with a
  /// measured level at one metre.
  ///
  /// - Parameters:
  ///   - level: the received level in dBm.
  ///   - transmitPower: the transmit power in dBm.
  public func estimate(level: Double, transmitPower: Double) -> DistanceEstimate? {
    estimate(level: level, levelAtOneMetre: transmitPower - Self.lossAtOneMetre)
  }
}

/// An estimate of a distance, with its error.
public struct DistanceEstimate: Hashable, Sendable, CustomStringConvertible {
  /// The most likely distance in metres.
  public let metres: Double
  /// The distances in metres that contain the true one in 95 of 100 places, if the parameters of the model are right.
  public let interval: ClosedRange<Double>

  /// The coarse distance: immediate up to 0.5 m, near up to 4 m, else far.
  public var proximity: CLProximity { metres < 0.5 ? .immediate : metres < 4 ? .near : .far }

  /// The distance and the interval with one decimal, such as "2.0 m (0.6 m to 7.1 m)".
  public var description: String {
    func text(_ value: Double) -> String { String(format: "%.1f m", value) }
    return "\(text(metres)) (\(text(interval.lowerBound)) to \(text(interval.upperBound)))"
  }
}
