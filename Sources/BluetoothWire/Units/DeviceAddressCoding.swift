extension ByteReader {
  /// Reads six octets, least significant first.
  package mutating func addressValue() throws(DecodingError) -> UInt64 {
    let low = try uint32()
    let high = try uint16()
    return UInt64(low) | UInt64(high) << 32
  }
}

extension ByteWriter {
  /// Appends six octets, least significant first.
  package mutating func append(addressValue value: UInt64) {
    append(UInt32(truncatingIfNeeded: value))
    append(UInt16(truncatingIfNeeded: value >> 32))
  }
}
