/// The format and the unit of a characteristic's value · Vol 3, Part G, 3.3.3.5; 0x2904. It can convert values of
/// unknown characteristics to text.
public struct PresentationFormat: CharacteristicValue {
  /// The data type of the value · Assigned Numbers, 2.4.1.
  public struct Format: ValueCode {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let boolean: Self = 0x01
    public static let uint2: Self = 0x02
    public static let uint4: Self = 0x03
    public static let uint8: Self = 0x04
    public static let uint12: Self = 0x05
    public static let uint16: Self = 0x06
    public static let uint24: Self = 0x07
    public static let uint32: Self = 0x08
    public static let uint48: Self = 0x09
    public static let uint64: Self = 0x0A
    public static let uint128: Self = 0x0B
    public static let sint8: Self = 0x0C
    public static let sint12: Self = 0x0D
    public static let sint16: Self = 0x0E
    public static let sint24: Self = 0x0F
    public static let sint32: Self = 0x10
    public static let sint48: Self = 0x11
    public static let sint64: Self = 0x12
    public static let sint128: Self = 0x13
    public static let float32: Self = 0x14
    public static let float64: Self = 0x15
    public static let medfloat16: Self = 0x16
    public static let medfloat32: Self = 0x17
    /// Two integers of 16 bits: a code of IEEE 11073-20601.
    public static let nomenclature: Self = 0x18
    public static let utf8: Self = 0x19
    public static let utf16: Self = 0x1A
    public static let opaque: Self = 0x1B
    public static let medicalASN1: Self = 0x1C

    public static let firstNamed: UInt8 = 1
    public static let names = [
      "boolean", "uint2", "uint4", "uint8", "uint12", "uint16", "uint24", "uint32", "uint48", "uint64", "uint128",
      "sint8", "sint12", "sint16", "sint24", "sint32", "sint48", "sint64", "sint128", "float32", "float64",
      "medfloat16", "medfloat32", "uint16[2]", "utf8s", "utf16s", "struct", "medASN1",
    ]
  }

  /// The Description field, which distinguishes this value from others of the same kind.
  public struct Description: Hashable, Sendable {
    /// The organization that assigns the number: 1 is the Bluetooth SIG.
    public var namespace: UInt8
    public var number: UInt16

    public init(namespace: UInt8 = 1, number: UInt16 = 0) {
      self.namespace = namespace
      self.number = number
    }

    /// The name, such as "number 1" or "left"; nil if the number is 0, unknown or not assigned by the SIG · Assigned
    /// Numbers, 2.4.2.
    public var name: String? {
      guard namespace == 1, number > 0 else { return nil }
      if number < 0x100 { return "number \(number)" }
      let places = [
        "front", "back", "top", "bottom", "upper", "lower", "main", "backup", "auxiliary", "supplementary", "flash",
        "inside", "outside", "left", "right", "internal", "external",
      ]
      return places.indices.contains(Int(number) - 0x100) ? places[Int(number) - 0x100] : nil
    }

    /// The name, or the numbers of a description without one; nil for the number 0 of the SIG, "unknown".
    var text: String? {
      if let name { return name }
      return self == Description() ? nil : "\(number) of namespace \(namespace)"
    }
  }

  public var format: Format
  /// For integers: one step is 10^`exponent` units.
  public var exponent: Int8
  public var unit: BluetoothUnit
  public var details: Description

  public init(_ format: Format, exponent: Int8 = 0, unit: BluetoothUnit, details: Description = Description()) {
    self.format = format
    self.exponent = exponent
    self.unit = unit
    self.details = details
  }

  public static let uuid: UInt16 = 0x2904

  public init(from reader: inout ValueReader) throws(ValueError) {
    format = try reader.code()
    exponent = try reader.integer()
    unit = BluetoothUnit(rawValue: try reader.uint16())
    details = Description(namespace: try reader.uint8(), number: try reader.uint16())
  }

  public func write(to writer: inout ValueWriter) {
    writer.code(format)
    writer.integer(exponent)
    writer.integer(unit.rawValue)
    writer.integer(details.namespace)
    writer.integer(details.number)
  }

  public var fields: [ValueField] {
    var fields = [ValueField("format", format), ValueField("exponent", exponent), ValueField("unit", unit)]
    fields.add("description", details.text)
    return fields
  }
}

extension PresentationFormat {
  /// Returns the text of the value in this format, with its unit: "25.5 °C". Throws `tooLong` if octets follow the
  /// value.
  public func text(of octets: some Sequence<UInt8>) throws(ValueError) -> String {
    var reader = ValueReader(octets)
    let text = try text(from: &reader)
    guard reader.remaining == 0 else { throw .tooLong }
    return text
  }

  /// Returns the value in this format as a field without a name. Throws `tooLong` if octets follow the value.
  public func field(of octets: some Sequence<UInt8>) throws(ValueError) -> ValueField {
    let text = try text(of: octets)
    return isNumber ? ValueField("", textOfNumber: text, unit) : ValueField("", text)
  }

  /// True if a value in this format is a number.
  private var isNumber: Bool {
    switch format {
    case .uint2, .uint4, .uint8, .uint12, .uint16, .uint24, .uint32, .uint48, .uint64, .uint128, .sint8, .sint12,
      .sint16, .sint24, .sint32, .sint48, .sint64, .sint128, .float32, .float64, .medfloat16, .medfloat32:
      true
    default: false
    }
  }

  /// Reads the next value. Text, and values of formats that are not decoded, extend to the end of the octets.
  func text(from reader: inout ValueReader) throws(ValueError) -> String {
    switch format {
    case .boolean: return try reader.uint8().has(0) ? "true" : "false"
    case .uint2: return whole(try reader.uint8() & 0x03)
    case .uint4: return whole(try reader.uint8() & 0x0F)
    case .uint8: return whole(try reader.uint8())
    case .uint12: return whole(try reader.uint16() & 0x0FFF)
    case .uint16: return whole(try reader.uint16())
    case .uint24: return whole(try reader.integer(octets: 3, isSigned: false))
    case .uint32: return whole(try reader.uint32())
    case .uint48: return whole(try reader.integer(octets: 6, isSigned: false))
    case .uint64: return whole(try reader.integer(UInt64.self))
    case .uint128: return whole(try reader.integer(UInt128.self))
    case .sint8: return whole(try reader.integer(Int8.self))
    case .sint12: return whole(Int16(bitPattern: try reader.uint16() << 4) >> 4)
    case .sint16: return whole(try reader.integer(Int16.self))
    case .sint24: return whole(try reader.integer(octets: 3, isSigned: true))
    case .sint32: return whole(try reader.integer(Int32.self))
    case .sint48: return whole(try reader.integer(octets: 6, isSigned: true))
    case .sint64: return whole(try reader.integer(Int64.self))
    case .sint128: return whole(try reader.integer(Int128.self))
    case .float32: return unit.text(Float(bitPattern: try reader.uint32()).description)
    case .float64: return unit.text(Double(bitPattern: try reader.integer()).description)
    case .medfloat16: return unit.text(try reader.medicalFloat(MedicalFloat16.self).description)
    case .medfloat32: return unit.text(try reader.medicalFloat(MedicalFloat32.self).description)
    case .nomenclature: return "\(try reader.uint16()):\(try reader.uint16())"
    case .utf8: return reader.text()
    case .utf16:
      var units: [UInt16] = []
      while reader.remaining > 0 { units.append(try reader.uint16()) }
      return String(decoding: units, as: UTF16.self)
    default: return reader.rest().hexadecimal
    }
  }

  private func whole(_ number: some BinaryInteger) -> String {
    unit.text(DecimalNumber.text(number, exponent: Int(exponent)))
  }
}

/// The formats of the parts of an aggregate value · Vol 3, Part G, 3.3.3.6; 0x2905.
public struct AggregateFormat: CharacteristicValue {
  /// The handles of the Characteristic Presentation Format descriptors, in the order of the parts.
  public var handles: [UInt16]

  public init(handles: [UInt16]) { self.handles = handles }

  public static let uuid: UInt16 = 0x2905

  public init(from reader: inout ValueReader) throws(ValueError) {
    handles = []
    while reader.remaining > 0 { handles.append(try reader.uint16()) }
  }

  public func write(to writer: inout ValueWriter) {
    for handle in handles { writer.integer(handle) }
  }

  public var fields: [ValueField] {
    [ValueField("handles", handles.map(\.hexadecimal).joined(separator: " "))]
  }

  /// Returns the text of each part of the aggregate value `octets`. `formats` holds the format for each handle;
  /// throws `outOfRange` for a handle that is not in it.
  public func texts(of octets: some Sequence<UInt8>, formats: [UInt16: PresentationFormat]) throws(ValueError)
    -> [String]
  {
    var reader = ValueReader(octets)
    var texts: [String] = []
    for handle in handles {
      guard let format = formats[handle] else { throw .outOfRange(field: "Handle") }
      texts.append(try format.text(from: &reader))
    }
    guard reader.remaining == 0 else { throw .tooLong }
    return texts
  }
}
