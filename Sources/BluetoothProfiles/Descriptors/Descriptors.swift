import BluetoothTypes

/// The extended properties of a characteristic · Vol 3, Part G, 3.3.3.1; 0x2900.
public struct CharacteristicExtendedProperties: CharacteristicValue, FeatureSet {
  public let rawValue: UInt16
  public init(rawValue: UInt16) { self.rawValue = rawValue }

  public static let reliableWrite = Self(bit: 0)
  public static let writableAuxiliaries = Self(bit: 1)

  public static let uuid: UInt16 = 0x2900
  public static let names = ["reliable write", "writable auxiliaries"]
}

/// The user's name for the characteristic value · Vol 3, Part G, 3.3.3.2; 0x2901.
public typealias CharacteristicUserDescription = TextValue<UserDescriptionKind>

public enum UserDescriptionKind: ValueKind { public static let uuid: UInt16 = 0x2901 }

/// The client's subscription to notifications or indications · Vol 3, Part G, 3.3.3.3; 0x2902.
public struct ClientCharacteristicConfiguration: CharacteristicValue, FeatureSet {
  public let rawValue: UInt16
  public init(rawValue: UInt16) { self.rawValue = rawValue }

  public static let notifications = Self(bit: 0)
  public static let indications = Self(bit: 1)

  public static let uuid: UInt16 = 0x2902
  public static let names = ["notifications", "indications"]
}

/// The server's setting for broadcasts of the characteristic value · Vol 3, Part G, 3.3.3.4; 0x2903.
public struct ServerCharacteristicConfiguration: CharacteristicValue, FeatureSet {
  public let rawValue: UInt16
  public init(rawValue: UInt16) { self.rawValue = rawValue }

  public static let broadcasts = Self(bit: 0)

  public static let uuid: UInt16 = 0x2903
  public static let names = ["broadcasts"]
}

/// The properties of a characteristic and the handle of its value · Vol 3, Part G, 3.3.1; 0x2803.
public struct CharacteristicDeclaration: CharacteristicValue {
  public var properties: CharacteristicProperties
  public var valueHandle: UInt16
  public var type: BluetoothUUID

  public init(properties: CharacteristicProperties, valueHandle: UInt16, type: BluetoothUUID) {
    self.properties = properties
    self.valueHandle = valueHandle
    self.type = type
  }

  public static let uuid: UInt16 = 0x2803

  public init(from reader: inout ValueReader) throws(ValueError) {
    properties = CharacteristicProperties(rawValue: try reader.uint8())
    valueHandle = try reader.uint16()
    type = try BluetoothUUID(rest: &reader)
  }

  public func write(to writer: inout ValueWriter) {
    writer.integer(properties.rawValue)
    writer.integer(valueHandle)
    type.write(to: &writer)
  }

  public var fields: [ValueField] {
    [
      ValueField("", type.valueText), ValueField("properties", properties),
      ValueField("handle", valueHandle.hexadecimal),
    ]
  }
}

extension CharacteristicProperties: FeatureSet {
  /// The names of the bits from bit 0 on.
  public static var names: [String] {
    [
      "broadcast", "read", "write without response", "write", "notify", "indicate", "authenticated signed writes",
      "extended properties",
    ]
  }
}

/// The range of a characteristic's value · GATT Specification Supplement, Valid Range; 0x2906.
public struct ValidRange: CharacteristicValue {
  /// The octets of the minimum, in the format of the characteristic's value. `upper` holds the octets of the maximum.
  public let lower: [UInt8]
  public let upper: [UInt8]

  /// Returns nil if the two have different lengths.
  public init?(lower: [UInt8], upper: [UInt8]) {
    guard lower.count == upper.count else { return nil }
    self.lower = lower
    self.upper = upper
  }

  public static let uuid: UInt16 = 0x2906

  public init(from reader: inout ValueReader) throws(ValueError) {
    guard reader.remaining.isMultiple(of: 2) else { throw .tooShort }
    lower = try reader.take(reader.remaining / 2)
    upper = reader.rest()
  }

  public func write(to writer: inout ValueWriter) {
    writer.append(lower)
    writer.append(upper)
  }

  public var fields: [ValueField] {
    [ValueField("from", lower.hexadecimal), ValueField("to", upper.hexadecimal)]
  }
}

/// The report that a HID Report characteristic holds · HID Service 1.0, Report Reference; 0x2908.
public struct ReportReference: CharacteristicValue {
  public struct ReportType: ValueCode {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let input: Self = 1
    public static let output: Self = 2
    public static let feature: Self = 3
    public static let firstNamed: UInt8 = 1
    public static let names = ["input", "output", "feature"]
  }

  /// The Report ID; 0 if the Report Map does not use Report IDs.
  public var reportID: UInt8
  public var type: ReportType

  public init(reportID: UInt8, type: ReportType) {
    self.reportID = reportID
    self.type = type
  }

  public static let uuid: UInt16 = 0x2908

  public init(from reader: inout ValueReader) throws(ValueError) {
    reportID = try reader.uint8()
    type = try reader.code()
  }

  public func write(to writer: inout ValueWriter) {
    writer.integer(reportID)
    writer.code(type)
  }

  public var fields: [ValueField] { [ValueField("report", reportID), ValueField("type", type)] }
}

/// The characteristic of another service that the Report Map uses · HID Service 1.0, External Report Reference;
/// 0x2907.
public struct ExternalReportReference: CharacteristicValue {
  public var type: BluetoothUUID

  public init(_ type: BluetoothUUID) { self.type = type }

  public static let uuid: UInt16 = 0x2907

  public init(from reader: inout ValueReader) throws(ValueError) { type = try BluetoothUUID(rest: &reader) }

  public func write(to writer: inout ValueWriter) { type.write(to: &writer) }

  public var fields: [ValueField] { [ValueField("", type.valueText)] }
}

/// The logical combination of the triggers of a sensor's value · Environmental Sensing Service 1.0, 3.1.2.3; 0x290B.
public struct EnvironmentalSensingConfiguration: CharacteristicValue, ValueCode {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public static let and: Self = 0
  public static let or: Self = 1

  public static let uuid: UInt16 = 0x290B
  public static let names = ["AND", "OR"]
}

/// The measurement method of a sensor · Environmental Sensing Service 1.0, 3.1.2.1; 0x290C.
public struct EnvironmentalSensingMeasurement: CharacteristicValue {
  public struct SamplingFunction: ValueCode {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let unspecified: Self = 0
    public static let instantaneous: Self = 1
    public static let arithmeticMean: Self = 2
    public static let rms: Self = 3
    public static let maximum: Self = 4
    public static let minimum: Self = 5
    public static let accumulated: Self = 6
    public static let count: Self = 7
    public static let names = [
      "unspecified", "instantaneous", "arithmetic mean", "RMS", "maximum", "minimum", "accumulated", "count",
    ]
  }

  /// Reserved bits, stored as received.
  public var flags: UInt16 = 0
  public var samplingFunction: SamplingFunction
  public var measurementPeriod: Scalar<PeriodSeconds>
  public var updateInterval: Scalar<PeriodSeconds>
  /// The place of the measurement: air, water, indoors …
  public var application: UInt8
  public var uncertainty: Scalar<UncertaintyPercents>

  public init(
    samplingFunction: SamplingFunction, measurementPeriod: Scalar<PeriodSeconds>,
    updateInterval: Scalar<PeriodSeconds>, application: UInt8, uncertainty: Scalar<UncertaintyPercents>
  ) {
    self.samplingFunction = samplingFunction
    self.measurementPeriod = measurementPeriod
    self.updateInterval = updateInterval
    self.application = application
    self.uncertainty = uncertainty
  }

  public static let uuid: UInt16 = 0x290C

  public init(from reader: inout ValueReader) throws(ValueError) {
    flags = try reader.uint16()
    samplingFunction = try reader.code()
    measurementPeriod = try reader.scalar()
    updateInterval = try reader.scalar()
    application = try reader.uint8()
    uncertainty = try reader.scalar()
  }

  public func write(to writer: inout ValueWriter) {
    writer.integer(flags)
    writer.code(samplingFunction)
    writer.scalar(measurementPeriod)
    writer.scalar(updateInterval)
    writer.integer(application)
    writer.scalar(uncertainty)
  }

  public var fields: [ValueField] {
    [
      ValueField("sampling", samplingFunction), ValueField("over", measurementPeriod),
      ValueField("updated each", updateInterval), ValueField("application", application),
      ValueField("uncertainty", uncertainty),
    ]
  }
}

/// The condition on which a sensor notifies · Environmental Sensing Service 1.0, 3.1.2.2; 0x290D.
public struct EnvironmentalSensingTriggerSetting: CharacteristicValue {
  public struct Condition: ValueCode {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let inactive: Self = 0
    public static let fixedInterval: Self = 1
    public static let noMoreOftenThan: Self = 2
    public static let valueChanged: Self = 3
    public static let lessThan: Self = 4
    public static let lessThanOrEqual: Self = 5
    public static let greaterThan: Self = 6
    public static let greaterThanOrEqual: Self = 7
    public static let equal: Self = 8
    public static let notEqual: Self = 9
    public static let names = [
      "inactive", "at a fixed interval", "no more often than", "when the value changes", "below", "at or below",
      "above", "at or above", "at", "not at",
    ]
  }

  public var condition: Condition
  /// A time of three octets for the two interval conditions, a value of the characteristic for comparisons.
  public var operand: [UInt8]

  public init(_ condition: Condition, operand: [UInt8] = []) {
    self.condition = condition
    self.operand = operand
  }

  public static let uuid: UInt16 = 0x290D

  public init(from reader: inout ValueReader) throws(ValueError) {
    condition = try reader.code()
    operand = reader.rest()
  }

  public func write(to writer: inout ValueWriter) {
    writer.code(condition)
    writer.append(operand)
  }

  public var fields: [ValueField] {
    var fields = [ValueField("", condition)]
    if !operand.isEmpty { fields.append(ValueField("operand", operand.hexadecimal)) }
    return fields
  }
}
