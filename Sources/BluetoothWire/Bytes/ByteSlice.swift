/// Octets of a packet: a view of part of a shared storage. Copying a slice copies no octets.
///
/// Multi-octet accessors are little-endian, as are all protocols of Bluetooth Low Energy on the air and in HCI.
package struct ByteSlice: Sendable {
  let storage: PacketStorage?
  let start: Int32
  let length: Int32

  init(storage: PacketStorage?, start: Int, count: Int) {
    self.storage = storage
    self.start = Int32(truncatingIfNeeded: start)
    self.length = Int32(truncatingIfNeeded: count)
  }

  /// Creates an empty slice.
  package init() { self.init(storage: nil, start: 0, count: 0) }

  /// Copies `bytes` into a new storage that belongs to no pool.
  package init(_ bytes: some Collection<UInt8>) {
    let count = bytes.count
    guard count > 0 else {
      self.init()
      return
    }
    let storage = PacketStorage(capacity: count)
    _ = UnsafeMutableBufferPointer(start: storage.base, count: count).initialize(fromContentsOf: bytes)
    self.init(storage: storage, start: 0, count: count)
  }

  /// Copies `bytes` into a storage of `pool`.
  package init(_ bytes: UnsafeRawBufferPointer, in pool: PacketPool) {
    var writer = ByteWriter(pool, capacity: bytes.count)
    writer.append(bytes)
    self = writer.finish()
  }

  package var count: Int { Int(length) }
  package var isEmpty: Bool { length == 0 }

  /// Calls `body` with the octets, which are valid for the duration of the call.
  package func withBytes<R, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    try body(UnsafeRawBufferPointer(start: pointer, count: count).bytes)
  }

  /// Calls `body` with the octets, which are valid for the duration of the call. For callers that pass them to C or
  /// to Foundation.
  package func withUnsafeBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    try body(UnsafeRawBufferPointer(start: pointer, count: count))
  }

  var pointer: UnsafePointer<UInt8>? {
    guard let storage else { return nil }
    return UnsafePointer(storage.base + Int(start))
  }

  /// The octet at `index`. Traps if `index` is out of bounds, which is a programming error.
  package subscript(index: Int) -> UInt8 {
    precondition(index >= 0 && index < count, "octet \(index) of a slice of \(count)")
    return pointer.unsafelyUnwrapped[index]
  }

  /// Returns the little-endian integer at `index`. Traps if the integer does not lie within the slice.
  @inline(__always)
  func integer<T: FixedWidthInteger>(at index: Int) -> T {
    precondition(index >= 0 && index <= count - MemoryLayout<T>.size, "number at \(index) of a slice of \(count)")
    return T(littleEndian: UnsafeRawPointer(pointer.unsafelyUnwrapped + index).loadUnaligned(as: T.self))
  }

  /// The octets in `range`. Traps if `range` is out of bounds.
  package subscript(range: Range<Int>) -> ByteSlice {
    precondition(range.lowerBound >= 0 && range.upperBound <= count, "octets \(range) of a slice of \(count)")
    return ByteSlice(storage: storage, start: Int(start) + range.lowerBound, count: range.count)
  }

  /// Returns the first `maximum` octets, or all of them if there are fewer.
  package func prefix(_ maximum: Int) -> ByteSlice { self[0..<min(count, max(0, maximum))] }

  /// Returns the octets after the first `amount` ones; an empty slice if there are no more than `amount`.
  package func dropFirst(_ amount: Int) -> ByteSlice { self[min(count, max(0, amount))..<count] }

  /// A copy as an array, for tests, logs and values that outlive the packet.
  package var bytes: [UInt8] { withUnsafeBytes { Array($0) } }
}

extension ByteSlice: Hashable {
  package static func == (left: ByteSlice, right: ByteSlice) -> Bool {
    left.withUnsafeBytes { left in
      right.withUnsafeBytes { right in left.count == right.count && left.elementsEqual(right) }
    }
  }

  package func hash(into hasher: inout Hasher) {
    withUnsafeBytes { hasher.combine(bytes: $0) }
  }
}

extension ByteSlice: ExpressibleByArrayLiteral {
  package init(arrayLiteral elements: UInt8...) { self.init(elements) }
}

extension ByteSlice: CustomStringConvertible {
  /// Two hexadecimal digits per octet.
  package var description: String { bytes.map(\.hexadecimal).joined() }
}
