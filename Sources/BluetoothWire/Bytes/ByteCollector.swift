/// Puts octets that arrive in parts together in one storage of a pool, so that no part is kept.
///
/// It is a value that an engine holds while parts arrive: of several copies only one may go on collecting.
package struct ByteCollector {
  private let storage: PacketStorage
  /// How many octets there are to be.
  package let capacity: Int
  /// How many there are.
  package private(set) var count = 0

  package init(_ pool: PacketPool, capacity: Int) {
    storage = pool.take(capacity: capacity)
    self.capacity = capacity
  }

  /// How many octets are missing.
  package var room: Int { capacity - count }

  /// Adds `bytes`; false, and nothing is added: there are more of them than are missing.
  package mutating func append(_ bytes: ByteSlice) -> Bool {
    guard bytes.count <= room else { return false }
    let target = UnsafeMutableRawPointer(storage.base + count)
    bytes.withUnsafeBytes { source in
      if let start = source.baseAddress { target.copyMemory(from: start, byteCount: source.count) }
    }
    count += bytes.count
    return true
  }

  /// The octets collected. Nothing may be added any more.
  package func finish() -> ByteSlice { ByteSlice(storage: storage, start: 0, count: count) }
}
