import BluetoothWire

/// The channel map of a local train, and the next map, which is announced before it takes effect · Vol 6, Part B,
/// 4.4.2.5.1.
struct AnnouncedChannelMap {
  /// The number of events in which a map is announced. Six is the minimum; the radio may be in use during some
  /// events, and receivers that skip events must receive the announcement, too.
  private static let announcements = 12

  private var current: ChannelMap
  private var next: (map: ChannelMap, instant: Int)?
  /// The map requested while `next` was being announced.
  private var requested: ChannelMap?
  /// ACAD of AUX_SYNC_IND; empty unless a map is announced.
  private(set) var announcement = ByteSlice()

  init(_ map: ChannelMap) { current = map }

  /// Starts to announce `map` in `event`, or when the present announcement has ended.
  mutating func change(to map: ChannelMap, from event: Int) {
    guard next == nil else {
      requested = map
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
    guard let requested else { return }
    self.requested = nil
    change(to: requested, from: event)
  }
}
