import BluetoothProfiles

/// The memory of a pedometer: the steps of each hour of today, and of the past days. It counts in whole numbers, so that
/// the result does not depend on when it is asked.
struct StepCounter: Sendable {
  /// The steps of each hour of today.
  private(set) var hours = [UInt16](repeating: 0, count: 24)
  /// The past days, the oldest first.
  private(set) var days: [Pedometer.Day] = []
  /// Today, in days since 1970-01-01.
  private(set) var today: Int
  /// The time of the day in nanoseconds.
  private var time: Int64
  /// The part of the next step that has been walked: thousandths of a step per minute times nanoseconds.
  private var rest: Int64 = 0

  private static let hour: Int64 = 3_600_000_000_000
  private static let step: Int64 = 1_000 * 60_000_000_000

  /// Creates a counter at a time in nanoseconds after the begin of a day, with past days that end with the day before.
  ///
  /// - Parameter pastDays: the steps of the past days, the oldest first.
  init(day: Int, nanoseconds: Int64, pastDays: [UInt32]) {
    let days = nanoseconds / (24 * Self.hour)
    (today, time) = (day + Int(days), nanoseconds - days * 24 * Self.hour)
    for (index, steps) in pastDays.enumerated() {
      let date = Pedometer.Date(daysSince1970: today - pastDays.count + index)
      self.days.append(Pedometer.Day(date, steps: steps))
    }
  }

  /// The steps of today.
  var stepsToday: UInt32 { hours.reduce(0) { $0 + UInt32($1) } }

  /// The time until the next midnight, in nanoseconds.
  var untilMidnight: Int64 { 24 * Self.hour - time }

  /// Walks for some time.
  ///
  /// - Parameters:
  ///   - nanoseconds: the time.
  ///   - cadence: the steps per minute, 0 to 1,000.
  ///   - capacity: the number of past days that are kept.
  mutating func walk(for nanoseconds: Int64, cadence: Double, capacity: Int) {
    let speed = Int64((cadence.limited(to: 0...1_000) * 1_000).rounded())
    var left = max(0, nanoseconds)
    while left > 0 {
      let index = Int(time / Self.hour)
      let part = min(left, Self.hour - time % Self.hour)
      // At most 10⁶ · 3.6 · 10¹² and a rest of less than 6 · 10¹³.
      rest += speed * part
      hours[index] = UInt16(clamping: Int64(hours[index]) + rest / Self.step)
      rest %= Self.step
      time += part
      left -= part
      if time == 24 * Self.hour { endDay() }
    }
    days.removeFirst(max(0, days.count - max(0, capacity)))
  }

  /// Stores today, and begins the next day.
  private mutating func endDay() {
    days.append(Pedometer.Day(Pedometer.Date(daysSince1970: today), steps: stepsToday))
    hours = [UInt16](repeating: 0, count: 24)
    (today, time) = (today + 1, 0)
  }
}
