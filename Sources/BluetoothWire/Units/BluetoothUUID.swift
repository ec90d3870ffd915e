/// A universally unique identifier in its original form: 16, 32 or 128 bits · Vol 3, Part B, 2.5.1. Different forms
/// of one identifier are equal.
package struct BluetoothUUID: Sendable {
  package enum Width: Int, Hashable, Sendable {
    case bits16 = 2
    case bits32 = 4
    case bits128 = 16
  }

  /// The first half of the 128-bit form, which holds the first eight octets in the order in which they are printed.
  /// `low` is the second half.
  package let high: UInt64
  package let low: UInt64
  package let width: Width

  /// The Base UUID 00000000-0000-1000-8000-00805F9B34FB.
  private static let baseHigh: UInt64 = 0x0000_0000_0000_1000
  private static let baseLow: UInt64 = 0x8000_0080_5F9B_34FB

  package init(_ value: UInt16) {
    high = UInt64(value) << 32 | Self.baseHigh
    low = Self.baseLow
    width = .bits16
  }

  package init(_ value: UInt32) {
    high = UInt64(value) << 32 | Self.baseHigh
    low = Self.baseLow
    width = .bits32
  }

  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
    width = .bits128
  }

  /// The 16-bit value; nil if the identifier has no 16-bit form.
  package var shortValue: UInt16? {
    guard low == Self.baseLow, high & 0xFFFF_FFFF == Self.baseHigh else { return nil }
    return UInt16(exactly: high >> 32)
  }

  /// The 32-bit value; nil if the identifier has no 32-bit form.
  package var value32: UInt32? {
    guard low == Self.baseLow, high & 0xFFFF_FFFF == Self.baseHigh else { return nil }
    return UInt32(high >> 32)
  }

  /// The identifier in the shortest form that ATT can carry: 16 bits if it has such a form, else 128 · Vol 3, Part F,
  /// 3.2.1.
  package var attributeForm: BluetoothUUID {
    if let short = shortValue { return BluetoothUUID(short) }
    return BluetoothUUID(high: high, low: low)
  }
}

extension BluetoothUUID: Hashable {
  package static func == (left: BluetoothUUID, right: BluetoothUUID) -> Bool {
    left.high == right.high && left.low == right.low
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(high)
    hasher.combine(low)
  }
}

extension BluetoothUUID: ExpressibleByIntegerLiteral {
  package init(integerLiteral value: UInt16) { self.init(value) }
}

extension BluetoothUUID: CustomStringConvertible {
  /// 4, 8 or 36 characters, upper case.
  package var description: String {
    switch width {
    case .bits16: return UInt16(truncatingIfNeeded: high >> 32).hexadecimal
    case .bits32: return UInt32(high >> 32).hexadecimal
    case .bits128:
      let digits = high.hexadecimal + low.hexadecimal
      var text = ""
      for (index, digit) in digits.enumerated() {
        if [8, 12, 16, 20].contains(index) { text.append("-") }
        text.append(digit)
      }
      return text
    }
  }
}

extension ByteReader {
  /// Reads an identifier of `width`, least significant octet first.
  package mutating func uuid(_ width: BluetoothUUID.Width) throws(DecodingError) -> BluetoothUUID {
    switch width {
    case .bits16: return BluetoothUUID(try uint16())
    case .bits32: return BluetoothUUID(try uint32())
    case .bits128:
      let low = try uint64()
      let high = try uint64()
      return BluetoothUUID(high: high, low: low)
    }
  }
}

extension ByteWriter {
  /// Appends the identifier in its original form, least significant octet first.
  package mutating func append(_ uuid: BluetoothUUID) {
    switch uuid.width {
    case .bits16: append(UInt16(truncatingIfNeeded: uuid.high >> 32))
    case .bits32: append(UInt32(uuid.high >> 32))
    case .bits128:
      append(uuid.low)
      append(uuid.high)
    }
  }
}
