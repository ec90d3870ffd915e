import BluetoothTypes

/// Reads the fields of a value from its front, least significant octet first. Any input gives a field or an error,
/// never a trap.
public struct ValueReader: Sendable {
  private let octets: [UInt8]
  private var position = 0

  /// Creates a reader that starts at the first octet.
  public init(_ octets: some Sequence<UInt8>) { self.octets = Array(octets) }

  /// The number of octets left.
  public var remaining: Int { octets.count - position }

  /// Reads an unsigned or signed integer with as many octets as its type.
  public mutating func integer<Number: FixedWidthInteger>(
    _ type: Number.Type = Number.self
  ) throws(ValueError) -> Number {
    let count = Number.bitWidth / 8
    guard count <= remaining else { throw .tooShort }
    var number: Number = 0
    for index in 0..<count {
      number |= Number(truncatingIfNeeded: octets[position + index]) << Number(truncatingIfNeeded: index * 8)
    }
    position += count
    return number
  }

  /// Reads an integer of one octet.
  public mutating func uint8() throws(ValueError) -> UInt8 { try integer() }

  /// Reads an integer of two octets.
  public mutating func uint16() throws(ValueError) -> UInt16 { try integer() }

  /// Reads an integer of four octets.
  public mutating func uint32() throws(ValueError) -> UInt32 { try integer() }

  /// Reads an integer of `count` octets, 1 to 8. Throws `outOfRange` for an unsigned integer that does not fit in
  /// `Int`.
  public mutating func integer(octets count: Int, isSigned: Bool) throws(ValueError) -> Int {
    guard count <= remaining else { throw .tooShort }
    var number: UInt64 = 0
    for index in 0..<count { number |= UInt64(octets[position + index]) << UInt64(index * 8) }
    position += count
    let spare = UInt64(64 - count * 8)
    if isSigned { return Int(Int64(bitPattern: number << spare) >> Int64(spare)) }
    guard let result = Int(exactly: number) else { throw .outOfRange(field: "Value") }
    return result
  }

  /// Reads a number with a scale and a unit.
  public mutating func scalar<Kind: ScalarKind>(_ type: Scalar<Kind>.Type = Scalar<Kind>.self) throws(ValueError)
    -> Scalar<Kind>
  {
    let number = try integer(octets: Kind.format.octets, isSigned: Kind.format.isSigned)
    guard let scalar = Scalar<Kind>(rawValue: number) else { throw .outOfRange(field: Kind.format.field) }
    return scalar
  }

  /// Reads a code of one octet.
  public mutating func code<Code: ValueCode>(_ type: Code.Type = Code.self) throws(ValueError) -> Code {
    Code(rawValue: try integer())
  }

  /// Reads an SFLOAT or a FLOAT.
  public mutating func medicalFloat<Float: MedicalFloat>(_ type: Float.Type = Float.self) throws(ValueError) -> Float {
    Float(rawValue: try integer())
  }

  /// Reads the next `count` octets.
  public mutating func take(_ count: Int) throws(ValueError) -> [UInt8] {
    guard count >= 0, count <= remaining else { throw .tooShort }
    defer { position += count }
    return Array(octets[position..<position + count])
  }

  /// Reads all remaining octets.
  public mutating func rest() -> [UInt8] {
    defer { position = octets.count }
    return Array(octets[position...])
  }

  /// Reads all remaining octets as text in UTF-8, which ends before the first zero and without an incomplete character.
  /// Other invalid UTF-8 is decoded as U+FFFD.
  public mutating func text() -> String { String(received: rest()) }
}

extension FixedWidthInteger where Self: UnsignedInteger {
  /// Returns true if bit `number` is set.
  func has(_ number: Int) -> Bool { self >> Self(truncatingIfNeeded: number) & 1 == 1 }

  /// Returns the integer in the `count` bits from bit `first` on.
  func bits(_ first: Int, _ count: Int) -> UInt8 {
    UInt8(truncatingIfNeeded: self >> Self(truncatingIfNeeded: first)) & (1 << UInt8(count) - 1)
  }
}

extension Bool {
  /// Returns an integer whose bit `number` is 1 if this is true; all other bits are 0.
  func bit<Number: FixedWidthInteger>(_ number: Int) -> Number { self ? 1 << Number(number) : 0 }
}
