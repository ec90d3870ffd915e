/// Octets of a packet: a view of a part of a storage that others may share. Copying one copies no octet.
///
/// Multi-octet accessors are little-endian, as all protocols of Bluetooth Low Energy are on the air and in HCI.
package struct ByteSlice: Sendable {
  let storage: PacketStorage?
  let start: Int32
  let length: Int32

  init(storage: PacketStorage?, start: Int, count: Int) {
    self.storage = storage
    self.start = Int32(truncatingIfNeeded: start)
    self.length = Int32(truncatingIfNeeded: count)
  }

  /// No octets.
  package init() { self.init(storage: nil, start: 0, count: 0) }

  /// A copy of `bytes` in a storage of its own.
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

  /// A copy of `bytes` in a storage of `pool`.
  package init(_ bytes: UnsafeRawBufferPointer, in pool: PacketPool) {
    var writer = ByteWriter(pool, capacity: bytes.count)
    writer.append(bytes)
    self = writer.finish()
  }

  package var count: Int { Int(length) }
  package var isEmpty: Bool { length == 0 }

  /// The octets for the time of the call.
  package func withBytes<R, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    try body(UnsafeRawBufferPointer(start: pointer, count: count).bytes)
  }

  /// The octets for the time of the call, for callers that hand them to C or to Foundation.
  package func withUnsafeBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    try body(UnsafeRawBufferPointer(start: pointer, count: count))
  }

  var pointer: UnsafePointer<UInt8>? {
    guard let storage else { return nil }
    return UnsafePointer(storage.base + Int(start))
  }

  /// The octet at `index`, which the caller knows to be inside: anything else is a programmer's mistake and stops.
  package subscript(index: Int) -> UInt8 {
    precondition(index >= 0 && index < count, "octet \(index) of a slice of \(count)")
    return pointer.unsafelyUnwrapped[index]
  }

  /// The little-endian number at `index`, which the caller knows to be inside.
  @inline(__always)
  func integer<T: FixedWidthInteger>(at index: Int) -> T {
    precondition(index >= 0 && index <= count - MemoryLayout<T>.size, "number at \(index) of a slice of \(count)")
    return T(littleEndian: UnsafeRawPointer(pointer.unsafelyUnwrapped + index).loadUnaligned(as: T.self))
  }

  /// The part in `range`, which the caller knows to be inside.
  package subscript(range: Range<Int>) -> ByteSlice {
    precondition(range.lowerBound >= 0 && range.upperBound <= count, "octets \(range) of a slice of \(count)")
    return ByteSlice(storage: storage, start: Int(start) + range.lowerBound, count: range.count)
  }

  /// The first octets, at most `maximum` of them.
  package func prefix(_ maximum: Int) -> ByteSlice { self[0..<min(count, max(0, maximum))] }

  /// What is left after the first `amount` octets; empty when there are not that many.
  package func dropFirst(_ amount: Int) -> ByteSlice { self[min(count, max(0, amount))..<count] }

  /// A copy as an array, for tests, logs and whatever outlives the packet.
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
  /// Two hexadecimal digits an octet.
  package var description: String { bytes.map(\.hexadecimal).joined() }
}

extension FixedWidthInteger {
  /// All digits of this number in base 16, upper case.
  package var hexadecimal: String {
    let digits = String(self, radix: 16, uppercase: true)
    return String(repeating: "0", count: Self.bitWidth / 4 - digits.count) + digits
  }
}
