import BluetoothCrypto
import BluetoothWire

/// Returns the octets of a text of hexadecimal digit pairs; nil if the text contains anything else.
func hexadecimalOctets(_ text: some StringProtocol) -> [UInt8]? {
  let digits = text.utf8.map { Character(Unicode.Scalar($0)).hexDigitValue }
  guard digits.count.isMultiple(of: 2) else { return nil }
  var octets: [UInt8] = []
  octets.reserveCapacity(digits.count / 2)
  for index in stride(from: 0, to: digits.count, by: 2) {
    guard let high = digits[index], let low = digits[index + 1] else { return nil }
    octets.append(UInt8(high << 4 | low))
  }
  return octets
}

extension Block {
  /// Parses 32 digits, most significant first.
  init?(digits: String) {
    guard let octets = hexadecimalOctets(digits) else { return nil }
    self.init(octets)
  }

  /// The value as 32 digits, most significant first.
  var digits: String { high.hexadecimal + low.hexadecimal }

  /// Returns the `size` least significant octets · Vol 3, Part H, 2.3.4.
  func cut(to size: UInt8) -> Block {
    let bytes = bytes
    let cut = [UInt8](repeating: 0, count: 16 - Int(min(size, 16))) + bytes.suffix(Int(min(size, 16)))
    return Block(cut) ?? .zero
  }
}

extension DeviceAddress {
  /// Returns the value of an address such as `C0:11:22:33:44:55`; nil: invalid.
  package static func value(digits: String) -> UInt64? {
    let parts = digits.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 6 else { return nil }
    var value: UInt64 = 0
    for part in parts {
      guard let octets = hexadecimalOctets(part), octets.count == 1 else { return nil }
      value = value << 8 | UInt64(octets[0])
    }
    return value
  }

  /// The address as text, such as `C0:11:22:33:44:55`.
  package var digits: String {
    (0..<6).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)).hexadecimal }.joined(separator: ":")
  }
}

extension DeviceAddress.Kind {
  var word: String { self == .public ? "public" : "random" }

  init?(word: String) {
    switch word {
    case "public": self = .public
    case "random": self = .random
    default: return nil
    }
  }
}

extension BluetoothUUID {
  /// Parses any of the three forms that `description` can have; nil: invalid.
  init?(digits text: String) {
    switch text.utf8.count {
    case 4:
      guard let octets = hexadecimalOctets(text) else { return nil }
      self.init(UInt16(octets[0]) << 8 | UInt16(octets[1]))
    case 8:
      guard let octets = hexadecimalOctets(text) else { return nil }
      self.init(octets.reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
    case 36:
      let parts = text.split(separator: "-", omittingEmptySubsequences: false)
      guard parts.map(\.utf8.count) == [8, 4, 4, 4, 12], let block = Block(digits: parts.joined()) else { return nil }
      self.init(high: block.high, low: block.low)
    default: return nil
    }
  }
}
