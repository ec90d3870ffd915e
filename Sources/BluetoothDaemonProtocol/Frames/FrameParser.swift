import BluetoothWire

/// The frames of one direction of a connection: a length (4 octets, little-endian) that counts what follows it, a type
/// (2 octets), and the payload.
package struct Frame: Sendable {
  /// The length of the length field, in octets.
  static let headerLength = 4

  package let type: UInt16
  package let payload: ByteSlice
}

/// Finds the frames in received octets. It keeps at most one incomplete frame.
package struct FrameParser: Sendable {
  /// The reason why the octets are no frames: a length is below or above the permitted ones.
  package struct InvalidLength: Error, Hashable, Sendable {
    package let length: Int
  }

  /// The maximum length of a frame from now on.
  package var maximumLength: Int
  private var received: [UInt8] = []
  /// The index of the first octet that belongs to no frame yet.
  private var start = 0

  package init(maximumLength: Int) { self.maximumLength = maximumLength }

  /// The number of octets that wait for the rest of their frame.
  package var waitingCount: Int { received.count - start }

  /// Appends received octets. The caller then takes all frames.
  package mutating func append(_ octets: some Collection<UInt8>) {
    if start > 0 {
      received.removeFirst(start)
      start = 0
    }
    received.append(contentsOf: octets)
  }

  /// Removes and returns the next frame; nil: its octets have not all arrived.
  package mutating func next() throws(InvalidLength) -> Frame? {
    guard waitingCount >= Frame.headerLength else { return nil }
    var length = 0
    for index in 0..<Frame.headerLength { length |= Int(received[start + index]) << (8 * index) }
    guard (2...maximumLength).contains(length) else { throw InvalidLength(length: length) }
    guard waitingCount >= Frame.headerLength + length else { return nil }
    let type = UInt16(received[start + 4]) | UInt16(received[start + 5]) << 8
    let end = start + Frame.headerLength + length
    let payload = ByteSlice(received[start + Frame.headerLength + 2..<end])
    start = end
    return Frame(type: type, payload: payload)
  }
}
