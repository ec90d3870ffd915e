/// Appends the fields of a value, least significant octet first.
public struct ValueWriter: Sendable {
  /// The octets written so far.
  public private(set) var octets: [UInt8] = []

  /// Creates an empty writer.
  public init() {
    // Most values have less, so that they need one allocation: the longest Cycling Power Measurement has 34 octets.
    octets.reserveCapacity(40)
  }

  /// Appends an integer with as many octets as its type.
  public mutating func integer(_ number: some FixedWidthInteger) { integer(number, octets: number.bitWidth / 8) }

  /// Appends the `count` lowest octets of an integer.
  public mutating func integer(_ number: some BinaryInteger, octets count: Int) {
    for index in 0..<count { octets.append(UInt8(truncatingIfNeeded: number >> (index * 8))) }
  }

  /// Appends a scalar with as many octets as its format.
  public mutating func scalar<Kind>(_ scalar: Scalar<Kind>) {
    integer(scalar.rawValue, octets: Kind.format.octets)
  }

  /// Appends a code of one octet.
  public mutating func code(_ code: some ValueCode) { octets.append(code.rawValue) }

  /// Appends an SFLOAT or a FLOAT.
  public mutating func medicalFloat(_ number: some MedicalFloat) { integer(number.rawValue) }

  /// Appends octets unchanged.
  public mutating func append(_ more: some Sequence<UInt8>) { octets.append(contentsOf: more) }

  /// Appends text in UTF-8.
  public mutating func text(_ text: String) { octets.append(contentsOf: text.utf8) }
}
