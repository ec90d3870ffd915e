import BluetoothTransport
import BluetoothWire
import Foundation

/// A value as it is written on the command line.
///
/// | form | octets |
/// | --- | --- |
/// | `0x0A1B` | these octets, in this order; spaces, colons and hyphens between octets are ignored |
/// | `"text"`, `text:text` | the text in UTF-8 |
/// | `u8:7`, `u16:500`, `i32:-1`, … | an integer of 8 to 64 bits, least significant octet first |
/// | `f32:1.5`, `f64:1.5` | a number of IEEE 754, least significant octet first |
/// | `file:PATH` | the content of a file, of at most 512 octets |
struct WrittenValue: Hashable, Sendable {
  let octets: Data

  /// The forms in messages.
  static let forms = "0x0A1B, '\"text\"', text:TEXT, u8:7, u16:500, i32:-1, f32:1.5, file:PATH"

  /// The largest attribute value, in octets · Vol 3, Part F, 3.2.9.
  private static let maximum = 512

  /// Reads a value.
  ///
  /// - Throws: `Failure` with the reason why the text is no value.
  init(_ text: String) throws { octets = try Self.octets(of: text) }

  private static func octets(of text: String) throws -> Data {
    let octets: Data
    if text.hasPrefix("0x") || text.hasPrefix("0X") {
      octets = try hexadecimal(text)
    } else if text.hasPrefix("\""), text.hasSuffix("\""), text.count >= 2 {
      octets = Data(text.dropFirst().dropLast().utf8)
    } else if let colon = text.firstIndex(of: ":") {
      octets = try typed(String(text[..<colon]), String(text[text.index(after: colon)...]), text)
    } else {
      throw failure(text, "expected one of: \(forms)" + suggestion(for: text))
    }
    guard octets.count <= maximum else {
      throw failure(text, "\(octets.count) octets; an attribute has at most \(maximum)")
    }
    return octets
  }

  private static func hexadecimal(_ text: String) throws -> Data {
    let digits = text.dropFirst(2).filter { !" :-".contains($0) }
    guard digits.count % 2 == 0 else { throw failure(text, "an odd number of hexadecimal digits") }
    var octets = Data()
    var rest = digits[...]
    while !rest.isEmpty {
      guard rest.prefix(2).allSatisfy(\.isHexDigit), let octet = UInt8(rest.prefix(2), radix: 16) else {
        throw failure(text, "\"\(rest.prefix(2))\" is no octet")
      }
      octets.append(octet)
      rest = rest.dropFirst(2)
    }
    return octets
  }

  private static func typed(_ type: String, _ rest: String, _ text: String) throws -> Data {
    switch type {
    case "text": return Data(rest.utf8)
    case "file": return try content(of: rest)
    case "f32":
      guard let number = Float(rest) else { throw failure(text, "\"\(rest)\" is no number") }
      return littleEndian(UInt64(number.bitPattern), 4)
    case "f64":
      guard let number = Double(rest) else { throw failure(text, "\"\(rest)\" is no number") }
      return littleEndian(number.bitPattern, 8)
    default: return try integer(type, rest, text)
    }
  }

  private static func integer(_ type: String, _ rest: String, _ text: String) throws -> Data {
    guard let kind = type.first, "ui".contains(kind), let bits = Int(type.dropFirst()),
      [8, 16, 24, 32, 40, 48, 56, 64].contains(bits)
    else { throw failure(text, "unknown form \"\(type):\"; expected one of: \(forms)" + suggestion(for: text)) }
    let isHexadecimal = rest.lowercased().hasPrefix("0x")
    if kind == "u" {
      let number = isHexadecimal ? UInt64(rest.dropFirst(2), radix: 16) : UInt64(rest)
      let highest = UInt64.max >> (64 - UInt64(bits))
      guard let number, number <= highest else { throw failure(text, "expected an integer from 0 to \(highest)") }
      return littleEndian(number, bits / 8)
    }
    let highest = Int64.max >> (64 - Int64(bits))
    guard let number = Int64(rest), -highest - 1...highest ~= number else {
      throw failure(text, "expected an integer from \(-highest - 1) to \(highest)")
    }
    return littleEndian(UInt64(bitPattern: number), bits / 8)
  }

  /// Returns `; did you mean u8:5?` with the forms that a text without a known form can have.
  private static func suggestion(for text: String) -> String {
    var forms: [String] = []
    if let match = text.wholeMatch(of: /(uint|int|sint|float|hex|str|string|utf8)(\d*):(.*)/) {
      let rest = match.3
      switch match.1 {
      case "uint": forms = ["u\(match.2.isEmpty ? "8" : match.2):\(rest)"]
      case "int", "sint": forms = ["i\(match.2.isEmpty ? "8" : match.2):\(rest)"]
      case "float": forms = ["f\(match.2 == "64" ? "64" : "32"):\(rest)"]
      case "hex": forms = ["0x\(rest)"]
      default: forms = ["text:\(rest)"]
      }
    } else if let number = Int64(text) {
      let kind = number < 0 ? "i" : "u"
      let widths = [8, 16, 32, 64].filter { bits in
        number < 0 ? number >= Int64.min >> (64 - Int64(bits)) : bits == 64 || number < 1 << Int64(bits)
      }
      forms = widths.prefix(2).map { "\(kind)\($0):\(number)" }
    } else if Double(text)?.isFinite == true {
      forms = ["f32:\(text)"]
    } else if text.count.isMultiple(of: 2), text.contains(where: \.isNumber), text.allSatisfy(\.isHexDigit) {
      forms = ["0x\(text)", "text:\(text)"]
    } else if !text.isEmpty, !text.contains(":") {
      forms = ["text:\(text)".shellWord]
    }
    return forms.isEmpty ? "" : "; did you mean \(forms.joined(separator: " or "))?"
  }

  private static func littleEndian(_ number: UInt64, _ count: Int) -> Data {
    Data((0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0))) })
  }

  private static func content(of path: String) throws -> Data {
    Data(try InputFile.content(of: path, limit: maximum))
  }

  private static func failure(_ text: String, _ reason: String) -> Failure {
    Failure("invalid value \(text): \(reason)", status: ExitStatus.usage)
  }
}
