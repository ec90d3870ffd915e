import BluetoothWire

/// The reassembly of fragmented extended advertising reports · Vol 4, Part E, 7.7.65.13. Fragments belong together if
/// they have the same advertiser and the same set; advertising data and scan responses are separate.
struct ReportReassembler {
  /// The maximum number of reassemblies at a time. Data beyond it are reported as truncated after the first fragment.
  static let limit = 16
  /// The maximum number of abandoned reassemblies that are remembered, so that their later fragments are not mistaken
  /// for complete data.
  static let abandonedLimit = 128
  /// The maximum age of a reassembly. The fragments of one event follow each other closely, so an older reassembly
  /// has lost its end.
  static let maximumAge = TimeSpan.seconds(2)

  private struct Key: Equatable {
    let address: DeviceAddress
    let set: UInt8
    let isScanResponse: Bool
  }

  private struct Entry {
    let key: Key
    var octets: [UInt8]
    var isOverlong = false
    var since: Instant
  }

  private struct Abandoned {
    let key: Key
    let since: Instant
  }

  /// The reassemblies in progress, the oldest first.
  private var entries: [Entry] = []
  /// The abandoned reassemblies, the oldest first.
  private var abandoned: [Abandoned] = []

  var count: Int { entries.count }
  var abandonedCount: Int { abandoned.count }

  mutating func removeAll() {
    entries.removeAll()
    abandoned.removeAll()
  }

  /// Processes a fragment. Returns the complete data, or an incomplete beginning with `isTruncated`; nil: more
  /// fragments follow, or the beginning has already been reported.
  mutating func take(
    _ report: HCI.ExtendedAdvertisingReport, from address: DeviceAddress, at now: Instant
  ) -> (data: ByteSlice, isTruncated: Bool)? {
    let key = Key(
      address: address, set: report.advertisingSID, isScanResponse: report.type.contains(.scanResponse))
    let goesOn = report.type.contains(.moreToCome)
    let isTruncated = report.type.contains(.truncated)
    var index = entries.firstIndex { $0.key == key }
    if let found = index, now - entries[found].since > Self.maximumAge {
      entries.remove(at: found)
      index = nil
    }
    guard let index else {
      if !abandoned.isEmpty, isRest(key, endsNow: !goesOn || isTruncated, at: now) { return nil }
      guard goesOn, !isTruncated else { return (report.data, isTruncated) }
      if entries.count == Self.limit {
        guard now - entries[0].since > Self.maximumAge else {
          if abandoned.count == Self.abandonedLimit { abandoned.removeFirst() }
          abandoned.append(Abandoned(key: key, since: now))
          return (report.data, true)
        }
        entries.removeFirst()
      }
      entries.append(Entry(key: key, octets: report.data.bytes, since: now))
      return nil
    }
    let room = HostAdvertising.maximumExtendedLength - entries[index].octets.count
    if report.data.count > room { entries[index].isOverlong = true }
    entries[index].octets += report.data.prefix(room).bytes
    if goesOn, !isTruncated { return nil }
    let entry = entries.remove(at: index)
    return (ByteSlice(entry.octets), isTruncated || entry.isOverlong)
  }

  /// Returns true if a fragment belongs to an abandoned reassembly.
  private mutating func isRest(_ key: Key, endsNow: Bool, at now: Instant) -> Bool {
    guard let index = abandoned.firstIndex(where: { $0.key == key }) else { return false }
    let isOverdue = now - abandoned[index].since > Self.maximumAge
    if endsNow || isOverdue { abandoned.remove(at: index) }
    return !isOverdue
  }
}
