import Foundation

/// The energy consumption of a device since it was added, or between two snapshots.
public struct EnergyReport: Hashable, Sendable, Codable {
  /// The name of the device.
  public var name: String
  /// The time that the report covers.
  public var time: Duration
  /// The average current.
  public var averageMilliamperes: Double
  /// The maximum current.
  public var peakMilliamperes: Double
  /// The charge that each purpose of the radio consumed.
  public var milliampereSeconds: [RadioPurpose: Double]
  /// The charge consumed while sleeping.
  public var sleepingMilliampereSeconds: Double
  /// The battery that `batteryLifeInDays` and `warning` refer to.
  public var cell: Cell

  /// The charge per day.
  public var milliampereHoursPerDay: Double { averageMilliamperes * 24 }
  /// The battery life at this average and this maximum current.
  public var batteryLifeInDays: Double {
    cell.lifeInDays(atMilliamperes: averageMilliamperes, peakMilliamperes: peakMilliamperes)
  }

  /// Returns the share of the total charge that a purpose of the radio consumed, 0 to 1.
  public func share(of purpose: RadioPurpose) -> Double {
    let total = milliampereSeconds.values.reduce(sleepingMilliampereSeconds, +)
    return total > 0 ? (milliampereSeconds[purpose] ?? 0) / total : 0
  }

  /// A warning if the device's maximum current exceeds that of the battery; otherwise nil.
  public var warning: String? {
    guard peakMilliamperes > cell.peakMilliamperes else { return nil }
    return
      "\(name) needs a peak current of \(peakMilliamperes) mA; its cell supplies at most \(cell.peakMilliamperes) mA"
  }
}

extension EnergyReport: CustomStringConvertible {
  /// A summary on one line: `hub: 50 µA on average, 1.20 mAh a day, 178 days; advertising 0 %, scanning 60 %,
  /// connections 20 %`.
  public var description: String {
    func rounded(_ value: Double, _ digits: Int) -> String { String(format: "%.\(digits)f", value) }
    let current =
      averageMilliamperes < 1
      ? rounded(averageMilliamperes * 1_000, 0) + " µA" : rounded(averageMilliamperes, 1) + " mA"
    let shares = RadioPurpose.allCases.map { "\($0.rawValue) \(rounded(share(of: $0) * 100, 0)) %" }
    return "\(name): \(current) on average, \(rounded(milliampereHoursPerDay, 2)) mAh a day, "
      + "\(rounded(batteryLifeInDays, 0)) days; "
      + shares.joined(separator: ", ")
  }
}

extension DeviceStatistics {
  /// Returns the energy consumption in the time of these statistics, by default with the device's own chip and
  /// battery.
  public func energy(_ profile: CurrentProfile? = nil, cell: Cell? = nil) -> EnergyReport {
    let (profile, cell) = (profile ?? chip, cell ?? self.cell)
    var charges: [RadioPurpose: Double] = [:]
    var peak = profile.sleepingMicroamperes / 1_000
    for (purpose, use) in uses {
      var charge = use.receiving.seconds * profile.receivingMilliamperes
      if use.receiving > .zero { peak = max(peak, profile.receivingMilliamperes) }
      for (power, time) in use.transmitting where time > .zero {
        let current = profile.transmittingMilliamperes(at: Double(power))
        charge += time.seconds * current
        peak = max(peak, current)
      }
      charges[purpose] = charge
    }
    let sleeping = sleeping.seconds * profile.sleepingMicroamperes / 1_000
    let total = charges.values.sorted().reduce(sleeping, +)
    return EnergyReport(
      name: name, time: time, averageMilliamperes: time > .zero ? total / time.seconds : 0, peakMilliamperes: peak,
      milliampereSeconds: charges, sleepingMilliampereSeconds: sleeping, cell: cell)
  }
}
