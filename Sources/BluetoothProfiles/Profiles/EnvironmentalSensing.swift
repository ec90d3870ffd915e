import BluetoothTypes

/// The trend of the air pressure in recent hours · GATT Specification Supplement, Barometric Pressure Trend; 0x2AA3.
public struct BarometricPressureTrend: CharacteristicValue, ValueCode {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public static let unknown: Self = 0
  public static let continuouslyFalling: Self = 1
  public static let continuouslyRising: Self = 2
  public static let fallingThenSteady: Self = 3
  public static let risingThenSteady: Self = 4
  public static let fallingBeforeLesserRise: Self = 5
  public static let fallingBeforeGreaterRise: Self = 6
  public static let risingBeforeGreaterFall: Self = 7
  public static let risingBeforeLesserFall: Self = 8
  public static let steady: Self = 9

  public static let uuid: UInt16 = 0x2AA3
  public static let names = [
    "unknown", "continuously falling", "continuously rising", "falling, then steady", "rising, then steady",
    "falling before a lesser rise", "falling before a greater rise", "rising before a greater fall",
    "rising before a lesser fall", "steady",
  ]
}

/// A magnetic flux density in a plane · GATT Specification Supplement, Magnetic Flux Density - 2D; 0x2AA0.
public struct MagneticFluxDensity2D: CharacteristicValue {
  public var x: Scalar<MagneticFlux>
  public var y: Scalar<MagneticFlux>

  public init(x: Scalar<MagneticFlux>, y: Scalar<MagneticFlux>) {
    self.x = x
    self.y = y
  }

  public static let uuid: UInt16 = 0x2AA0

  public init(from reader: inout ValueReader) throws(ValueError) {
    x = try reader.scalar()
    y = try reader.scalar()
  }

  public func write(to writer: inout ValueWriter) {
    writer.scalar(x)
    writer.scalar(y)
  }

  public var fields: [ValueField] { [ValueField("x", x), ValueField("y", y)] }
}

/// A magnetic flux density in space · GATT Specification Supplement, Magnetic Flux Density - 3D; 0x2AA1.
public struct MagneticFluxDensity3D: CharacteristicValue {
  public var x: Scalar<MagneticFlux>
  public var y: Scalar<MagneticFlux>
  public var z: Scalar<MagneticFlux>

  public init(x: Scalar<MagneticFlux>, y: Scalar<MagneticFlux>, z: Scalar<MagneticFlux>) {
    self.x = x
    self.y = y
    self.z = z
  }

  public static let uuid: UInt16 = 0x2AA1

  public init(from reader: inout ValueReader) throws(ValueError) {
    x = try reader.scalar()
    y = try reader.scalar()
    z = try reader.scalar()
  }

  public func write(to writer: inout ValueWriter) {
    writer.scalar(x)
    writer.scalar(y)
    writer.scalar(z)
  }

  public var fields: [ValueField] { [ValueField("x", x), ValueField("y", y), ValueField("z", z)] }
}

/// The change of a descriptor in the service · Environmental Sensing Service 1.0, 3.2; 0x2A7D.
public struct DescriptorValueChanged: CharacteristicValue {
  public struct Flags: FeatureSet {
    public let rawValue: UInt16
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// A client made the change; if not set, the server did.
    public static let byClient = Self(bit: 0)
    public static let triggerSetting = Self(bit: 1)
    public static let configuration = Self(bit: 2)
    public static let measurement = Self(bit: 3)
    public static let userDescription = Self(bit: 4)
    public static let names = [
      "by a client", "ES Trigger Setting", "ES Configuration", "ES Measurement", "User Description",
    ]
  }

  public var flags: Flags
  /// The characteristic to which the descriptor belongs.
  public var characteristic: BluetoothUUID

  public init(_ flags: Flags, characteristic: BluetoothUUID) {
    self.flags = flags
    self.characteristic = characteristic
  }

  public static let uuid: UInt16 = 0x2A7D

  public init(from reader: inout ValueReader) throws(ValueError) {
    flags = Flags(rawValue: try reader.uint16())
    characteristic = try BluetoothUUID(rest: &reader)
  }

  public func write(to writer: inout ValueWriter) {
    writer.integer(flags.rawValue)
    characteristic.write(to: &writer)
  }

  public var fields: [ValueField] { [ValueField("changed", flags), ValueField("of", characteristic.valueText)] }
}
