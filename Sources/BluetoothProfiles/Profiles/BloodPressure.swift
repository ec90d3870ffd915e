/// The unit of a blood pressure measurement.
public enum PressureUnit: String, Hashable, Sendable {
  case millimetresOfMercury = "mmHg"
  case kilopascal = "kPa"
}

/// The optional fields of a blood pressure measurement.
public struct BloodPressureDetails: Hashable, Sendable {
  public var timeStamp: DateTime?
  /// The pulse rate in beats per minute.
  public var pulseRate: MedicalFloat16?
  /// The user of the meter; 255 stands for an unknown user.
  public var userID: UInt8?
  public var status: BloodPressureStatus?

  public init(
    timeStamp: DateTime? = nil, pulseRate: MedicalFloat16? = nil, userID: UInt8? = nil,
    status: BloodPressureStatus? = nil
  ) {
    self.timeStamp = timeStamp
    self.pulseRate = pulseRate
    self.userID = userID
    self.status = status
  }

  init(_ flags: UInt8, from reader: inout ValueReader) throws(ValueError) {
    timeStamp = try flags.has(1) ? DateTime(from: &reader) : nil
    pulseRate = try flags.has(2) ? reader.medicalFloat() : nil
    userID = try flags.has(3) ? reader.uint8() : nil
    status = try flags.has(4) ? BloodPressureStatus(rawValue: reader.uint16()) : nil
  }

  func flags(_ unit: PressureUnit) -> UInt8 {
    (unit == .kilopascal).bit(0) | (timeStamp != nil).bit(1) | (pulseRate != nil).bit(2) | (userID != nil).bit(3)
      | (status != nil).bit(4)
  }

  func write(to writer: inout ValueWriter) {
    timeStamp?.write(to: &writer)
    if let pulseRate { writer.medicalFloat(pulseRate) }
    if let userID { writer.integer(userID) }
    if let status { writer.integer(status.rawValue) }
  }

  var fields: [ValueField] {
    var fields: [ValueField] = []
    fields.add("at", timeStamp)
    fields.add("pulse", pulseRate, .beatsPerMinute)
    if let userID { fields.append(userID == 255 ? ValueField("user", "not known") : ValueField("user", userID)) }
    fields.add("status", status)
    return fields
  }
}

/// The problems that the meter detected during a blood pressure measurement · Blood Pressure Service 1.1, 3.1. Bits 3
/// and 4 form one number: the pulse rate is within the range, above it or below it.
public struct BloodPressureStatus: FeatureSet {
  public let rawValue: UInt16
  public init(rawValue: UInt16) { self.rawValue = rawValue }

  public static let bodyMovement = Self(bit: 0)
  public static let cuffTooLoose = Self(bit: 1)
  public static let irregularPulse = Self(bit: 2)
  public static let pulseTooFast = Self(bit: 3)
  public static let pulseTooSlow = Self(bit: 4)
  public static let improperMeasurementPosition = Self(bit: 5)

  public static let names = [
    "body movement", "cuff too loose", "irregular pulse", "pulse above its range", "pulse below its range",
    "improper measurement position",
  ]
}

/// A blood pressure measurement · Blood Pressure Service 1.1, 3.1; 0x2A35.
public struct BloodPressureMeasurement: CharacteristicValue {
  /// The systolic pressure in `unit`, like the diastolic and the mean arterial pressure.
  public var systolic: MedicalFloat16
  public var diastolic: MedicalFloat16
  public var meanArterialPressure: MedicalFloat16
  public var unit: PressureUnit
  public var details: BloodPressureDetails

  public init(
    systolic: MedicalFloat16, diastolic: MedicalFloat16, meanArterialPressure: MedicalFloat16,
    unit: PressureUnit = .millimetresOfMercury, details: BloodPressureDetails = BloodPressureDetails()
  ) {
    self.systolic = systolic
    self.diastolic = diastolic
    self.meanArterialPressure = meanArterialPressure
    self.unit = unit
    self.details = details
  }

  public static let uuid: UInt16 = 0x2A35
  public static let ignoresExcess = true

  public init(from reader: inout ValueReader) throws(ValueError) {
    let flags = try reader.uint8()
    unit = flags.has(0) ? .kilopascal : .millimetresOfMercury
    systolic = try reader.medicalFloat()
    diastolic = try reader.medicalFloat()
    meanArterialPressure = try reader.medicalFloat()
    details = try BloodPressureDetails(flags, from: &reader)
  }

  public func write(to writer: inout ValueWriter) {
    writer.integer(details.flags(unit))
    writer.medicalFloat(systolic)
    writer.medicalFloat(diastolic)
    writer.medicalFloat(meanArterialPressure)
    details.write(to: &writer)
  }

  public var fields: [ValueField] {
    [
      ValueField("systolic", systolic, symbol: unit.rawValue),
      ValueField("diastolic", diastolic, symbol: unit.rawValue),
      ValueField("mean", meanArterialPressure, symbol: unit.rawValue),
    ] + details.fields
  }
}

/// The pressure in the cuff during the measurement · Blood Pressure Service 1.1, 3.2; 0x2A36. The fields for
/// diastolic and mean arterial pressure are sent as NaN and ignored on receipt.
public struct IntermediateCuffPressure: CharacteristicValue {
  public var pressure: MedicalFloat16
  public var unit: PressureUnit
  public var details: BloodPressureDetails

  public init(
    pressure: MedicalFloat16, unit: PressureUnit = .millimetresOfMercury,
    details: BloodPressureDetails = BloodPressureDetails()
  ) {
    self.pressure = pressure
    self.unit = unit
    self.details = details
  }

  public static let uuid: UInt16 = 0x2A36
  public static let ignoresExcess = true

  public init(from reader: inout ValueReader) throws(ValueError) {
    let flags = try reader.uint8()
    unit = flags.has(0) ? .kilopascal : .millimetresOfMercury
    pressure = try reader.medicalFloat()
    _ = try reader.uint32()
    details = try BloodPressureDetails(flags, from: &reader)
  }

  public func write(to writer: inout ValueWriter) {
    writer.integer(details.flags(unit))
    writer.medicalFloat(pressure)
    writer.medicalFloat(MedicalFloat16(.notANumber))
    writer.medicalFloat(MedicalFloat16(.notANumber))
    details.write(to: &writer)
  }

  public var fields: [ValueField] { [ValueField("cuff", pressure, symbol: unit.rawValue)] + details.fields }
}

/// The features of a blood pressure meter · Blood Pressure Service 1.1, 3.3; 0x2A49.
public struct BloodPressureFeature: CharacteristicValue, FeatureSet {
  public let rawValue: UInt16
  public init(rawValue: UInt16) { self.rawValue = rawValue }

  public static let bodyMovementDetection = Self(bit: 0)
  public static let cuffFitDetection = Self(bit: 1)
  public static let irregularPulseDetection = Self(bit: 2)
  public static let pulseRateRangeDetection = Self(bit: 3)
  public static let measurementPositionDetection = Self(bit: 4)
  public static let multipleBonds = Self(bit: 5)

  public static let uuid: UInt16 = 0x2A49
  public static let names = [
    "body movement detection", "cuff fit detection", "irregular pulse detection", "pulse rate range detection",
    "measurement position detection", "multiple bonds", "E2E-CRC", "user data service", "user facing time",
  ]
}
