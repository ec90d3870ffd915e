/// The current time and the reason for its last adjustment · Current Time Service 1.1, 3.1; 0x2A2B.
public struct CurrentTime: CharacteristicValue {
  /// The reasons for adjusting the clock.
  public struct AdjustReason: FeatureSet {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let manualTimeUpdate = Self(bit: 0)
    public static let externalReferenceTimeUpdate = Self(bit: 1)
    public static let changeOfTimeZone = Self(bit: 2)
    public static let changeOfDST = Self(bit: 3)

    public static let names = [
      "manual time update", "external reference time update", "change of time zone", "change of DST",
    ]
  }

  public var exactTime: ExactTime256
  public var adjustReason: AdjustReason

  public init(exactTime: ExactTime256, adjustReason: AdjustReason = []) {
    self.exactTime = exactTime
    self.adjustReason = adjustReason
  }

  public static let uuid: UInt16 = 0x2A2B

  public init(from reader: inout ValueReader) throws(ValueError) {
    exactTime = try ExactTime256(from: &reader)
    adjustReason = AdjustReason(rawValue: try reader.uint8())
  }

  public func write(to writer: inout ValueWriter) {
    exactTime.write(to: &writer)
    writer.integer(adjustReason.rawValue)
  }

  public var fields: [ValueField] { exactTime.fields + [ValueField("adjusted for", adjustReason)] }
}

/// The daylight saving time offset · GATT Specification Supplement, DST Offset; 0x2A0D.
public struct DSTOffset: CharacteristicValue, ValueCode {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public static let standardTime: Self = 0
  public static let halfAnHourDaylightTime: Self = 2
  public static let daylightTime: Self = 4
  public static let doubleDaylightTime: Self = 8
  public static let unknown: Self = 255

  public static let uuid: UInt16 = 0x2A0D
  public static let names = [
    "standard time", "", "half an hour daylight time", "", "daylight time", "", "", "", "double daylight time",
  ]
  public static let furtherNames: [UInt8: String] = [255: "not known"]
}

/// The offset of standard time from UTC · GATT Specification Supplement, Time Zone; 0x2A0E: units of 15 minutes, -12
/// h to +14 h.
public typealias TimeZoneOffset = Scalar<TimeZoneKind>

public enum TimeZoneKind: ScalarCharacteristicKind {
  public static let uuid: UInt16 = 0x2A0E
  public static let format = ScalarFormat(
    "Time Zone", octets: 1, isSigned: true, multiplier: 15, unit: .minute, range: -48...56,
    special: [-128: "not known"])
}

/// The offset of local time from UTC · Current Time Service 1.1, 3.2; 0x2A0F.
public struct LocalTimeInformation: CharacteristicValue {
  public var timeZone: TimeZoneOffset
  public var dstOffset: DSTOffset

  public init(timeZone: TimeZoneOffset, dstOffset: DSTOffset) {
    self.timeZone = timeZone
    self.dstOffset = dstOffset
  }

  public static let uuid: UInt16 = 0x2A0F

  public init(from reader: inout ValueReader) throws(ValueError) {
    timeZone = try reader.scalar()
    dstOffset = try reader.code()
  }

  public func write(to writer: inout ValueWriter) {
    writer.scalar(timeZone)
    writer.code(dstOffset)
  }

  public var fields: [ValueField] { [ValueField("time zone", timeZone), ValueField("", dstOffset)] }
}

/// The time of the next change of the DST offset, and the new offset · Next DST Change Service 1.0, 3.1; 0x2A11.
public struct TimeWithDST: CharacteristicValue {
  public var dateTime: DateTime
  public var dstOffset: DSTOffset

  public init(dateTime: DateTime, dstOffset: DSTOffset) {
    self.dateTime = dateTime
    self.dstOffset = dstOffset
  }

  public static let uuid: UInt16 = 0x2A11

  public init(from reader: inout ValueReader) throws(ValueError) {
    dateTime = try DateTime(from: &reader)
    dstOffset = try reader.code()
  }

  public func write(to writer: inout ValueWriter) {
    dateTime.write(to: &writer)
    writer.code(dstOffset)
  }

  public var fields: [ValueField] { [ValueField("", dateTime), ValueField("", dstOffset)] }
}

/// The maximum error of the clock · GATT Specification Supplement, Time Accuracy; 0x2A12: units of 1/8 s.
public typealias TimeAccuracy = Scalar<TimeAccuracyKind>

public enum TimeAccuracyKind: ScalarCharacteristicKind {
  public static let uuid: UInt16 = 0x2A12
  public static let format = ScalarFormat(
    "Time Accuracy", octets: 1, multiplier: 125, exponent: -3, unit: .second, range: 0...253,
    special: [254: "more than 31.625 s", 255: "not known"])
}

/// The source of the time · GATT Specification Supplement, Time Source; 0x2A13.
public struct TimeSource: CharacteristicValue, ValueCode {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public static let unknown: Self = 0
  public static let networkTimeProtocol: Self = 1
  public static let gps: Self = 2
  public static let radioTimeSignal: Self = 3
  public static let manual: Self = 4
  public static let atomicClock: Self = 5
  public static let cellularNetwork: Self = 6
  public static let notSynchronized: Self = 7

  public static let uuid: UInt16 = 0x2A13
  public static let names = [
    "unknown", "Network Time Protocol", "GPS", "radio time signal", "manual", "atomic clock", "cellular network",
    "not synchronized",
  ]
}

/// The source and the accuracy of the time · Current Time Service 1.1, 3.3; 0x2A14.
public struct ReferenceTimeInformation: CharacteristicValue {
  public var source: TimeSource
  public var accuracy: TimeAccuracy
  /// The days since the last update; 255 stands for 255 days or more.
  public var daysSinceUpdate: UInt8
  /// The hours since the last update, 0 to 23; 255 if the days are 255.
  public var hoursSinceUpdate: UInt8

  public init(source: TimeSource, accuracy: TimeAccuracy, daysSinceUpdate: UInt8, hoursSinceUpdate: UInt8) {
    self.source = source
    self.accuracy = accuracy
    self.daysSinceUpdate = daysSinceUpdate
    self.hoursSinceUpdate = hoursSinceUpdate
  }

  public static let uuid: UInt16 = 0x2A14

  public init(from reader: inout ValueReader) throws(ValueError) {
    source = try reader.code()
    accuracy = try reader.scalar()
    daysSinceUpdate = try reader.uint8()
    hoursSinceUpdate = try reader.uint8()
  }

  public func write(to writer: inout ValueWriter) {
    writer.code(source)
    writer.scalar(accuracy)
    writer.append([daysSinceUpdate, hoursSinceUpdate])
  }

  public var fields: [ValueField] {
    let age = daysSinceUpdate == 255 ? "255 d or more ago" : "\(daysSinceUpdate) d \(hoursSinceUpdate) h ago"
    return [ValueField("source", source), ValueField("accuracy", accuracy), ValueField("updated", age)]
  }
}

/// A command to a time server · Reference Time Update Service 1.0, 3.1; 0x2A16.
public struct TimeUpdateControlPoint: CharacteristicValue, ValueCode {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public static let getReferenceUpdate: Self = 1
  public static let cancelReferenceUpdate: Self = 2

  public static let uuid: UInt16 = 0x2A16
  public static let firstNamed: UInt8 = 1
  public static let names = ["Get Reference Update", "Cancel Reference Update"]
}

/// The state of a time update · Reference Time Update Service 1.0, 3.2; 0x2A17.
public struct TimeUpdateState: CharacteristicValue {
  public struct CurrentState: ValueCode {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let idle: Self = 0
    public static let updatePending: Self = 1
    public static let names = ["idle", "update pending"]
  }

  public struct Result: ValueCode {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let successful: Self = 0
    public static let canceled: Self = 1
    public static let noConnectionToReference: Self = 2
    public static let referenceRespondedWithError: Self = 3
    public static let timeout: Self = 4
    public static let updateNotAttemptedAfterReset: Self = 5
    public static let names = [
      "successful", "canceled", "no connection to reference", "reference responded with an error", "timeout",
      "update not attempted after reset",
    ]
  }

  public var currentState: CurrentState
  public var result: Result

  public init(currentState: CurrentState, result: Result) {
    self.currentState = currentState
    self.result = result
  }

  public static let uuid: UInt16 = 0x2A17

  public init(from reader: inout ValueReader) throws(ValueError) {
    currentState = try reader.code()
    result = try reader.code()
  }

  public func write(to writer: inout ValueWriter) {
    writer.code(currentState)
    writer.code(result)
  }

  public var fields: [ValueField] { [ValueField("state", currentState), ValueField("last result", result)] }
}
