/// A blood glucose measurement · Glucose Service 1.0, 3.1; 0x2A18.
public struct GlucoseMeasurement: CharacteristicValue {
  /// The glucose concentration, the type of the sample, and the location from which it was taken.
  public struct Concentration: Hashable, Sendable {
    /// The concentration in mol/l if `isMolar`, else in kg/l.
    public var value: MedicalFloat16
    public var isMolar: Bool
    /// The type of the sample, 4 bits.
    public var type: GlucoseType
    /// The location of the sample, 4 bits.
    public var sampleLocation: GlucoseSampleLocation

    /// Returns nil if a code exceeds 4 bits.
    public init?(
      _ value: MedicalFloat16, isMolar: Bool = false, type: GlucoseType, sampleLocation: GlucoseSampleLocation
    ) {
      guard type.rawValue < 16, sampleLocation.rawValue < 16 else { return nil }
      self.value = value
      self.isMolar = isMolar
      self.type = type
      self.sampleLocation = sampleLocation
    }
  }

  /// The sequence number of the stored measurement.
  public var sequenceNumber: UInt16
  /// The time of the meter's internal clock.
  public var baseTime: DateTime
  /// The user's adjustment of the clock since then.
  public var timeOffset: Scalar<OffsetMinutes>?
  public var concentration: Concentration?
  public var sensorStatus: GlucoseSensorStatus?
  /// True if a `GlucoseMeasurementContext` with the same sequence number follows.
  public var contextFollows: Bool

  public init(
    sequenceNumber: UInt16, baseTime: DateTime, timeOffset: Scalar<OffsetMinutes>? = nil,
    concentration: Concentration? = nil, sensorStatus: GlucoseSensorStatus? = nil, contextFollows: Bool = false
  ) {
    self.sequenceNumber = sequenceNumber
    self.baseTime = baseTime
    self.timeOffset = timeOffset
    self.concentration = concentration
    self.sensorStatus = sensorStatus
    self.contextFollows = contextFollows
  }

  public static let uuid: UInt16 = 0x2A18
  public static let ignoresExcess = true

  public init(from reader: inout ValueReader) throws(ValueError) {
    let flags = try reader.uint8()
    sequenceNumber = try reader.uint16()
    baseTime = try DateTime(from: &reader)
    timeOffset = try flags.has(0) ? reader.scalar() : nil
    if flags.has(1) {
      let value = try reader.medicalFloat(MedicalFloat16.self)
      let codes = try reader.uint8()
      concentration = Concentration(
        value, isMolar: flags.has(2), type: GlucoseType(rawValue: codes.bits(0, 4)),
        sampleLocation: GlucoseSampleLocation(rawValue: codes.bits(4, 4)))
    }
    sensorStatus = try flags.has(3) ? GlucoseSensorStatus(rawValue: reader.uint16()) : nil
    contextFollows = flags.has(4)
  }

  public func write(to writer: inout ValueWriter) {
    writer.integer(
      (timeOffset != nil).bit(0) | (concentration != nil).bit(1) | (concentration?.isMolar == true).bit(2)
        | (sensorStatus != nil).bit(3) | contextFollows.bit(4) as UInt8)
    writer.integer(sequenceNumber)
    baseTime.write(to: &writer)
    if let timeOffset { writer.scalar(timeOffset) }
    if let concentration {
      writer.medicalFloat(concentration.value)
      writer.integer(concentration.type.rawValue | concentration.sampleLocation.rawValue << 4)
    }
    if let sensorStatus { writer.integer(sensorStatus.rawValue) }
  }

  public var fields: [ValueField] {
    var fields = [ValueField("sequence number", sequenceNumber), ValueField("at", baseTime)]
    fields.add("time offset", timeOffset)
    if let concentration {
      fields.add("glucose", concentration.value, symbol: concentration.isMolar ? "mol/l" : "kg/l")
      fields.add("in", concentration.type)
      fields.add("from", concentration.sampleLocation)
    }
    fields.add("status", sensorStatus)
    if contextFollows { fields.append(ValueField("", "context follows")) }
    return fields
  }
}

/// The type of fluid in which the glucose was measured · Glucose Service 1.0, 3.1.
public struct GlucoseType: ValueCode {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public static let capillaryWholeBlood: Self = 1
  public static let capillaryPlasma: Self = 2
  public static let venousWholeBlood: Self = 3
  public static let venousPlasma: Self = 4
  public static let arterialWholeBlood: Self = 5
  public static let arterialPlasma: Self = 6
  public static let undeterminedWholeBlood: Self = 7
  public static let undeterminedPlasma: Self = 8
  public static let interstitialFluid: Self = 9
  public static let controlSolution: Self = 10

  public static let firstNamed: UInt8 = 1
  public static let names = [
    "capillary whole blood", "capillary plasma", "venous whole blood", "venous plasma", "arterial whole blood",
    "arterial plasma", "undetermined whole blood", "undetermined plasma", "interstitial fluid", "control solution",
  ]
}

/// The location on the body from which the sample was taken · Glucose Service 1.0, 3.1.
public struct GlucoseSampleLocation: ValueCode {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public static let finger: Self = 1
  public static let alternateSiteTest: Self = 2
  public static let earlobe: Self = 3
  public static let controlSolution: Self = 4
  public static let notAvailable: Self = 15

  public static let firstNamed: UInt8 = 1
  public static let names = ["finger", "alternate site", "earlobe", "control solution"]
  public static let furtherNames: [UInt8: String] = [15: "location not available"]
}

/// The problems of the meter or the sample · Glucose Service 1.0, 3.1.
public struct GlucoseSensorStatus: FeatureSet {
  public let rawValue: UInt16
  public init(rawValue: UInt16) { self.rawValue = rawValue }

  public static let batteryLow = Self(bit: 0)
  public static let sensorMalfunction = Self(bit: 1)
  public static let sampleTooSmall = Self(bit: 2)
  public static let stripInsertionError = Self(bit: 3)
  public static let stripTypeIncorrect = Self(bit: 4)
  public static let resultTooHigh = Self(bit: 5)
  public static let resultTooLow = Self(bit: 6)
  public static let temperatureTooHigh = Self(bit: 7)
  public static let temperatureTooLow = Self(bit: 8)
  public static let readInterrupted = Self(bit: 9)
  public static let generalDeviceFault = Self(bit: 10)
  public static let timeFault = Self(bit: 11)

  public static let names = [
    "battery low", "sensor malfunction", "sample too small", "strip insertion error", "strip type incorrect",
    "result too high", "result too low", "temperature too high", "temperature too low", "read interrupted",
    "general device fault", "time fault",
  ]
}

/// The features of a glucose meter · Glucose Service 1.0, 3.3; 0x2A51.
public struct GlucoseFeature: CharacteristicValue, FeatureSet {
  public let rawValue: UInt16
  public init(rawValue: UInt16) { self.rawValue = rawValue }

  public static let lowBatteryDetection = Self(bit: 0)
  public static let sensorMalfunctionDetection = Self(bit: 1)
  public static let sampleSize = Self(bit: 2)
  public static let stripInsertionErrorDetection = Self(bit: 3)
  public static let stripTypeErrorDetection = Self(bit: 4)
  public static let resultHighLowDetection = Self(bit: 5)
  public static let temperatureHighLowDetection = Self(bit: 6)
  public static let readInterruptDetection = Self(bit: 7)
  public static let generalDeviceFault = Self(bit: 8)
  public static let timeFault = Self(bit: 9)
  public static let multipleBonds = Self(bit: 10)

  public static let uuid: UInt16 = 0x2A51
  public static let names = [
    "low battery detection", "sensor malfunction detection", "sample size", "strip insertion error detection",
    "strip type error detection", "result high-low detection", "temperature high-low detection",
    "read interrupt detection", "general device fault", "time fault", "multiple bonds",
  ]
}
