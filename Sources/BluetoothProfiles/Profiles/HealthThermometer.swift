/// A body temperature, final or intermediate · Health Thermometer Service 1.0, 3.1 and 3.3.
public struct ThermometerValue<Kind: ValueKind>: CharacteristicValue {
  /// The temperature in `unit`.
  public var temperature: MedicalFloat32
  public var isFahrenheit: Bool
  public var timeStamp: DateTime?
  public var type: TemperatureType?

  public init(
    temperature: MedicalFloat32, isFahrenheit: Bool = false, timeStamp: DateTime? = nil, type: TemperatureType? = nil
  ) {
    self.temperature = temperature
    self.isFahrenheit = isFahrenheit
    self.timeStamp = timeStamp
    self.type = type
  }

  public var unit: BluetoothUnit { isFahrenheit ? .degreeFahrenheit : .degreeCelsius }

  public static var uuid: UInt16 { Kind.uuid }
  public static var ignoresExcess: Bool { true }

  public init(from reader: inout ValueReader) throws(ValueError) {
    let flags = try reader.uint8()
    isFahrenheit = flags.has(0)
    temperature = try reader.medicalFloat()
    timeStamp = try flags.has(1) ? DateTime(from: &reader) : nil
    type = try flags.has(2) ? reader.code() : nil
  }

  public func write(to writer: inout ValueWriter) {
    writer.integer(isFahrenheit.bit(0) | (timeStamp != nil).bit(1) | (type != nil).bit(2) as UInt8)
    writer.medicalFloat(temperature)
    timeStamp?.write(to: &writer)
    type?.write(to: &writer)
  }

  public var fields: [ValueField] {
    var fields = [ValueField("", temperature, unit)]
    fields.add("at", timeStamp)
    fields.add("measured at", type)
    return fields
  }
}

/// The final body temperature · Health Thermometer Service 1.0, 3.1; 0x2A1C.
public typealias TemperatureMeasurement = ThermometerValue<TemperatureMeasurementKind>

/// The intermediate temperature during a measurement · Health Thermometer Service 1.0, 3.3; 0x2A1E.
public typealias IntermediateTemperature = ThermometerValue<IntermediateTemperatureKind>

public enum TemperatureMeasurementKind: ValueKind { public static let uuid: UInt16 = 0x2A1C }

public enum IntermediateTemperatureKind: ValueKind { public static let uuid: UInt16 = 0x2A1E }

/// The place on the body where the temperature was measured · Health Thermometer Service 1.0, 3.2; 0x2A1D.
public struct TemperatureType: CharacteristicValue, ValueCode {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public static let armpit: Self = 1
  public static let body: Self = 2
  public static let ear: Self = 3
  public static let finger: Self = 4
  public static let gastrointestinalTract: Self = 5
  public static let mouth: Self = 6
  public static let rectum: Self = 7
  public static let toe: Self = 8
  public static let tympanum: Self = 9

  public static let uuid: UInt16 = 0x2A1D
  public static let firstNamed: UInt8 = 1
  public static let names = [
    "armpit", "body (general)", "ear", "finger", "gastro-intestinal tract", "mouth", "rectum", "toe",
    "tympanum (ear drum)",
  ]
}

/// The interval between measurements · Health Thermometer Service 1.0, 3.4; 0x2A21: 1 to 65,535 s.
public typealias MeasurementInterval = Scalar<MeasurementIntervalKind>

public enum MeasurementIntervalKind: ScalarCharacteristicKind {
  public static let uuid: UInt16 = 0x2A21
  public static let format = ScalarFormat(
    "Measurement Interval", octets: 2, unit: .second, special: [0: "no periodic measurement"])
}
