/// Why octets are not a valid protocol data unit.
package enum DecodingError: Error, Hashable, Sendable {
  /// There are fewer octets than the fields need.
  case truncated
  /// There are more octets than the fields need, in a unit that says its own length.
  case excess
  /// A field holds a value that the specification forbids; `field` is the specification's name for it.
  case invalid(field: StaticName)
  /// The opcode, code or type is not one that is known.
  case unknown(code: UInt16)

  /// A name written in the source, comparable.
  package struct StaticName: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    private let name: StaticString
    package init(stringLiteral name: StaticString) { self.name = name }
    package var description: String { name.description }
    package static func == (left: Self, right: Self) -> Bool { left.description == right.description }
    package func hash(into hasher: inout Hasher) { hasher.combine(description) }
  }
}

/// Takes fields off the front of a `ByteSlice`. Every access is checked: octets from outside give a value or an error,
/// never a trap.
package struct ByteReader {
  private(set) var slice: ByteSlice
  private(set) var position = 0

  package init(_ slice: ByteSlice) { self.slice = slice }

  /// The octets not yet taken.
  package var remaining: Int { slice.count - position }

  // Inlined in the codecs, of which they are the most frequent calls.
  @inline(__always) package mutating func uint8() throws(DecodingError) -> UInt8 { try integer() }
  package mutating func int8() throws(DecodingError) -> Int8 { try integer() }
  @inline(__always) package mutating func uint16() throws(DecodingError) -> UInt16 { try integer() }
  package mutating func uint32() throws(DecodingError) -> UInt32 { try integer() }
  @inline(__always) package mutating func uint64() throws(DecodingError) -> UInt64 { try integer() }

  /// A number of three octets.
  package mutating func uint24() throws(DecodingError) -> UInt32 {
    let low: UInt16 = try integer()
    let high: UInt8 = try integer()
    return UInt32(low) | UInt32(high) << 16
  }

  /// The next `count` octets.
  package mutating func take(_ count: Int) throws(DecodingError) -> ByteSlice {
    guard count >= 0, count <= remaining else { throw .truncated }
    defer { position += count }
    return slice[position..<position + count]
  }

  /// All that is left.
  package mutating func rest() -> ByteSlice {
    // Moved on to the caller: that is cheaper than one more reference to the storage.
    let whole = exchange(&slice, with: ByteSlice())
    let start = exchange(&position, with: 0)
    return ByteSlice(storage: whole.storage, start: Int(whole.start) + start, count: whole.count - start)
  }

  /// Throws `excess` unless everything was taken.
  package func end() throws(DecodingError) {
    guard remaining == 0 else { throw .excess }
  }

  @inline(__always)
  mutating func integer<T: FixedWidthInteger>() throws(DecodingError) -> T {
    let size = MemoryLayout<T>.size
    guard size <= remaining else { throw .truncated }
    defer { position += size }
    let pointer = UnsafeRawPointer(slice.pointer.unsafelyUnwrapped + position)
    return T(littleEndian: pointer.loadUnaligned(as: T.self))
  }
}
