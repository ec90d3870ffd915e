import Foundation

/// What a device has drawn from its battery since the world began, or between two snapshots.
public struct EnergyReport: Hashable, Sendable, Codable {
  /// The device.
  public var name: String
  /// The time that it is about.
  public var time: Duration
  /// Milliamperes, on average.
  public var averageCurrent: Double
  /// The most that it has drawn for a moment, milliamperes.
  public var peakCurrent: Double
  /// What each purpose of its radio has cost, milliampere-seconds.
  public var charges: [RadioPurpose: Double]
  /// What sleeping has cost, milliampere-seconds.
  public var sleepingCharge: Double
  /// The battery.
  public var cell: Cell

  /// Milliampere-hours a day.
  public var perDay: Double { averageCurrent * 24 }
  /// How long the battery lasts at this rate, days.
  public var days: Double { cell.days(at: averageCurrent) }

  /// What part of all charge a purpose has taken, 0 to 1.
  public func share(of purpose: RadioPurpose) -> Double {
    let total = charges.values.reduce(sleepingCharge, +)
    return total > 0 ? (charges[purpose] ?? 0) / total : 0
  }

  /// What is wrong with the battery for this device; nil: nothing.
  public var warning: String? {
    guard peakCurrent > cell.peak else { return nil }
    return "\(name) draws \(peakCurrent) mA at its peak; the cell gives \(cell.peak) mA"
  }
}

extension EnergyReport: CustomStringConvertible {
  /// One line: `hub: 50 µA on average, 1.20 mAh a day, 183 days; advertising 0 %, scanning 60 %, connections 20 %`.
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
  /// What the device has drawn in the time of these statistics, with the chip and the battery that it has, unless others are
  /// given.
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
