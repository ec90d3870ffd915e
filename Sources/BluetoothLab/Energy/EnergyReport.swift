import Foundation

/// The energy consumption of a device since it was added, or between two snapshots.
public struct EnergyReport: Hashable, Sendable, Codable {
  /// The name of the device.
  public var name: String
  /// The time that the report covers.
  public var time: Duration
  /// The average current in milliamperes.
  public var averageCurrent: Double
  /// The maximum current in milliamperes.
  public var peakCurrent: Double
  /// The charge that each purpose of the radio consumed, in milliampere-seconds.
  public var charges: [RadioPurpose: Double]
  /// The charge consumed while sleeping, in milliampere-seconds.
  public var sleepingCharge: Double
  /// The battery that `days` and `warning` refer to.
  public var cell: Cell

  /// The charge per day in milliampere-hours.
  public var perDay: Double { averageCurrent * 24 }
  /// The battery life at this average current, in days.
  public var days: Double { cell.days(at: averageCurrent) }

  /// Returns the share of the total charge that a purpose of the radio consumed, 0 to 1.
  public func share(of purpose: RadioPurpose) -> Double {
    let total = charges.values.reduce(sleepingCharge, +)
    return total > 0 ? (charges[purpose] ?? 0) / total : 0
  }

  /// A warning if the device's maximum current exceeds that of the battery; otherwise nil.
  public var warning: String? {
    guard peakCurrent > cell.peak else { return nil }
    return "\(name) draws \(peakCurrent) mA at its peak; the cell gives \(cell.peak) mA"
  }
}

extension EnergyReport: CustomStringConvertible {
  /// A summary on one line: `hub: 50 µA on average, 1.20 mAh a day, 183 days; advertising 0 %, scanning 60 %,
  /// connections 20 %`.
  public var description: String {
    func rounded(_ value: Double, _ digits: Int) -> String { String(format: "%.\(digits)f", value) }
    let current =
      averageCurrent < 1 ? rounded(averageCurrent * 1_000, 0) + " µA" : rounded(averageCurrent, 1) + " mA"
    let shares = RadioPurpose.allCases.map { "\($0.rawValue) \(rounded(share(of: $0) * 100, 0)) %" }
    return "\(name): \(current) on average, \(rounded(perDay, 2)) mAh a day, \(rounded(days, 0)) days; "
      + shares.joined(separator: ", ")
  }
}

extension DeviceStatistics {
  /// Returns the energy consumption in the time of these statistics, by default with the device's own chip and
  /// battery.
  public func energy(_ profile: CurrentProfile? = nil, cell: Cell? = nil) -> EnergyReport {
    let (profile, cell) = (profile ?? chip, cell ?? self.cell)
    var charges: [RadioPurpose: Double] = [:]
    var peak = profile.sleeping / 1_000
    for (purpose, use) in uses {
      var charge = use.receiving.seconds * profile.receiving
      if use.receiving > .zero { peak = max(peak, profile.receiving) }
      for (power, time) in use.transmitting where time > .zero {
        let current = profile.transmitting(at: Double(power))
        charge += time.seconds * current
        peak = max(peak, current)
      }
      charges[purpose] = charge
    }
    let sleeping = sleeping.seconds * profile.sleeping / 1_000
    let total = charges.values.sorted().reduce(sleeping, +)
    return EnergyReport(
      name: name, time: time, averageCurrent: time > .zero ? total / time.seconds : 0, peakCurrent: peak,
      charges: charges, sleepingCharge: sleeping, cell: cell)
  }
}
