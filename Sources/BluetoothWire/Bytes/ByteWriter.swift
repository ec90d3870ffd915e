/// Writes little-endian fields to a storage, and returns them as a `ByteSlice`. The writer reserves headroom, so that
/// each lower layer can prepend its header in place instead of copying the octets.
package struct ByteWriter: ~Copyable {
  let storage: PacketStorage
  var start: Int
  var end: Int

  /// The headroom needed for L2CAP (4 octets), HCI ACL (4) and the H4 packet type (1).
  package static let headroom = 9

  /// Creates a writer for at most `capacity` octets, preceded by `headroom` free octets.
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

  /// Appends the low three octets of `value`.
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

  /// Appends `count` octets, all of which `fill` writes. Returns the result of `fill`.
  package mutating func append<R>(count: Int, _ fill: (UnsafeMutableRawBufferPointer) -> R) -> R {
    reserve(count)
    defer { end += count }
    return fill(UnsafeMutableRawBufferPointer(start: storage.base + end, count: count))
  }

  /// Appends `count` zero octets.
  package mutating func appendZeros(_ count: Int) {
    reserve(count)
    (storage.base + end).update(repeating: 0, count: count)
    end += count
  }

  /// Prepends a field. Traps if the headroom is too small for it.
  package mutating func prepend<T: FixedWidthInteger>(_ value: T) {
    let size = MemoryLayout<T>.size
    precondition(size <= start, "no headroom left for \(size) octets")
    start -= size
    UnsafeMutableRawPointer(storage.base + start).storeBytes(of: value.littleEndian, as: T.self)
  }

  /// Overwrites the field of `T`'s size that begins `offset` octets after the first octet. Traps if there is no such
  /// field.
  package mutating func replace<T: FixedWidthInteger>(at offset: Int, with value: T) {
    precondition(offset >= 0 && start + offset + MemoryLayout<T>.size <= end, "no field at \(offset)")
    UnsafeMutableRawPointer(storage.base + start + offset).storeBytes(of: value.littleEndian, as: T.self)
  }

  /// Returns the octets written, which are immutable from then on.
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
