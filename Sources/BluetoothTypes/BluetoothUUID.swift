// Overview
//
// Every module, and every user of the products, speaks of UUIDs, addresses, properties and error codes. BluetoothTypes
// holds this vocabulary once, so that no module converts between two types for one thing.
//
// The idea: a type belongs here if an app can see it and the specification defines it. The types are values without
// behaviour over time, and know nothing of the octets of PDUs: how a UUID or an address travels is in BluetoothWire
// (`BluetoothUUIDCoding.swift`, `DeviceAddressCoding.swift`).
//
// The module imports nothing, not even Foundation. BluetoothWire and BluetoothLab re-export it, so most code sees the
// types without an import.
//
// Invariants:
// - Initializers, comparisons and constants that hot code uses are `@inlinable`, because every module uses them across
//   the module boundary. The types that need it are `@frozen`.
// - Types that are part of the products' interfaces are `public`; the package alone uses the others.
// - Text that another device has sent is read in one way, which drops padding and replaces invalid UTF-8
//   (`ReceivedText.swift`).
//
// Where to begin: this file and `DeviceAddress.swift`; then `CharacteristicProperties.swift` and `ADStructure.swift`.
// `AppManifest.swift` holds what an app's manifest decides about Bluetooth.
//
// Specification: Vol 3, Part B, 2.5.1 (UUIDs); Vol 6, Part B, 1.3 (addresses); Vol 1, Part F (error codes of HCI); Vol
// 3, Part F, 3.4.1.1 (error codes of ATT); Supplement to the Core Specification, Part A (AD types).

/// The UUID of a service, a characteristic, a descriptor or another attribute type, in its original form: 16, 32 or
/// 128 bits · Vol 3, Part B, 2.5.1. Different forms of one UUID are equal and have the same hash.
///
/// ```swift
/// let heartRate: BluetoothUUID = 0x180D
/// let custom: BluetoothUUID = "6F0D2A10-7C56-4D1F-9E0F-31B7A5F0C001"
/// ```
@frozen public struct BluetoothUUID: Sendable {
  /// The form of a UUID; the raw value is the number of octets.
  @frozen public enum Width: Int, Hashable, Sendable {
    /// A value that the Bluetooth SIG assigned.
    case bits16 = 2
    /// A value of four octets, which ATT can't carry.
    case bits32 = 4
    /// The complete UUID.
    case bits128 = 16
  }

  /// The first half of the 128-bit form, which holds the first eight octets in the order in which they are printed.
  public let high: UInt64
  /// The second half of the 128-bit form.
  public let low: UInt64
  /// The original form.
  public let width: Width

  /// The halves of the Base UUID 00000000-0000-1000-8000-00805F9B34FB.
  @inlinable static var baseHigh: UInt64 { 0x0000_0000_0000_1000 }
  @inlinable static var baseLow: UInt64 { 0x8000_0080_5F9B_34FB }

  /// Creates a UUID with a 16-bit value, which the Bluetooth SIG assigns.
  @inlinable public init(_ value: UInt16) {
    high = UInt64(value) << 32 | Self.baseHigh
    low = Self.baseLow
    width = .bits16
  }

  /// Creates a UUID with a 32-bit value.
  @inlinable public init(_ value: UInt32) {
    high = UInt64(value) << 32 | Self.baseHigh
    low = Self.baseLow
    width = .bits32
  }

  /// Creates a UUID of 128 bits from its first and its last eight octets.
  @inlinable public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
    width = .bits128
  }

  /// The 16-bit value; nil if the UUID has no 16-bit form.
  @inlinable public var shortValue: UInt16? {
    guard low == Self.baseLow, high & 0xFFFF_FFFF == Self.baseHigh else { return nil }
    return UInt16(exactly: high >> 32)
  }

  /// The 32-bit value; nil if the UUID has no 32-bit form.
  @inlinable public var value32: UInt32? {
    guard low == Self.baseLow, high & 0xFFFF_FFFF == Self.baseHigh else { return nil }
    return UInt32(truncatingIfNeeded: high >> 32)
  }

  /// The UUID in the shortest form that ATT can carry: 16 bits if it has such a form, else 128 · Vol 3, Part F,
  /// 3.2.1.
  @inlinable public var attributeForm: BluetoothUUID {
    if let short = shortValue { return BluetoothUUID(short) }
    return BluetoothUUID(high: high, low: low)
  }
}

extension BluetoothUUID: Hashable {
  @inlinable public static func == (left: BluetoothUUID, right: BluetoothUUID) -> Bool {
    left.high == right.high && left.low == right.low
  }

  @inlinable public func hash(into hasher: inout Hasher) {
    hasher.combine(high)
    hasher.combine(low)
  }
}

// MARK: Text

extension BluetoothUUID {
  /// Creates a UUID from text: 4 or 8 hexadecimal digits, or 32 digits with hyphens after the 8th, 12th, 16th and 20th
  /// · RFC 9562, 4. Returns nil for any other text.
  public init?(_ text: String) {
    let isLong = text.utf8.count == 36
    var (high, low) = (UInt64(0), UInt64(0))
    for (position, octet) in text.utf8.enumerated() {
      if isLong, [8, 13, 18, 23].contains(position) {
        guard octet == UInt8(ascii: "-") else { return nil }
        continue
      }
      guard let digit = octet.hexadecimalDigit else { return nil }
      high = high << 4 | low >> 60
      low = low << 4 | UInt64(digit)
    }
    switch text.utf8.count {
    case 4: self.init(UInt16(truncatingIfNeeded: low))
    case 8: self.init(UInt32(truncatingIfNeeded: low))
    case 36: self.init(high: high, low: low)
    default: return nil
    }
  }
}

extension BluetoothUUID: ExpressibleByIntegerLiteral {
  /// Creates a UUID from its 16-bit value.
  @inlinable public init(integerLiteral value: UInt16) { self.init(value) }
}

extension BluetoothUUID: ExpressibleByStringLiteral {
  /// Creates a UUID from a literal; a malformed literal stops the program.
  public init(stringLiteral text: String) {
    guard let uuid = BluetoothUUID(text) else {
      fatalError("invalid UUID \"\(text)\": expected 4, 8 or 32 hexadecimal digits, the last with four hyphens")
    }
    self = uuid
  }
}

extension BluetoothUUID: CustomStringConvertible {
  /// The UUID in its original form: 4, 8 or 36 characters, in upper case.
  public var description: String {
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

extension UInt8 {
  /// The number that the ASCII code of a hexadecimal digit stands for; nil for any other octet.
  fileprivate var hexadecimalDigit: UInt8? {
    switch self {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}

// MARK: Octets

extension BluetoothUUID {
  /// The shortest width in which AD structures can carry this UUID.
  package var advertisedWidth: Width {
    if shortValue != nil { return .bits16 }
    return value32 != nil ? .bits32 : .bits128
  }

  /// The octets of the UUID in `advertisedWidth`, least significant first.
  package var advertisedOctets: [UInt8] { octets(advertisedWidth) }

  /// Returns the octets of the UUID in `width`, least significant first. The UUID must have a form of that width.
  package func octets(_ width: Width) -> [UInt8] {
    switch width {
    case .bits16, .bits32: (high >> 32).octets(width.rawValue)
    case .bits128: low.octets(8) + high.octets(8)
    }
  }
}
