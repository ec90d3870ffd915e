// Design: the memory of packets
//
// A packet is a `ByteSlice`: a reference to a storage of fixed size from the adapter's pool, an offset, and a count.
// PDU enums own one. Keeping a PDU for a queue or a retransmission allocates nothing. The pool is an array of
// storages, which are reused when uniquely referenced. There is one pool per executor (the devices of a world share
// one), and growth of the pool indicates a leak.
//
// Hot paths that keep nothing (filters, address match, headers) take a `RawSpan` and a closure, without the
// experimental `Lifetimes`. NIO's `ByteBuffer` stays at the sockets: received octets are copied into the pool once,
// regardless of their later segmentation, and all packets that are ready are gathered in one buffer that is reused.
// Packets become `Data` in `CoreBluetooth`, with one copy at that boundary. In the steady state (a connection that
// moves data) no layer below the API allocates per packet, except for the encryption of more than 48 octets; a
// benchmark counts the allocations.

/// A buffer of a fixed size that `ByteSlice`s share. First its only owner, such as a `ByteWriter`, writes to it.
/// Afterwards its octets are immutable until the last reference outside the pool is released.
package final class PacketStorage {
  let base: UnsafeMutablePointer<UInt8>
  let capacity: Int

  /// Creates a storage of `capacity` octets that belongs to no pool.
  init(capacity: Int) {
    base = .allocate(capacity: capacity)
    self.capacity = capacity
  }

  deinit { base.deallocate() }
}

// One owner fills the storage; it is immutable afterwards (see the type's description).
extension PacketStorage: @unchecked Sendable {}

/// The buffer pool of one executor. The pool reuses a storage when only the pool refers to it, so that nothing is
/// allocated in the steady state. A `count` that keeps growing indicates packets that are never released.
///
/// A pool is confined to its executor. It is a class because all layers of an adapter share one pool.
package final class PacketPool {
  /// The size of the longest frame that is built in one piece: an ACL packet that holds an ATT PDU of 517 octets.
  package static let storageCapacity = 560

  /// The shortest storage for SDUs of credit based channels, which may be as long as 64 kB, and the number of size
  /// classes. Each class is twice as long as the previous one (headroom not counted).
  private static let largeCapacity = 1_024
  private static let largeLengths = 7
  /// The maximum number of storages kept in each of these size classes. Any further SDU that is held at the same time
  /// costs an allocation.
  private static let maximumLarge = 32

  // Confined to the executor (see the type's description).
  @exclusivity(unchecked) private var storages: [PacketStorage] = []
  @exclusivity(unchecked) private var next = 0
  @exclusivity(unchecked) private var large = [LargeStorages](repeating: LargeStorages(), count: largeLengths)

  /// The maximum number of storages probed before a new one is allocated.
  private static let probes = 8

  package init() {}

  /// The number of storages that the pool holds.
  package var count: Int { large.reduce(storages.count) { $0 + $1.storages.count } }

  /// Returns a storage of at least `capacity` octets to which only the pool and the caller refer.
  package func take(capacity: Int = storageCapacity) -> PacketStorage {
    guard capacity <= Self.storageCapacity else { return takeLarge(capacity) }
    for _ in 0..<min(Self.probes, storages.count) {
      let index = next
      next = index + 1 == storages.count ? 0 : index + 1
      if isKnownUniquelyReferenced(&storages[index]) { return storages[index] }
    }
    let storage = PacketStorage(capacity: Self.storageCapacity)
    // The new storage is inserted in the middle of the storages just probed. It splits a run of storages that are in
    // long-term use, so that later probes of this run find a free storage.
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

  /// The storages of one size class. There are few, so all of them may be probed.
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
