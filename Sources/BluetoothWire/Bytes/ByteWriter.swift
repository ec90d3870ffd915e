/// Fills a storage with fields, then gives it away as a `ByteSlice`. It may leave room in front, so that each lower layer
/// puts its header before the same octets instead of copying them.
package struct ByteWriter: ~Copyable {
  let storage: PacketStorage
  var start: Int
  var end: Int

  /// The room in front that is enough for L2CAP (4 octets), HCI ACL (4) and the H4 packet type (1).
  package static let headroom = 9

  /// A writer for at most `capacity` octets, with `headroom` octets more in front of them.
  package init(
    _ pool: borrowing PacketPool, capacity: Int = PacketPool.storageCapacity - headroom, headroom: Int = headroom
  ) {
    storage = pool.take(capacity: capacity + headroom)
    start = headroom
    end = headroom
  }

  package var count: Int { end - start }

  package mutating func append(_ value: UInt8) { appendInteger(value) }
  package mutating func append(_ value: Int8) { appendInteger(value) }
  package mutating func append(_ value: UInt16) { appendInteger(value) }
  package mutating func append(_ value: UInt32) { appendInteger(value) }
  package mutating func append(_ value: UInt64) { appendInteger(value) }

  /// The low three octets of `value`.
  package mutating func append24(_ value: UInt32) {
    appendInteger(UInt16(truncatingIfNeeded: value))
    appendInteger(UInt8(truncatingIfNeeded: value >> 16))
  }

  package mutating func append(_ bytes: ByteSlice) {
    bytes.withUnsafeBytes { append($0) }
  }

  package mutating func append(_ bytes: UnsafeRawBufferPointer) {
    guard let source = bytes.baseAddress, bytes.count > 0 else { return }
    reserve(bytes.count)
    UnsafeMutableRawPointer(storage.base + end).copyMemory(from: source, byteCount: bytes.count)
    end += bytes.count
  }

  /// `count` octets that `fill` writes, all of them; returns what it returns.
  package mutating func append<R>(count: Int, _ fill: (UnsafeMutableRawBufferPointer) -> R) -> R {
    reserve(count)
    defer { end += count }
    return fill(UnsafeMutableRawBufferPointer(start: storage.base + end, count: count))
  }

  /// `count` octets of zero.
  package mutating func appendZeros(_ count: Int) {
    reserve(count)
    (storage.base + end).update(repeating: 0, count: count)
    end += count
  }

  /// Puts a field before everything that is there; the headroom must have space for it.
  package mutating func prepend<T: FixedWidthInteger>(_ value: T) {
    let size = MemoryLayout<T>.size
    precondition(size <= start, "no headroom left for \(size) octets")
    start -= size
    UnsafeMutableRawPointer(storage.base + start).storeBytes(of: value.littleEndian, as: T.self)
  }

  /// Overwrites the field of `T`'s size that begins `offset` octets after the first one.
  package mutating func replace<T: FixedWidthInteger>(at offset: Int, with value: T) {
    precondition(offset >= 0 && start + offset + MemoryLayout<T>.size <= end, "no field at \(offset)")
    UnsafeMutableRawPointer(storage.base + start + offset).storeBytes(of: value.littleEndian, as: T.self)
  }

  /// The octets written, which do not change from here on.
  package consuming func finish() -> ByteSlice {
    ByteSlice(storage: storage, start: start, count: end - start)
  }

  @inline(__always)
  mutating func appendInteger<T: FixedWidthInteger>(_ value: T) {
    let size = MemoryLayout<T>.size
    reserve(size)
    UnsafeMutableRawPointer(storage.base + end).storeBytes(of: value.littleEndian, as: T.self)
    end += size
  }

  func reserve(_ size: Int) {
    precondition(end + size <= storage.capacity, "the writer's capacity of \(storage.capacity) octets is used up")
  }
}
