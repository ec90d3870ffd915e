/// A date and a time of day without a time zone · GATT Specification Supplement, Date Time; 0x2A08. Year, month and
/// day are 0 if they are unknown.
public struct DateTime: CharacteristicValue {
  /// The year: 1582 to 9999, or 0.
  public let year: UInt16
  /// The month: 1 to 12, or 0.
  public let month: UInt8
  /// The day of the month: 1 to 31, or 0.
  public let day: UInt8
  /// The hours, 0 to 23.
  public let hours: UInt8
  /// The minutes, 0 to 59.
  public let minutes: UInt8
  /// The seconds, 0 to 59.
  public let seconds: UInt8

  /// Returns nil if a component is out of its range.
  public init?(
    year: UInt16, month: UInt8, day: UInt8, hours: UInt8 = 0, minutes: UInt8 = 0, seconds: UInt8 = 0
  ) {
    self.year = year
    self.month = month
    self.day = day
    self.hours = hours
    self.minutes = minutes
    self.seconds = seconds
    guard wrongField == nil else { return nil }
  }

  public static let uuid: UInt16 = 0x2A08

  public init(from reader: inout ValueReader) throws(ValueError) {
    year = try reader.uint16()
    month = try reader.uint8()
    day = try reader.uint8()
    hours = try reader.uint8()
    minutes = try reader.uint8()
    seconds = try reader.uint8()
    if let wrongField { throw .outOfRange(field: wrongField) }
  }

  private var wrongField: String? {
    if year != 0, !(1582...9999).contains(year) { return "Year" }
    if month > 12 { return "Month" }
    if day > 31 { return "Day" }
    if hours > 23 { return "Hours" }
    if minutes > 59 { return "Minutes" }
    return seconds > 59 ? "Seconds" : nil
  }

  public func write(to writer: inout ValueWriter) {
    writer.integer(year)
    writer.append([month, day, hours, minutes, seconds])
  }

  /// The date and time as "2024-03-15 14:30:45", with "?" for unknown parts.
  public var description: String {
    func two(_ number: UInt8) -> String { (number < 10 ? "0" : "") + String(number) }
    let date = [year == 0 ? "????" : String(year), month == 0 ? "??" : two(month), day == 0 ? "??" : two(day)]
    return date.joined(separator: "-") + " " + [hours, minutes, seconds].map(two).joined(separator: ":")
  }

  public var fields: [ValueField] { [ValueField("", description)] }
}

/// A day of the week · GATT Specification Supplement, Day of Week; 0x2A09.
public struct DayOfWeek: CharacteristicValue, ValueCode {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public static let unknown: Self = 0
  public static let monday: Self = 1
  public static let tuesday: Self = 2
  public static let wednesday: Self = 3
  public static let thursday: Self = 4
  public static let friday: Self = 5
  public static let saturday: Self = 6
  public static let sunday: Self = 7

  public static let uuid: UInt16 = 0x2A09
  public static let names = [
    "unknown", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday",
  ]
}

/// A date and time with a day of the week · GATT Specification Supplement, Day Date Time; 0x2A0A. The day of the week
/// is as sent and need not match the date.
public struct DayDateTime: CharacteristicValue {
  public var dateTime: DateTime
  public var dayOfWeek: DayOfWeek

  public init(dateTime: DateTime, dayOfWeek: DayOfWeek = .unknown) {
    self.dateTime = dateTime
    self.dayOfWeek = dayOfWeek
  }

  public static let uuid: UInt16 = 0x2A0A

  public init(from reader: inout ValueReader) throws(ValueError) {
    dateTime = try DateTime(from: &reader)
    dayOfWeek = try reader.code()
  }

  public func write(to writer: inout ValueWriter) {
    dateTime.write(to: &writer)
    writer.code(dayOfWeek)
  }

  public var fields: [ValueField] { [ValueField("", dateTime), ValueField("", dayOfWeek)] }
}

/// A date and time with a fraction of a second · GATT Specification Supplement, Exact Time 256; 0x2A0C.
public struct ExactTime256: CharacteristicValue {
  public var dayDateTime: DayDateTime
  /// The fraction of a second in units of 1/256 s.
  public var fractions256: UInt8

  public init(dayDateTime: DayDateTime, fractions256: UInt8 = 0) {
    self.dayDateTime = dayDateTime
    self.fractions256 = fractions256
  }

  public static let uuid: UInt16 = 0x2A0C

  public init(from reader: inout ValueReader) throws(ValueError) {
    dayDateTime = try DayDateTime(from: &reader)
    fractions256 = try reader.uint8()
  }

  public func write(to writer: inout ValueWriter) {
    dayDateTime.write(to: &writer)
    writer.integer(fractions256)
  }

  public var fields: [ValueField] {
    dayDateTime.fields + [ValueField("fraction", "\(fractions256)/256", .second)]
  }
}
