extension FixedWidthInteger {
  /// All hexadecimal digits of the integer, in upper case, with leading zeros.
  package var hexadecimal: String {
    let digits = String(self, radix: 16, uppercase: true)
    return String(repeating: "0", count: Self.bitWidth / 4 - digits.count) + digits
  }

  /// Returns the `count` lowest octets of the integer, the least significant one first.
  package func octets(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: self >> ($0 * 8)) } }
}
