import BluetoothProfiles

/// A measurement that a glucose meter stores, with its context.
public struct GlucoseRecord: Hashable, Sendable {
  /// The measurement.
  public let measurement: GlucoseMeasurement
  /// The meal, exercise or medication to which the measurement belongs; nil if it has no context. It has the sequence
  /// number of the measurement.
  public let context: GlucoseMeasurementContext?

  /// Creates a record. The flag of the measurement that says that a context follows, and the sequence number of the
  /// context are set.
  public init(_ measurement: GlucoseMeasurement, context: GlucoseMeasurementContext? = nil) {
    var (measurement, context) = (measurement, context)
    measurement.contextFollows = context != nil
    context?.sequenceNumber = measurement.sequenceNumber
    (self.measurement, self.context) = (measurement, context)
  }

  /// The user facing time: the base time plus the time offset, in seconds since 1970-01-01; nil if the date is not
  /// known or the offset is not a number · Glucose Service 1.0, 3.1.1.3.
  var userFacingTime: Int? {
    guard let base = measurement.baseTime.secondsSince1970 else { return nil }
    guard let offset = measurement.timeOffset else { return base }
    return offset.number == nil ? nil : base + offset.rawValue * 60
  }

  /// The measurement without the flag of the context, for a client that does not get the context.
  var measurementAlone: GlucoseMeasurement {
    var alone = measurement
    alone.contextFollows = false
    return alone
  }

  /// Returns records of consecutive hours from 2024-01-01 on, with plausible concentrations: 90 to 138 mg/dl. Every
  /// third record has a context.
  public static func samples(_ count: Int) -> [GlucoseRecord] {
    // 19,723 days after 1970-01-01.
    let start = 19_723 * 86_400
    return (0..<min(max(0, count), 1 + Int(UInt16.max))).compactMap { index in
      guard let time = DateTime(secondsSince1970: start + index * 3_600),
        let value = MedicalFloat16(mantissa: 90 + (index * 7) % 49, exponent: -5)
      else { return nil }
      let number = UInt16(index)
      let measurement = GlucoseMeasurement(
        sequenceNumber: number, baseTime: time,
        concentration: GlucoseMeasurement.Concentration(value, type: .capillaryWholeBlood, sampleLocation: .finger))
      var context = GlucoseMeasurementContext(sequenceNumber: number)
      context.meal = .fasting
      return GlucoseRecord(measurement, context: index % 3 == 2 ? context : nil)
    }
  }
}

/// The selection of stored records by a criterion of the Record Access Control Point.
struct GlucoseSelection {
  /// The reason why a criterion selects nothing: the response code.
  struct Refusal: Error {
    let code: RecordAccessControlPoint.ResponseCode
  }

  private enum Condition {
    case all, first, last
    case sequenceNumbers(ClosedRange<UInt16>)
    case times(ClosedRange<Int>)
  }

  private let condition: Condition

  /// Creates a selection.
  ///
  /// - Throws: the response code if the operator or the operand is invalid or not supported
  ///   · Glucose Service 1.0, 3.4.1.
  init(_ criterion: RecordCriterion) throws(Refusal) {
    switch criterion.operator {
    case .allRecords: condition = .all
    case .firstRecord: condition = .first
    case .lastRecord: condition = .last
    case .lessThanOrEqualTo, .greaterThanOrEqualTo, .withinRangeOf:
      condition = try Self.range(criterion)
      return
    default: throw Refusal(code: .invalidOperator)
    }
    guard criterion.operand.isEmpty else { throw Refusal(code: .invalidOperand) }
  }

  private static func range(_ criterion: RecordCriterion) throws(Refusal) -> Condition {
    switch criterion.operand.first {
    case 1: return .sequenceNumbers(try limits(criterion, 0...UInt16.max) { try? UInt16(from: &$0) })
    case 2:
      return .times(
        try limits(criterion, 0...Int.max) { reader in (try? DateTime(from: &reader))?.secondsSince1970 })
    case nil: throw Refusal(code: .invalidOperand)
    default: throw Refusal(code: .operandNotSupported)
    }
  }

  /// Reads the limits after the filter type.
  private static func limits<Limit: Comparable>(
    _ criterion: RecordCriterion, _ whole: ClosedRange<Limit>, _ read: (inout ValueReader) -> Limit?
  ) throws(Refusal) -> ClosedRange<Limit> {
    var reader = ValueReader(criterion.operand.dropFirst())
    var range = whole
    guard let first = read(&reader) else { throw Refusal(code: .invalidOperand) }
    switch criterion.operator {
    case .lessThanOrEqualTo: range = min(whole.lowerBound, first)...first
    case .greaterThanOrEqualTo: range = first...whole.upperBound
    default:
      guard let last = read(&reader), first <= last else { throw Refusal(code: .invalidOperand) }
      range = first...last
    }
    guard reader.remaining == 0 else { throw Refusal(code: .invalidOperand) }
    return range
  }

  /// Returns the indices of the selected records, in order.
  func indices(in records: [GlucoseRecord]) -> [Int] {
    switch condition {
    case .all: Array(records.indices)
    case .first: Array(records.indices.prefix(1))
    case .last: Array(records.indices.suffix(1))
    case .sequenceNumbers(let range):
      records.indices.filter { range.contains(records[$0].measurement.sequenceNumber) }
    case .times(let range): records.indices.filter { records[$0].userFacingTime.map(range.contains) ?? false }
    }
  }
}

extension UInt16 {
  fileprivate init(from reader: inout ValueReader) throws(ValueError) { self = try reader.uint16() }
}

extension DateTime {
  /// The number of days from 0000-03-01 to the first of this month, in the Gregorian calendar, whose years begin in
  /// March so that a leap day is the last day.
  private static func days(year: Int, month: Int) -> Int {
    let (marchYear, marchMonth) = month > 2 ? (year, month - 3) : (year - 1, month + 9)
    // The months from March on have 31, 30, 31, 30, 31 days, twice, and then 31.
    return marchYear * 365 + marchYear / 4 - marchYear / 100 + marchYear / 400 + (marchMonth * 306 + 5) / 10
  }

  private static let epoch = days(year: 1970, month: 1)

  /// The time in seconds since 1970-01-01 00:00:00; nil if the year, the month or the day is not known.
  var secondsSince1970: Int? {
    guard year != 0, month != 0, day != 0 else { return nil }
    let days = Self.days(year: Int(year), month: Int(month)) - Self.epoch + Int(day) - 1
    return days * 86_400 + Int(hours) * 3_600 + Int(minutes) * 60 + Int(seconds)
  }

  /// Creates the time that is this number of seconds after 1970-01-01 00:00:00; nil if it is before 1970 or after
  /// 9999.
  init?(secondsSince1970 time: Int) {
    guard time >= 0, time < 253_402_300_800 else { return nil }
    let day = time / 86_400 + Self.epoch
    // A year has at most 366 days, so the estimate is never too large.
    var year = 1970 + time / 86_400 / 366
    while Self.days(year: year + 1, month: 1) <= day { year += 1 }
    let month = (1...12).last { Self.days(year: year, month: $0) <= day } ?? 1
    let second = time % 86_400
    self.init(
      year: UInt16(year), month: UInt8(month), day: UInt8(day - Self.days(year: year, month: month) + 1),
      hours: UInt8(second / 3_600), minutes: UInt8(second / 60 % 60), seconds: UInt8(second % 60))
  }
}
