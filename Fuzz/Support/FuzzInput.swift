import BluetoothWire

/// The fuzzer's octets, consumed from the front.
package struct FuzzInput {
  private let octets: [UInt8]
  private var position = 0

  package init(_ start: UnsafePointer<UInt8>, count: Int) {
    octets = Array(UnsafeBufferPointer(start: start, count: count))
  }

  package var isEmpty: Bool { position >= octets.count }

  /// Returns the next octet; zero at the end of the input.
  package mutating func octet() -> UInt8 {
    guard !isEmpty else { return 0 }
    defer { position += 1 }
    return octets[position]
  }

  /// Returns a number from two octets, the least significant one first.
  package mutating func number() -> UInt16 { UInt16(octet()) | UInt16(octet()) << 8 }

  /// Returns `count` octets, or the remaining ones if there are fewer.
  package mutating func slice(_ count: Int) -> ByteSlice {
    let end = min(octets.count, position + count)
    defer { position = end }
    return ByteSlice(octets[position..<end])
  }
}
