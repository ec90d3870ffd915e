import BluetoothWire

/// Which reports the host has had · Vol 6, Part B, 4.4.3.5. A report is a duplicate if one of the same advertiser and kind
/// was sent; with ADI, if it was one of the same set and the same data. Other data alone do not make a report new.
///
/// A table with open addressing: looking something up costs a multiplication and, nearly always, one access.
struct DuplicateFilter {
  /// What a report is known by.
  struct Key {
    fileprivate let bits: UInt64
    /// DID; 0 where there is none.
    fileprivate let version: UInt16

    /// A report of a legacy PDU.
    init(_ type: HCI.AdvertisingReport.EventType, _ address: DeviceAddress) {
      bits = address.value | UInt64(address.kind.rawValue) << 48 | UInt64(type.rawValue) << 52
      version = 0
    }

    /// A report of extended advertising; `address` is nil where it is anonymous.
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
    /// No key is all ones.
    static let vacant = Entry(bits: .max, version: 0)
    var bits: UInt64
    var version: UInt16
  }

  /// When so many are remembered, all are forgotten.
  static let capacity = 4_096
  private static let smallest = 16

  private var entries: [Entry] = []
  private(set) var count = 0

  /// False when it was known.
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

  /// Everything is new again.
  mutating func removeAll() {
    guard count > 0 else { return }
    for index in entries.indices { entries[index] = .vacant }
    count = 0
  }

  /// Where the entry with these bits is or would be. Half of the table is vacant, so that every search ends.
  private func place(of bits: UInt64) -> Int {
    let mask = entries.count - 1
    // The golden ratio's multiple spreads addresses that differ in a few bits over the high ones.
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
