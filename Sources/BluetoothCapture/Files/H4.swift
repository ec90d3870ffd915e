import BluetoothWire

extension [UInt8] {
  /// Appends `packet` in H4 form: the packet indicator, then the packet · Vol 4, Part A, 2.
  ///
  /// - Parameter keys: the range of the parameters, or of the data, that is replaced by zeros.
  mutating func append(h4 packet: HCI.Packet, without keys: Range<Int>?) {
    append(h4: packet)
    guard let keys else { return }
    let start = count - packet.payload.count
    for index in keys { self[start + index] = 0 }
  }

  private mutating func append(h4 packet: HCI.Packet) {
    switch packet {
    case .command(let opcode, let parameters):
      append(0x01)
      append(littleEndian: opcode.rawValue)
      append(UInt8(truncatingIfNeeded: parameters.count))
      append(parameters)
    case .acl(let data):
      append(0x02)
      append(littleEndian: data.handle.rawValue & 0x0FFF | UInt16(data.boundary.rawValue) << 12)
      append(littleEndian: UInt16(truncatingIfNeeded: data.payload.count))
      append(data.payload)
    case .event(let code, let parameters):
      append(0x04)
      append(code)
      append(UInt8(truncatingIfNeeded: parameters.count))
      append(parameters)
    }
  }

  mutating func append(_ slice: ByteSlice) {
    slice.withUnsafeBytes { append(contentsOf: $0) }
  }
}
