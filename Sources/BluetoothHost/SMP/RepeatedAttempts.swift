import BluetoothWire

/// Holds back peers whose pairings have failed, each time twice as long · Vol 3, Part H, 2.3.6.
package struct RepeatedAttempts: Hashable, Sendable {
  private struct Entry: Hashable {
    var peer: DeviceAddress
    var failures: Int
    var isHeldUntil: Instant
  }

  /// How many peers are remembered; of more, those that would be let in first are forgotten.
  package static let maximumCount = 64
  /// How long a peer waits after its first failure.
  static let firstWait = TimeSpan.seconds(1)
  static let longestWait = TimeSpan.seconds(600)
  /// How long a failure counts after the wait.
  static let memory = TimeSpan.seconds(600)

  private var entries: [Entry] = []

  package init() {}

  /// Whether this peer has to wait.
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
