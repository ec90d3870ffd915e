/// Octets in the order in which they came. Its memory is used again: in the steady state nothing is allocated.
struct OctetQueue {
  private var storage: [UInt8] = []
  /// The first octet that was not taken.
  private var start = 0

  var count: Int { storage.count - start }
  var isEmpty: Bool { count == 0 }

  mutating func append(_ octets: UnsafeRawBufferPointer) {
    // What was taken makes room before the memory grows.
    if start > 0, storage.count + octets.count > storage.capacity || start * 2 > storage.count {
      storage.removeFirst(start)
      start = 0
    }
    storage.append(contentsOf: octets)
  }

  /// Lends the first `maximum` octets, or all.
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
