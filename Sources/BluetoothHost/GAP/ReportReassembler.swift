import BluetoothWire

/// Puts the reports of long advertising data together · Vol 4, Part E, 7.7.65.13: those of one advertiser and one set, and
/// those of scan responses by themselves.
struct ReportReassembler {
  /// When there are more, what is new is told as truncated after its first part.
  static let limit = 16
  /// Of how many such the rest is known, so that nobody takes it for whole data.
  static let givenUpLimit = 128
  /// Parts of one event come one behind the other: what is older than this has lost its end.
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

  private struct GivenUp {
    let key: Key
    let since: Instant
  }

  /// The oldest first.
  private var entries: [Entry] = []
  /// The oldest first.
  private var givenUp: [GivenUp] = []

  var count: Int { entries.count }
  var givenUpCount: Int { givenUp.count }

  mutating func removeAll() {
    entries.removeAll()
    givenUp.removeAll()
  }

  /// The whole data, once they are there, or their beginning and that something is missing; nil: more is to come, or the
  /// beginning was told.
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
      if !givenUp.isEmpty, isRest(key, endsNow: !goesOn || isTruncated, at: now) { return nil }
      guard goesOn, !isTruncated else { return (report.data, isTruncated) }
      if entries.count == Self.limit {
        guard now - entries[0].since > Self.maximumAge else {
          if givenUp.count == Self.givenUpLimit { givenUp.removeFirst() }
          givenUp.append(GivenUp(key: key, since: now))
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

  /// True: it belongs to something that was given up.
  private mutating func isRest(_ key: Key, endsNow: Bool, at now: Instant) -> Bool {
    guard let index = givenUp.firstIndex(where: { $0.key == key }) else { return false }
    let isOverdue = now - givenUp[index].since > Self.maximumAge
    if endsNow || isOverdue { givenUp.remove(at: index) }
    return !isOverdue
  }
}
