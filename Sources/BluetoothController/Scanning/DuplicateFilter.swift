import BluetoothWire

/// The duplicate filter, which contains the reports that the host has received · Vol 6, Part B, 4.4.3.5. A report is
/// a duplicate if a report of the same advertiser and kind was sent; with ADI, if a report of the same set and the
/// same data was sent. Changed data alone do not make a report new.
///
/// The filter is a hash table with open addressing: a lookup costs a multiplication and, nearly always, one access.
struct DuplicateFilter {
  /// The identity of a report.
  struct Key {
    fileprivate let bits: UInt64
    /// The DID; 0 without ADI.
    fileprivate let version: UInt16

    /// Creates the key of a report of a legacy PDU.
    init(_ type: HCI.AdvertisingReport.EventType, _ address: DeviceAddress) {
      bits = address.value | UInt64(address.kind.rawValue) << 48 | UInt64(type.rawValue) << 52
      version = 0
    }

    /// Creates the key of a report of extended advertising; `address` is nil for an anonymous advertiser.
    init(_ address: DeviceAddress?, _ dataInfo: LL.AdvertisingDataInfo?, isScanResponse: Bool) {
      var bits: UInt64 = 1 << 49 | (isScanResponse ? 1 << 50 : 0)
      if let address {
        bits |= address.value | UInt64(address.kind.rawValue) << 48
      } else {
        bits |= 1 << 51
      }
      if let dataInfo { bits |= 1 << 56 | UInt64(dataInfo.sid) << 52 }
      self.bits = bits
      version = dataInfo?.did ?? 0
    }
  }

  private struct Entry {
    /// An unused entry; no key is all ones.
    static let vacant = Entry(bits: .max, version: 0)
    var bits: UInt64
    var version: UInt16
  }

  /// The maximum number of remembered reports; at this number, the filter forgets all of them.
  static let capacity = 4_096
  private static let smallest = 16

  private var entries: [Entry] = []
  private(set) var count = 0

  /// Remembers a report; returns false if the filter contains it already.
  mutating func insert(_ key: Key) -> Bool {
    if count > 0 {
      let index = place(of: key.bits)
      if entries[index].bits == key.bits {
        defer { entries[index].version = key.version }
        return entries[index].version != key.version
      }
    }
    if count * 2 >= entries.count { grow() }
    entries[place(of: key.bits)] = Entry(bits: key.bits, version: key.version)
    count += 1
    return true
  }

  func contains(_ key: Key) -> Bool {
    guard count > 0 else { return false }
    let entry = entries[place(of: key.bits)]
    return entry.bits == key.bits && entry.version == key.version
  }

  /// Forgets all reports.
  mutating func removeAll() {
    guard count > 0 else { return }
    for index in entries.indices { entries[index] = .vacant }
    count = 0
  }

  /// Returns the index of the entry with these bits, or of the vacant entry for them. Half of the table is vacant, so
  /// that every search ends.
  private func place(of bits: UInt64) -> Int {
    let mask = entries.count - 1
    // Multiplication by the golden ratio spreads addresses that differ in a few bits over the high bits.
    var index = Int(truncatingIfNeeded: (bits &* 0x9E37_79B9_7F4A_7C15) >> 40) & mask
    while entries[index].bits != bits && entries[index].bits != Entry.vacant.bits { index = (index + 1) & mask }
    return index
  }

  private mutating func grow() {
    guard count < Self.capacity else {
      removeAll()
      return
    }
    let old = entries
    entries = Array(repeating: .vacant, count: max(Self.smallest, old.count * 2))
    for entry in old where entry.bits != Entry.vacant.bits { entries[place(of: entry.bits)] = entry }
  }
}
