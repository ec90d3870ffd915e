import BluetoothNumbers

/// A UUID within a value: an assigned UUID of 16 bits, or 128 bits · Vol 3, Part F, 3.2.1.
public enum AttributeType: Hashable, Sendable, CustomStringConvertible {
  case assigned(UInt16)
  /// The first and the last eight octets, in the order in which they are printed.
  case long(UInt64, UInt64)

  /// Reads all remaining octets, which must be 2 or 16.
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

  /// The assigned name, or the UUID if it has no name.
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
