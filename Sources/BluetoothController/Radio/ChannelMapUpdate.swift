import BluetoothWire

/// Channel Map Update Indication, an AD structure in ACAD of AUX_SYNC_IND · Vol 6, Part B, 4.4.2.5.1.
struct ChannelMapUpdate {
  private static let type: UInt8 = 0x28
  private static let length = 7

  let map: ChannelMap
  /// paEventCounter of the first event with this map.
  let instant: UInt16

  init(_ map: ChannelMap, instant: UInt16) {
    self.map = map
    self.instant = instant
  }

  init?(in data: ByteSlice) {
    var index = 0
    while index + 1 < data.count {
      let length = Int(data[index])
      guard length > 0, index + 1 + length <= data.count else { return nil }
      if data[index + 1] == Self.type, length == Self.length + 1 {
        var bits: UInt64 = 0
        for octet in (0..<5).reversed() { bits = bits << 8 | UInt64(data[index + 2 + octet]) }
        map = ChannelMap(bits: bits)
        instant = UInt16(data[index + 7]) | UInt16(data[index + 8]) << 8
        return
      }
      index += 1 + length
    }
    return nil
  }

  /// The AD structure with its length and type.
  var octets: ByteSlice {
    var result = [UInt8(Self.length + 1), Self.type]
    for octet in 0..<5 { result.append(UInt8(truncatingIfNeeded: map.bits >> UInt64(8 * octet))) }
    result += [UInt8(truncatingIfNeeded: instant), UInt8(truncatingIfNeeded: instant >> 8)]
    return ByteSlice(result)
  }
}
