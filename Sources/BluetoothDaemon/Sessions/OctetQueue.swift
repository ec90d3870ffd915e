/// A queue of octets. It reuses its memory: in the steady state it does not allocate.
struct OctetQueue {
  private var storage: [UInt8] = []
  /// The index of the first octet in the queue.
  private var start = 0

  var count: Int { storage.count - start }
  var isEmpty: Bool { count == 0 }

  mutating func append(_ octets: UnsafeRawBufferPointer) {
    // Frees the space of removed octets before the memory grows.
    if start > 0, storage.count + octets.count > storage.capacity || start * 2 > storage.count {
      storage.removeFirst(start)
      start = 0
    }
    storage.append(contentsOf: octets)
  }

  /// Calls `body` with the first `maximum` octets, or with all if there are fewer, without removing them.
  func withFirst<R>(_ maximum: Int, _ body: (UnsafeRawBufferPointer) -> R) -> R {
    storage.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[start..<start + min(maximum, count)])) }
  }

  mutating func removeFirst(_ amount: Int) {
    start += min(amount, count)
    if start == storage.count { removeAll() }
  }

  mutating func removeAll() {
    storage.removeAll(keepingCapacity: true)
    start = 0
  }
}
