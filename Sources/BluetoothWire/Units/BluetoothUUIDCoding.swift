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
