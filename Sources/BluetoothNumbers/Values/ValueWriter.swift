/// Puts the fields of a value one behind the other, the least significant octet of each first.
public struct ValueWriter: Sendable {
  /// What has been written.
  public private(set) var octets: [UInt8] = []

  /// Nothing yet.
  public init() {}

  /// As many octets as the number's type has.
  public mutating func integer(_ number: some FixedWidthInteger) { integer(number, octets: number.bitWidth / 8) }

  /// The `count` lowest octets of a number.
  public mutating func integer(_ number: some BinaryInteger, octets count: Int) {
    for index in 0..<count { octets.append(UInt8(truncatingIfNeeded: number >> (index * 8))) }
  }

  /// As many octets as the scalar's format has.
  public mutating func scalar<Kind>(_ scalar: Scalar<Kind>) {
    integer(scalar.rawValue, octets: Kind.format.octets)
  }

  /// A code of one octet.
  public mutating func code(_ code: some ValueCode) { octets.append(code.rawValue) }

  /// An SFLOAT or a FLOAT.
  public mutating func medicalFloat(_ number: some MedicalFloat) { integer(number.rawValue) }

  /// Octets as they are.
  public mutating func append(_ more: some Sequence<UInt8>) { octets.append(contentsOf: more) }

  /// Text in UTF-8.
  public mutating func text(_ text: String) { octets.append(contentsOf: text.utf8) }
}
