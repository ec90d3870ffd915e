import BluetoothLab
import BluetoothProfiles

// Conversions of values in world files. Where digits are expected, unquoted digits are used as written.

extension LocatedValue {
  var uuid: BluetoothUUID? { raw.flatMap { BluetoothUUID($0) } }

  /// The value as a public device address, most significant octet first; nil if it is none.
  var address: DeviceAddress? {
    guard let parts = raw?.split(separator: ":", omittingEmptySubsequences: false), parts.count == 6,
      parts.allSatisfy({ $0.utf8.count == 2 && $0.utf8.allSatisfy(\.isHexadecimalDigit) })
    else { return nil }
    return UInt64(parts.joined(), radix: 16).map { DeviceAddress($0, .public) }
  }

  /// The value as a date from 1970 on and a time, such as 2024-02-29T08:30:00; nil if it is none.
  var dateTime: DateTime? {
    guard let raw, String(raw.map { $0.isASCII && $0.isNumber ? "0" : $0 }) == "0000-00-00T00:00:00" else { return nil }
    let numbers = raw.split { !$0.isNumber }.compactMap { UInt16($0) }
    guard numbers.count == 6, numbers[0] >= 1970, (1...12).contains(numbers[1]),
      (1...Self.days(inMonth: numbers[1], of: numbers[0])).contains(numbers[2])
    else { return nil }
    // The numbers after the year have two digits each.
    let parts = numbers.dropFirst().map { UInt8(clamping: $0) }
    return DateTime(
      year: numbers[0], month: parts[0], day: parts[1], hours: parts[2], minutes: parts[3], seconds: parts[4])
  }

  private static func days(inMonth month: UInt16, of year: UInt16) -> UInt16 {
    switch month {
    case 2: year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400)) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// The value as octets, given as pairs of hexadecimal digits or as a list of numbers; nil if it is neither.
  var octets: [UInt8]? {
    guard case .list(let values) = content else { return raw?.hexadecimalOctets }
    var octets: [UInt8] = []
    for value in values {
      guard let octet = value.whole(UInt8.self) else { return nil }
      octets.append(octet)
    }
    return octets
  }

  /// The value as a protocol number: `.some(nil)` for "any"; nil if it is no number.
  var protocolNumber: UInt64?? {
    if raw == "any" { return .some(nil) }
    guard let raw else { return nil }
    let text = LocatedValue(content: .plain(raw), place: place)
    return text.whole(UInt64.self).map { .some($0) }
  }

  /// The value as a position in metres; nil if it is none.
  var position: Position? {
    guard case .list(let values) = content, 2...3 ~= values.count else { return nil }
    let coordinates = values.compactMap(\.number).filter(WorldLimits.metres.contains)
    guard coordinates.count == values.count else { return nil }
    return Position(x: coordinates[0], y: coordinates[1], z: coordinates.count > 2 ? coordinates[2] : 0)
  }
}

extension UInt8 {
  fileprivate var isHexadecimalDigit: Bool {
    switch self {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
      UInt8(ascii: "A")...UInt8(ascii: "F"):
      true
    default: false
    }
  }
}

extension String {
  /// The text as octets of two hexadecimal digits each, with or without spaces between octets; nil if it is something
  /// else.
  var hexadecimalOctets: [UInt8]? {
    var octets: [UInt8] = []
    for part in split(separator: " ") {
      let digits = Array(part.utf8)
      guard digits.count.isMultiple(of: 2), digits.allSatisfy(\.isHexadecimalDigit) else { return nil }
      for index in stride(from: 0, to: digits.count, by: 2) {
        guard let octet = UInt8(String(decoding: digits[index...index + 1], as: UTF8.self), radix: 16) else {
          return nil
        }
        octets.append(octet)
      }
    }
    return octets
  }
}
