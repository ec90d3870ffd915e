/// Reassembles octets that arrive in parts, such as the fragments of an L2CAP frame. The parts are copied into one
/// storage of a pool, so that the storages of the parts can be reused.
///
/// The collector is a value, but copies share the storage: only one copy may append more octets.
package struct ByteCollector {
  private let storage: PacketStorage
  /// The number of octets expected in total.
  package let capacity: Int
  /// The number of octets collected so far.
  package private(set) var count = 0

  package init(_ pool: PacketPool, capacity: Int) {
    storage = pool.take(capacity: capacity)
    self.capacity = capacity
  }

  /// The number of octets still missing.
  package var room: Int { capacity - count }

  /// Appends `bytes` and returns true. Returns false and appends nothing if `bytes` is longer than `room`.
  package mutating func append(_ bytes: ByteSlice) -> Bool {
    guard bytes.count <= room else { return false }
    let target = UnsafeMutableRawPointer(storage.base + count)
    bytes.withUnsafeBytes { source in
      if let start = source.baseAddress { target.copyMemory(from: start, byteCount: source.count) }
    }
    count += bytes.count
    return true
  }

  /// Returns the octets collected. Nothing may be appended afterwards.
  package func finish() -> ByteSlice { ByteSlice(storage: storage, start: 0, count: count) }
}
