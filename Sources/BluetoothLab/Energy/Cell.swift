import Foundation

/// A battery.
///
/// Its usable capacity is less than the nominal one if the current comes in high pulses, and outside of room temperature;
/// its self-discharge rises with the temperature.
public struct Cell: Hashable, Sendable, Codable {
  /// The part of the capacity that is usable at one temperature.
  public struct CapacityPoint: Hashable, Sendable, Codable {
    /// The temperature in °C.
    public var temperature: Double
    /// The usable part of the capacity, 0 to 1.
    public var factor: Double

    /// Creates a point of the curve: the usable part of the capacity, 0 to 1, at this temperature in °C.
    public init(at temperature: Double, factor: Double) {
      self.temperature = temperature
      self.factor = factor
    }
  }

  /// The nominal capacity: at 20 °C, with a small and steady current.
  public var milliampereHours: Double
  /// The maximum current for short pulses.
  public var peakMilliamperes: Double
  /// The self-discharge at 20 °C, in per cent of the nominal capacity a year. It doubles with each 10 °C.
  public var selfDischargePerYear: Double
  /// The capacity that is lost for each milliampere of the highest pulses, in per cent of the nominal capacity.
  public var pulseDerating: Double
  /// The usable part of the capacity at several temperatures. Between these temperatures the part is interpolated
  /// linearly; outside their range, that of the nearest temperature applies. With an empty list, all is usable.
  public var capacityPoints: [CapacityPoint]
  /// The temperature of the cell in °C.
  public var temperature: Double

  /// Creates a battery at 20 °C.
  ///
  /// - Parameters:
  ///   - milliampereHours: the nominal capacity.
  ///   - peakMilliamperes: the maximum current for short pulses.
  ///   - selfDischargePerYear: the self-discharge at 20 °C in per cent a year.
  ///   - pulseDerating: the capacity that each milliampere of the highest pulses costs, in per cent.
  ///   - capacityPoints: the usable part of the capacity at several temperatures.
  public init(
    milliampereHours: Double, peakMilliamperes: Double, selfDischargePerYear: Double = 1, pulseDerating: Double = 0,
    capacityPoints: [CapacityPoint] = []
  ) {
    self.milliampereHours = milliampereHours
    self.peakMilliamperes = peakMilliamperes
    self.selfDischargePerYear = selfDischargePerYear
    self.pulseDerating = pulseDerating
    self.capacityPoints = capacityPoints.sorted { $0.temperature < $1.temperature }
    temperature = 20
  }

  /// A CR2032 coin cell, 20 mm in diameter and 3.2 mm high.
  public static let cr2032 = coin(milliampereHours: 220, peakMilliamperes: 20)
  /// A CR2025 coin cell, 20 mm in diameter and 2.5 mm high.
  public static let cr2025 = coin(milliampereHours: 160, peakMilliamperes: 20)
  /// A CR2450 coin cell, 24 mm in diameter and 5 mm high.
  public static let cr2450 = coin(milliampereHours: 620, peakMilliamperes: 30)
  /// Two alkaline AAA cells in series.
  public static let twoAAA = Cell(milliampereHours: 1_200, peakMilliamperes: 500, selfDischargePerYear: 3)
  /// A phone's battery.
  public static let telephone = Cell(milliampereHours: 3_000, peakMilliamperes: 2_000, selfDischargePerYear: 30)

  /// Returns a coin cell of lithium and manganese dioxide.
  ///
  /// The loss by pulses is that of Texas Instruments SWRA349, "Coin cells and peak current draw": over six makers,
  /// pulses of 30 mA leave 9 % less than pulses of 15 mA. The parts at other temperatures are round values that show
  /// the direction; replace them by those of a data sheet.
  private static func coin(milliampereHours: Double, peakMilliamperes: Double) -> Cell {
    Cell(
      milliampereHours: milliampereHours, peakMilliamperes: peakMilliamperes, pulseDerating: 0.55,
      capacityPoints: [
        CapacityPoint(at: -20, factor: 0.7), CapacityPoint(at: 0, factor: 0.9), CapacityPoint(at: 20, factor: 1),
      ])
  }

  /// Returns the usable capacity in milliampere-hours at the cell's temperature, if the current rises to
  /// `peakMilliamperes` in pulses.
  public func usableMilliampereHours(atPeakMilliamperes peakMilliamperes: Double = 0) -> Double {
    milliampereHours * min(max(1 - pulseDerating * peakMilliamperes / 100, 0), 1) * temperatureFactor
  }

  private var temperatureFactor: Double {
    guard let first = capacityPoints.first, let last = capacityPoints.last else { return 1 }
    guard temperature > first.temperature else { return first.factor }
    for (lower, upper) in zip(capacityPoints, capacityPoints.dropFirst()) where temperature <= upper.temperature {
      let span = upper.temperature - lower.temperature
      let part = span > 0 ? (temperature - lower.temperature) / span : 1
      return lower.factor + part * (upper.factor - lower.factor)
    }
    return last.factor
  }

  /// Returns the battery life in days at this average current, including self-discharge, if the current rises to
  /// `peakMilliamperes` in pulses.
  public func lifeInDays(atMilliamperes current: Double, peakMilliamperes: Double = 0) -> Double {
    let losing = milliampereHours * selfDischargePerYear / 100 / 365 * pow(2, (temperature - 20) / 10)
    let daily = current * 24 + losing
    return daily > 0 ? usableMilliampereHours(atPeakMilliamperes: peakMilliamperes) / daily : .infinity
  }
}
