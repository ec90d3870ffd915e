import BluetoothWire

/// The exponential backoff for peers whose pairings have failed · Vol 3, Part H, 2.3.6.
package struct RepeatedAttempts: Hashable, Sendable {
  private struct Entry: Hashable {
    var peer: DeviceAddress
    var failures: Int
    var isHeldUntil: Instant
  }

  /// The maximum number of peers; the peer whose wait ends first is removed for a new one.
  package static let maximumCount = 64
  /// The wait after the first failure; it doubles with each failure up to `longestWait`.
  static let firstWait = TimeSpan.seconds(1)
  static let longestWait = TimeSpan.seconds(600)
  /// The time after the wait during which a failure still counts.
  static let memory = TimeSpan.seconds(600)

  private var entries: [Entry] = []

  package init() {}

  /// Returns true if this peer must wait before its next pairing.
  package func holdsBack(_ peer: DeviceAddress, at now: Instant) -> Bool {
    entries.contains { $0.peer == peer && now < $0.isHeldUntil }
  }

  package mutating func failed(_ peer: DeviceAddress, at now: Instant) {
    entries.removeAll { $0.isHeldUntil + Self.memory <= now }
    var failures = 1
    if let index = entries.firstIndex(where: { $0.peer == peer }) {
      failures += entries.remove(at: index).failures
    }
    if entries.count >= Self.maximumCount,
      let first = entries.indices.min(by: { left, right in
        entries[left].isHeldUntil < entries[right].isHeldUntil
      })
    {
      entries.remove(at: first)
    }
    let wait = min(Self.longestWait, Self.firstWait * Int64(1 << min(failures - 1, 16)))
    entries.append(Entry(peer: peer, failures: failures, isHeldUntil: now + wait))
  }

  package mutating func succeeded(_ peer: DeviceAddress) {
    entries.removeAll { $0.peer == peer }
  }
}
