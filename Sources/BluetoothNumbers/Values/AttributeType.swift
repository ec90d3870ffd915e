/// A UUID in a value: 16 bits of an assigned one, or all 128 · Vol 3, Part F, 3.2.1.
public enum AttributeType: Hashable, Sendable, CustomStringConvertible {
  case assigned(UInt16)
  /// The first and the last eight octets as they are printed.
  case long(UInt64, UInt64)

  /// All that `reader` has left: 2 or 16 octets.
  init(rest reader: inout ValueReader) throws(ValueError) {
    switch reader.remaining {
    case 2: self = .assigned(try reader.uint16())
    case 16:
      let low = try reader.integer(UInt64.self)
      self = .long(try reader.integer(), low)
    case 0..<16: throw .tooShort
    default: throw .tooLong
    }
  }

  func write(to writer: inout ValueWriter) {
    switch self {
    case .assigned(let uuid): writer.integer(uuid)
    case .long(let high, let low):
      writer.integer(low)
      writer.integer(high)
    }
  }

  /// The assigned name, else the UUID.
  public var description: String {
    switch self {
    case .assigned(let uuid): AssignedNumbers.name(of: uuid) ?? uuid.hexadecimal
    case .long(let high, let low): Self.text(high, low)
    }
  }

  private static func text(_ high: UInt64, _ low: UInt64) -> String {
    let digits = Array((high.hexadecimal.dropFirst(2) + low.hexadecimal.dropFirst(2)))
    return [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }.joined(separator: "-")
  }
}
