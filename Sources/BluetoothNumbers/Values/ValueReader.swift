/// Takes the fields of a value off its front, the least significant octet of each first. Whatever the octets are, there is
/// a field or an error.
public struct ValueReader: Sendable {
  private let octets: [UInt8]
  private var position = 0

  /// Reads from the first octet on.
  public init(_ octets: some Sequence<UInt8>) { self.octets = Array(octets) }

  /// How many octets are left.
  public var remaining: Int { octets.count - position }

  /// An unsigned or signed number of as many octets as its type has.
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

  /// An octet.
  public mutating func uint8() throws(ValueError) -> UInt8 { try integer() }

  /// Two octets.
  public mutating func uint16() throws(ValueError) -> UInt16 { try integer() }

  /// Four octets.
  public mutating func uint32() throws(ValueError) -> UInt32 { try integer() }

  /// A number of `count` octets, 1 to 8, signed or not. Of an unsigned one of eight octets the highest bit has to be 0.
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

  /// A number with a scale and a unit.
  public mutating func scalar<Kind: ScalarKind>(_ type: Scalar<Kind>.Type = Scalar<Kind>.self) throws(ValueError)
    -> Scalar<Kind>
  {
    let number = try integer(octets: Kind.format.octets, isSigned: Kind.format.isSigned)
    guard let scalar = Scalar<Kind>(rawValue: number) else { throw .outOfRange(field: Kind.format.field) }
    return scalar
  }

  /// A code of one octet.
  public mutating func code<Code: ValueCode>(_ type: Code.Type = Code.self) throws(ValueError) -> Code {
    Code(rawValue: try integer())
  }

  /// An SFLOAT or a FLOAT.
  public mutating func medicalFloat<Float: MedicalFloat>(_ type: Float.Type = Float.self) throws(ValueError) -> Float {
    Float(rawValue: try integer())
  }

  /// The next `count` octets.
  public mutating func take(_ count: Int) throws(ValueError) -> [UInt8] {
    guard count >= 0, count <= remaining else { throw .tooShort }
    defer { position += count }
    return Array(octets[position..<position + count])
  }

  /// All that is left.
  public mutating func rest() -> [UInt8] {
    defer { position = octets.count }
    return Array(octets[position...])
  }

  /// All that is left, as text. Octets that are no UTF-8 become U+FFFD.
  public mutating func text() -> String { String(decoding: rest(), as: UTF8.self) }
}

extension FixedWidthInteger where Self: UnsignedInteger {
  /// Whether bit `number` is set.
  func has(_ number: Int) -> Bool { self >> Self(truncatingIfNeeded: number) & 1 == 1 }

  /// The number in `count` bits from bit `first` on.
  func bits(_ first: Int, _ count: Int) -> UInt8 {
    UInt8(truncatingIfNeeded: self >> Self(truncatingIfNeeded: first)) & (1 << UInt8(count) - 1)
  }
}

extension Bool {
  /// A number in which bit `number` is this.
  func bit<Number: FixedWidthInteger>(_ number: Int) -> Number { self ? 1 << Number(number) : 0 }
}
