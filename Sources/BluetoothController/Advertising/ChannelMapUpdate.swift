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

/// The channel map of a local train, and the next map, which is announced before it takes effect · Vol 6, Part B,
/// 4.4.2.5.1.
struct AnnouncedChannelMap {
  /// The number of events in which a map is announced. Six is the minimum; the radio may be in use during some
  /// events, and receivers that skip events must receive the announcement, too.
  private static let announcements = 12

  private var current: ChannelMap
  private var next: (map: ChannelMap, instant: Int)?
  /// The map requested while `next` was being announced.
  private var wanted: ChannelMap?
  /// ACAD of AUX_SYNC_IND; empty unless a map is announced.
  private(set) var announcement = ByteSlice()

  init(_ map: ChannelMap) { current = map }

  /// Starts to announce `map` in `event`, or when the present announcement has ended.
  mutating func change(to map: ChannelMap, from event: Int) {
    guard next == nil else {
      wanted = map
      return
    }
    guard map != current else { return }
    let instant = event + Self.announcements
    next = (map, instant)
    announcement = ChannelMapUpdate(map, instant: UInt16(truncatingIfNeeded: instant)).octets
  }

  func map(at event: Int) -> ChannelMap {
    guard let next, event >= next.instant else { return current }
    return next.map
  }

  /// Takes the announced map into use if `event`, the next event, has reached its instant.
  mutating func advance(to event: Int) {
    guard let next, event >= next.instant else { return }
    current = next.map
    self.next = nil
    announcement = ByteSlice()
    guard let wanted else { return }
    self.wanted = nil
    change(to: wanted, from: event)
  }
}
