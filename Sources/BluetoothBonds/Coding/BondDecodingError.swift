import BluetoothWire

/// The reason why a text is not a bond record.
package enum BondDecodingError: Error, Hashable, Sendable {
  /// The text is invalid.
  case malformed(String)
  /// A later version of this software has written the text.
  case laterFormat(Int)
}

extension BondDecodingError: CustomStringConvertible {
  /// A description in one line.
  package var description: String {
    switch self {
    case .malformed(let text): "not a valid bond: \(text)"
    case .laterFormat(let format): "written by a later version (format \(format))"
    }
  }
}

extension BondDecodingError {
  /// Converts an error of a decoder. The text begins with the path of the field, such as `keys.own.size`. It never
  /// contains the value of a key.
  init(_ error: any Error) {
    switch error {
    case let error as BondDecodingError: self = error
    case Swift.DecodingError.keyNotFound(let key, let context): self.init(context.codingPath + [key], "missing")
    // A null is not a value.
    case Swift.DecodingError.valueNotFound(let type, let context),
      Swift.DecodingError.typeMismatch(let type, let context):
      self.init(context.codingPath, "expected \(Self.form(of: type))")
    // The decoder reports a syntax error without path and place.
    case Swift.DecodingError.dataCorrupted(let context) where !context.codingPath.isEmpty:
      self.init(context.codingPath, context.debugDescription)
    default: self = .malformed("not valid JSON")
    }
  }

  private init(_ path: [any CodingKey], _ reason: String) {
    var text = ""
    for key in path {
      text += key.intValue.map { "[\($0)]" } ?? (text.isEmpty ? "" : ".") + key.stringValue.printable
    }
    self = .malformed(text.isEmpty ? reason : "\(text): \(reason)")
  }

  private static func form(of type: any Any.Type) -> String {
    switch type {
    case is String.Type: "a string"
    case is Bool.Type: "true or false"
    case is any BinaryInteger.Type: "a whole number"
    case is [Any].Type: "a list"
    default: "an object"
    }
  }
}
