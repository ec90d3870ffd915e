extension [UInt8] {
  /// Appends `value`, least significant octet first: the byte order of this project's pcapng captures and of all Low
  /// Energy protocols.
  mutating func append<T: FixedWidthInteger>(littleEndian value: T) {
    Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
  }

  /// Appends `value`, most significant octet first.
  mutating func append<T: FixedWidthInteger>(bigEndian value: T) {
    Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
  }
}
