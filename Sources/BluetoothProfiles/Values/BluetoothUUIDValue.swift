import BluetoothNumbers
import BluetoothTypes

/// A UUID within a value: an assigned UUID of 16 bits, or 128 bits · Vol 3, Part F, 3.2.1.
extension BluetoothUUID {
  /// Reads all remaining octets, which must be 2 or 16.
  init(rest reader: inout ValueReader) throws(ValueError) {
    switch reader.remaining {
    case 2: self.init(try reader.uint16())
    case 16:
      let low = try reader.integer(UInt64.self)
      self.init(high: try reader.integer(), low: low)
    case 0..<16: throw .tooShort
    default: throw .tooLong
    }
  }

  /// Appends the UUID in its original form. A 32-bit UUID, which ATT can't carry, is appended in `attributeForm`.
  func write(to writer: inout ValueWriter) {
    switch width {
    case .bits16: writer.integer(high >> 32, octets: 2)
    case .bits32: attributeForm.write(to: &writer)
    case .bits128:
      writer.integer(low)
      writer.integer(high)
    }
  }

  /// The assigned name of a 16-bit UUID, or the UUID if it has no name.
  var valueText: String {
    guard width == .bits16, let shortValue else { return description }
    return AssignedNumbers.name(of: shortValue) ?? "0x" + description
  }
}
