/// Memory of a fixed size that `ByteSlice`s share. It is written only while its one owner fills it, in a `ByteWriter`;
/// from then on its octets do not change until nobody refers to it any more.
package final class PacketStorage {
  let base: UnsafeMutablePointer<UInt8>
  let capacity: Int

  /// A storage of `capacity` octets that belongs to no pool.
  init(capacity: Int) {
    base = .allocate(capacity: capacity)
    self.capacity = capacity
  }

  deinit { base.deallocate() }
}

// Filled by one owner, immutable afterwards: see above.
extension PacketStorage: @unchecked Sendable {}

/// The storages of one executor. A storage is handed out again once nobody but the pool refers to it, so that in the
/// steady state nothing is allocated; `count` that keeps growing shows that packets are kept for ever.
///
/// A pool is confined to its executor. It is a class because every layer of an adapter draws from the same one.
package final class PacketPool {
  /// Room for the longest frame that is built in one piece: an ACL packet that holds an ATT PDU of 517 octets.
  package static let storageCapacity = 560

  /// Storages for SDUs of credit based channels, which may have 64 kB: the shortest of them, and how many lengths there
  /// are, each twice the one before it (but for the room for headers).
  private static let largeCapacity = 1_024
  private static let largeLengths = 7
  /// Of each of these lengths so many are kept at most: who holds more SDUs than that pays for each.
  private static let maximumLarge = 32

  // Confined: see above.
  @exclusivity(unchecked) private var storages: [PacketStorage] = []
  @exclusivity(unchecked) private var next = 0
  @exclusivity(unchecked) private var large = [LargeStorages](repeating: LargeStorages(), count: largeLengths)

  /// How many storages may be looked at before a new one is made.
  private static let probes = 8

  package init() {}

  /// The storages made so far and kept.
  package var count: Int { large.reduce(storages.count) { $0 + $1.storages.count } }

  /// A storage of at least `capacity` octets that nobody else refers to.
  package func take(capacity: Int = storageCapacity) -> PacketStorage {
    guard capacity <= Self.storageCapacity else { return takeLarge(capacity) }
    for _ in 0..<min(Self.probes, storages.count) {
      let index = next
      next = index + 1 == storages.count ? 0 : index + 1
      if isKnownUniquelyReferenced(&storages[index]) { return storages[index] }
    }
    let storage = PacketStorage(capacity: Self.storageCapacity)
    // In the middle of those that were looked at: however many are kept for long, no run of them is met like this again.
    let middle = next - Self.probes / 2
    let place = middle >= 0 ? middle : max(0, storages.count + middle)
    storages.insert(storage, at: place)
    if place <= next { next = next + 1 == storages.count ? 0 : next + 1 }
    return storage
  }

  private func takeLarge(_ capacity: Int) -> PacketStorage {
    for place in large.indices {
      let length = Self.largeCapacity << place + ByteWriter.headroom
      if capacity <= length { return large[place].take(length, maximum: Self.maximumLarge) }
    }
    return PacketStorage(capacity: capacity)
  }

  /// Storages of one length. They are few, so all of them may be looked at.
  private struct LargeStorages {
    var storages: [PacketStorage] = []
    var next = 0

    mutating func take(_ length: Int, maximum: Int) -> PacketStorage {
      for _ in storages.indices {
        let index = next
        next = index + 1 == storages.count ? 0 : index + 1
        if isKnownUniquelyReferenced(&storages[index]) { return storages[index] }
      }
      let storage = PacketStorage(capacity: length)
      if storages.count < maximum { storages.append(storage) }
      return storage
    }
  }
}
