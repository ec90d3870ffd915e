import BluetoothProfiles

// The values of the pedometer's service.

extension Pedometer {
  /// A date in 4 octets: the year in two octets, the month and the day of the month.
  public struct Date: AttributeValue, Comparable, CustomStringConvertible {
    /// The year, 1 to 9999.
    public let year: UInt16
    /// The month, 1 to 12.
    public let month: UInt8
    /// The day of the month, 1 to 31.
    public let day: UInt8

    /// Returns nil if a component is out of its range.
    public init?(year: UInt16, month: UInt8, day: UInt8) {
      guard (1...9_999).contains(year), (1...12).contains(month), (1...31).contains(day) else { return nil }
      (self.year, self.month, self.day) = (year, month, day)
    }

    /// Creates the date that is this number of days after 1970-01-01; an earlier day than 1970-01-01 or a later one than
    /// 9999-12-31 is replaced by that date.
    init(daysSince1970 days: Int) {
      let time = DateTime(secondsSince1970: min(max(0, days), 2_932_896) * 86_400)
      (year, month, day) = (time?.year ?? 1970, time?.month ?? 1, time?.day ?? 1)
    }

    /// Reads the octets. Throws `outOfRange` if a component is out of its range.
    public init(from reader: inout ValueReader) throws(ValueError) {
      let (year, month, day) = (try reader.uint16(), try reader.uint8(), try reader.uint8())
      guard let date = Self(year: year, month: month, day: day) else { throw .outOfRange(field: "Date") }
      self = date
    }

    /// Appends the octets.
    public func write(to writer: inout ValueWriter) {
      writer.integer(year)
      writer.append([month, day])
    }

    /// The order of the calendar.
    public static func < (left: Self, right: Self) -> Bool {
      (left.year, left.month, left.day) < (right.year, right.month, right.day)
    }

    /// The date as "2024-03-15".
    public var description: String {
      [String(year), month < 10 ? "0\(month)" : "\(month)", day < 10 ? "0\(day)" : "\(day)"].joined(separator: "-")
    }
  }

  /// The steps of a day in 8 octets: the date, and the number of steps in four octets.
  public struct Day: AttributeValue, CustomStringConvertible {
    /// The date.
    public var date: Date
    /// The number of steps.
    public var steps: UInt32

    /// Creates a value.
    public init(_ date: Date, steps: UInt32) { (self.date, self.steps) = (date, steps) }

    /// Reads the octets.
    public init(from reader: inout ValueReader) throws(ValueError) {
      (date, steps) = (try Date(from: &reader), try reader.uint32())
    }

    /// Appends the octets.
    public func write(to writer: inout ValueWriter) {
      date.write(to: &writer)
      writer.integer(steps)
    }

    /// The date and the steps.
    public var description: String { "\(date): \(steps) steps" }
  }

  /// The steps of each hour of a day, in 48 octets: 24 numbers of two octets.
  public struct Hours: AttributeValue {
    /// The steps of the hours, 24 numbers that begin with the hour after midnight.
    public let steps: [UInt16]

    /// Returns nil if there are not 24 numbers.
    public init?(steps: [UInt16]) {
      guard steps.count == 24 else { return nil }
      self.steps = steps
    }

    /// Creates the hours of a counter.
    init(_ counter: StepCounter) { steps = counter.hours }

    /// Reads the octets.
    public init(from reader: inout ValueReader) throws(ValueError) {
      var steps: [UInt16] = []
      for _ in 0..<24 { steps.append(try reader.uint16()) }
      self.steps = steps
    }

    /// Appends the octets.
    public func write(to writer: inout ValueWriter) {
      for count in steps { writer.integer(count) }
    }
  }

  /// A command to the control point, or the response.
  public enum Control: AttributeValue {
    /// Report the stored days from this date on; nil: all of them. The op code 1, and the date or nothing.
    case reportDays(since: Date?)
    /// The response: 0x80, the op code of the command, the result, and the number of reported days in two octets.
    case response(to: UInt8, Result, days: UInt16)

    /// The result of a command.
    public enum Result: UInt8, Sendable {
      /// All selected days have been reported, which may be none.
      case success = 1
      /// The pedometer does not know the command.
      case opCodeNotSupported = 2
      /// The date is malformed.
      case invalidParameter = 3
      /// The client has unsubscribed from the days.
      case notCompleted = 4
    }

    static let reportOpCode: UInt8 = 1
    private static let responseOpCode: UInt8 = 0x80

    /// Reads the octets. Throws `outOfRange` for an unknown op code or result.
    public init(from reader: inout ValueReader) throws(ValueError) {
      switch try reader.uint8() {
      case Self.reportOpCode: self = try .reportDays(since: reader.remaining == 0 ? nil : Date(from: &reader))
      case Self.responseOpCode:
        let opCode = try reader.uint8()
        guard let result = Result(rawValue: try reader.uint8()) else { throw .outOfRange(field: "Result") }
        self = .response(to: opCode, result, days: try reader.uint16())
      default: throw .outOfRange(field: "Op Code")
      }
    }

    /// Appends the octets.
    public func write(to writer: inout ValueWriter) {
      switch self {
      case .reportDays(let date):
        writer.integer(Self.reportOpCode)
        date?.write(to: &writer)
      case .response(let opCode, let result, let days):
        writer.append([Self.responseOpCode, opCode, result.rawValue])
        writer.integer(days)
      }
    }
  }
}
