import Foundation

/// The reference vectors in `Vectors/`: facts collected from public specifications and repositories.
public enum TestVectors {
  /// Returns the contents of `Vectors/NAME.json`.
  public static func load(_ name: String) throws -> [String: Any] {
    guard let url = Bundle.module.url(forResource: name, withExtension: "json", subdirectory: "Vectors") else {
      throw CocoaError(.fileNoSuchFile)
    }
    let object = try JSONSerialization.jsonObject(with: Data(contentsOf: url))
    return object as? [String: Any] ?? [:]
  }
}

extension [UInt8] {
  /// Creates octets from hexadecimal digits. Whitespace is skipped; any other character returns nil.
  public init?(hexadecimal text: String) {
    var octets: [UInt8] = []
    var digits: [UInt8] = []
    for character in text where !character.isWhitespace {
      guard let digit = character.hexDigitValue else { return nil }
      digits.append(UInt8(digit))
      if digits.count == 2 {
        octets.append(digits[0] << 4 | digits[1])
        digits.removeAll(keepingCapacity: true)
      }
    }
    guard digits.isEmpty else { return nil }
    self = octets
  }
}
