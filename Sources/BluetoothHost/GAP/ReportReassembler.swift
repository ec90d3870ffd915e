import BluetoothWire

/// Puts the reports of long advertising data together · Vol 4, Part E, 7.7.65.13: those of one advertiser and one set, and
/// those of scan responses by themselves.
struct ReportReassembler {
  /// When there are more, the one that began first is given up.
  static let limit = 16
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

  private var entries: [Entry] = []

  var count: Int { entries.count }

  mutating func removeAll() { entries.removeAll() }

  /// The whole data, once they are there, and whether something of them is missing; nil: more is to come.
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
      guard goesOn, !isTruncated else { return (report.data, isTruncated) }
      if entries.count == Self.limit { entries.removeFirst() }
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
}
