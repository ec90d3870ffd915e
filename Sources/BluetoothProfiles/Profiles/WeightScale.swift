/// The units of a weight measurement · Weight Scale Service 1.0, 3.2.
public enum WeightUnits: String, Hashable, Sendable {
  /// Kilograms and metres.
  case international = "kg"
  /// Pounds and inches.
  case imperial = "lb"

  /// The unit of the weight.
  public var weight: BluetoothUnit { self == .imperial ? .pound : .kilogram }

  /// The unit of the height.
  public var height: BluetoothUnit { self == .imperial ? .inch : .metre }
}

/// A weight measurement · Weight Scale Service 1.0, 3.2; 0x2A9D.
public struct WeightMeasurement: CharacteristicValue {
  /// The fields that are present together: the body mass index and the height from which the scale has computed it.
  public struct Body: Hashable, Sendable {
    public var bodyMassIndex: Scalar<BodyMassIndex>
    /// The height in steps of 0.001 m or 0.1 in.
    public var rawHeight: UInt16

    public init(bodyMassIndex: Scalar<BodyMassIndex>, rawHeight: UInt16) {
      self.bodyMassIndex = bodyMassIndex
      self.rawHeight = rawHeight
    }
  }

  /// The weight of a measurement without a result: Measurement Unsuccessful.
  public static let unsuccessful: UInt16 = 0xFFFF

  public var units: WeightUnits
  /// The weight in steps of 0.005 kg or 0.01 lb, or `unsuccessful`.
  public var rawWeight: UInt16
  public var timeStamp: DateTime?
  /// The user of the scale; 255 stands for an unknown user.
  public var userID: UInt8?
  /// nil if the scale does not know the height of the user. A measurement without a result has no body mass index.
  public var body: Body?

  public init(
    rawWeight: UInt16, units: WeightUnits = .international, timeStamp: DateTime? = nil, userID: UInt8? = nil,
    body: Body? = nil
  ) {
    self.rawWeight = rawWeight
    self.units = units
    self.timeStamp = timeStamp
    self.userID = userID
    self.body = body
  }

  /// The weight in kilograms or pounds; nil if the measurement has no result.
  public var weight: DecimalNumber? {
    guard rawWeight != Self.unsuccessful else { return nil }
    return units == .imperial
      ? DecimalNumber(Int(rawWeight), exponent: -2) : DecimalNumber(Int(rawWeight) * 5, exponent: -3)
  }

  /// The weight in kilograms, converted from pounds if necessary; nil if the measurement has no result.
  public var kilograms: Double? {
    weight.map { units == .imperial ? $0.value * WeightResolution.kilogramsPerPound : $0.value }
  }

  /// The height in metres or inches; nil if it is not present.
  public var height: DecimalNumber? {
    body.map { DecimalNumber(Int($0.rawHeight), exponent: units == .imperial ? -1 : -3) }
  }

  public static let uuid: UInt16 = 0x2A9D
  public static let ignoresExcess = true

  public init(from reader: inout ValueReader) throws(ValueError) {
    let flags = try reader.uint8()
    units = flags.has(0) ? .imperial : .international
    rawWeight = try reader.uint16()
    timeStamp = try flags.has(1) ? DateTime(from: &reader) : nil
    userID = try flags.has(2) ? reader.uint8() : nil
    body = try flags.has(3) ? Body(bodyMassIndex: reader.scalar(), rawHeight: reader.uint16()) : nil
  }

  public func write(to writer: inout ValueWriter) {
    writer.integer(
      (units == .imperial).bit(0) | (timeStamp != nil).bit(1) | (userID != nil).bit(2) | (body != nil).bit(3) as UInt8)
    writer.integer(rawWeight)
    timeStamp?.write(to: &writer)
    if let userID { writer.integer(userID) }
    if let body {
      writer.scalar(body.bodyMassIndex)
      writer.integer(body.rawHeight)
    }
  }

  public var fields: [ValueField] {
    var fields = [weight.map { ValueField("weight", $0, units.weight) } ?? ValueField("weight", "not measured")]
    fields.add("at", timeStamp)
    if let userID { fields.append(userID == 255 ? ValueField("user", "not known") : ValueField("user", userID)) }
    fields.add("body mass index", body?.bodyMassIndex)
    fields.add("height", height, units.height)
    return fields
  }
}

/// The resolution of a scale's weights · Weight Scale Service 1.0, 3.1. The names are those of the resolution in
/// kilograms; a scale that measures in pounds has the resolution in pounds of the same row.
public struct WeightResolution: ValueCode {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public static let notSpecified: Self = 0
  public static let grams500: Self = 1
  public static let grams200: Self = 2
  public static let grams100: Self = 3
  public static let grams50: Self = 4
  public static let grams20: Self = 5
  public static let grams10: Self = 6
  public static let grams5: Self = 7

  public static let names = [
    "not specified", "0.5 kg or 1 lb", "0.2 kg or 0.5 lb", "0.1 kg or 0.2 lb", "0.05 kg or 0.1 lb",
    "0.02 kg or 0.05 lb", "0.01 kg or 0.02 lb", "0.005 kg or 0.01 lb",
  ]

  static let kilogramsPerPound = 0.453_592_37

  /// Returns the resolution in steps of the field Weight, 0.005 kg or 0.01 lb; nil if it is not specified or reserved.
  public func steps(in units: WeightUnits) -> Int? {
    let steps = units == .imperial ? [100, 50, 20, 10, 5, 2, 1] : [100, 40, 20, 10, 4, 2, 1]
    return steps.indices.contains(Int(rawValue) - 1) ? steps[Int(rawValue) - 1] : nil
  }

  /// Returns the nearest weight in the field Weight that a scale with this resolution shows; nil if the weight is
  /// negative, no number, or too heavy for the field. An unspecified resolution is that of the field.
  public func rawWeight(kilograms: Double, in units: WeightUnits) -> UInt16? {
    // 200 steps of 0.005 kg, 100 steps of 0.01 lb.
    let steps = units == .imperial ? kilograms / Self.kilogramsPerPound * 100 : kilograms * 200
    return nearest(steps, self.steps(in: units) ?? 1)
  }
}

/// The resolution of the heights that a scale knows · Weight Scale Service 1.0, 3.1. The names are those of the
/// resolution in metres; a scale that measures in inches has the resolution in inches of the same row.
public struct HeightResolution: ValueCode {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public static let notSpecified: Self = 0
  public static let millimetres10: Self = 1
  public static let millimetres5: Self = 2
  public static let millimetres1: Self = 3

  public static let names = ["not specified", "0.01 m or 1 inch", "0.005 m or 0.5 inch", "0.001 m or 0.1 inch"]

  /// The resolution in steps of the field Height, 0.001 m or 0.1 in; nil if it is not specified or reserved. It is the
  /// same number for both units.
  public var steps: Int? { (1...3).contains(rawValue) ? [10, 5, 1][Int(rawValue) - 1] : nil }

  /// Returns the nearest height in the field Height; nil if the height is negative, no number, or too large for the
  /// field. An unspecified resolution is that of the field.
  public func rawHeight(metres: Double, in units: WeightUnits) -> UInt16? {
    // An inch is 0.0254 m.
    nearest(units == .imperial ? metres / 0.0254 * 10 : metres * 1_000, steps ?? 1)
  }
}

/// Returns the multiple of `resolution` that is nearest to a number; nil if it does not fit in a field in which 0xFFFF
/// is no number.
private func nearest(_ number: Double, _ resolution: Int) -> UInt16? {
  guard number >= 0, number < 65_536 else { return nil }
  // Does not use `rounded()`, which depends on the C mathematics library.
  let multiple = Int(number / Double(resolution) + 0.5) * resolution
  return multiple < 0xFFFF ? UInt16(multiple) : nil
}

/// The features of a weight scale · Weight Scale Service 1.0, 3.1; 0x2A9E. Reserved bits are preserved.
public struct WeightScaleFeature: CharacteristicValue {
  /// The bits, as transmitted.
  public private(set) var rawValue: UInt32

  public init(rawValue: UInt32) { self.rawValue = rawValue }

  public init(
    timeStamp: Bool = false, multipleUsers: Bool = false, bodyMassIndex: Bool = false,
    weightResolution: WeightResolution = .notSpecified, heightResolution: HeightResolution = .notSpecified
  ) {
    rawValue = timeStamp.bit(0) | multipleUsers.bit(1) | bodyMassIndex.bit(2)
    self.weightResolution = weightResolution
    self.heightResolution = heightResolution
  }

  /// True if measurements have time stamps.
  public var timeStamp: Bool {
    get { rawValue.has(0) }
    set { set(newValue.bit(0), in: 1) }
  }

  /// True if measurements have the number of their user.
  public var multipleUsers: Bool {
    get { rawValue.has(1) }
    set { set(newValue.bit(1), in: 1 << 1) }
  }

  /// True if measurements have the body mass index and the height.
  public var bodyMassIndex: Bool {
    get { rawValue.has(2) }
    set { set(newValue.bit(2), in: 1 << 2) }
  }

  /// The resolution of weights, of which the four lowest bits are stored.
  public var weightResolution: WeightResolution {
    get { WeightResolution(rawValue: rawValue.bits(3, 4)) }
    set { set(UInt32(newValue.rawValue) << 3, in: 0x0F << 3) }
  }

  /// The resolution of heights, of which the three lowest bits are stored.
  public var heightResolution: HeightResolution {
    get { HeightResolution(rawValue: rawValue.bits(7, 3)) }
    set { set(UInt32(newValue.rawValue) << 7, in: 0x07 << 7) }
  }

  private mutating func set(_ bits: UInt32, in mask: UInt32) { rawValue = rawValue & ~mask | bits & mask }

  public static let uuid: UInt16 = 0x2A9E

  public init(from reader: inout ValueReader) throws(ValueError) { self.init(rawValue: try reader.uint32()) }

  public func write(to writer: inout ValueWriter) { writer.integer(rawValue) }

  public var fields: [ValueField] {
    var features: [String] = []
    if timeStamp { features.append("time stamp") }
    if multipleUsers { features.append("multiple users") }
    if bodyMassIndex { features.append("body mass index") }
    features += (10..<32).filter { rawValue.has($0) }.map { "reserved bit \($0)" }
    return [
      ValueField("", features.isEmpty ? "none" : features.joined(separator: ", ")),
      ValueField("weight resolution", weightResolution), ValueField("height resolution", heightResolution),
    ]
  }
}
