import Foundation

/// A model of the path loss, which relates the received level to the distance: the level falls by 10 · `exponent`
/// decibels when the distance grows tenfold, and deviates from that by `shadowing` (the log-distance model).
///
/// The deviation comes from walls, bodies and reflections. It is constant as long as nothing moves, so a longer
/// measurement does not reduce it: with the default values, the distance is within a factor of 3.5 of the estimate in 95
/// of 100 places. If the device tells its transmit power in place of the level at one metre, `lossDeviation` makes that
/// a factor of 7.
public struct DistanceModel: Hashable, Sendable {
  /// The loss over the first metre in decibels, from a device's transmit power to the level that another device reports.
  /// Ideal antennas in free space lose 40; usual products, with their small antennas, cases and bodies, lose 59: an
  /// iBeacon with 0 dBm advertises −59 dBm.
  public var lossAtOneMetre: Double
  /// The standard deviation of `lossAtOneMetre` between products, in decibels. Negative values count as 0.
  public var lossDeviation: Double
  /// The path loss exponent: 2 in free space, 2.5 to 4 indoors, less than 2 in corridors. Values below 0.1 count as 0.1.
  public var exponent: Double
  /// The standard deviation of the level in decibels: 3 outdoors, 4 to 8 indoors. Negative values count as 0.
  public var shadowing: Double

  /// Creates a model, by default of an unknown place with usual products.
  public init(
    lossAtOneMetre: Double = 59, lossDeviation: Double = 8, exponent: Double = 2.5, shadowing: Double = 7
  ) {
    self.lossAtOneMetre = lossAtOneMetre
    self.lossDeviation = lossDeviation
    self.exponent = exponent
    self.shadowing = shadowing
  }

  /// The quantile of the normal distribution that bounds 95 of 100 deviations.
  private static let quantile = 1.96

  /// Estimates the distance.
  ///
  /// - Parameters:
  ///   - level: the received level in dBm, the mean of several packets if possible.
  ///   - levelAtOneMetre: the level at a distance of one metre in dBm, as beacons advertise it.
  /// - Returns: the estimate; nil if a value is not finite.
  public func estimate(level: Double, levelAtOneMetre: Double) -> DistanceEstimate? {
    estimate(loss: levelAtOneMetre - level, deviation: max(shadowing, 0))
  }

  /// Estimates the distance from the loss beyond the first metre and its standard deviation, in decibels.
  private func estimate(loss: Double, deviation: Double) -> DistanceEstimate? {
    let slope = 10 * max(exponent, 0.1)
    let metres = pow(10, loss / slope)
    let factor = pow(10, Self.quantile * deviation / slope)
    guard metres.isFinite, (metres * factor).isFinite, metres > 0 else { return nil }
    return DistanceEstimate(metres: metres, interval: metres / factor...metres * factor)
  }

  /// Estimates the distance of a device that tells its transmit power.
  ///
  /// The antennas of both devices change the level by several decibels, so the interval is wider than that of an
  /// estimate from the level at one metre.
  ///
  /// - Parameters:
  ///   - level: the received level in dBm.
  ///   - transmitPower: the transmit power in dBm.
  public func estimate(level: Double, transmitPower: Double) -> DistanceEstimate? {
    let (shadowing, lossDeviation) = (max(shadowing, 0), max(lossDeviation, 0))
    return estimate(
      loss: transmitPower - lossAtOneMetre - level,
      deviation: (shadowing * shadowing + lossDeviation * lossDeviation).squareRoot())
  }

  /// Estimates the distance of a device with this reference.
  package func estimate(level: Double, _ reference: PowerReference) -> DistanceEstimate? {
    switch reference {
    case .levelAtOneMetre(let reference): estimate(level: level, levelAtOneMetre: reference)
    case .transmitPower(let power): estimate(level: level, transmitPower: power)
    }
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
