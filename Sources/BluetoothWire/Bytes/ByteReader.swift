// Overview
//
// Two devices, and a host and its controller, exchange octets. BluetoothWire defines the octets of each protocol: it
// turns them into values with the specification's names, and values into octets. The layers above work with the values.
//
// The idea: each family of PDUs is an enum whose cases own their fields, with decoding and encoding side by side.
// Decoding uses the `ByteReader` below, which checks each access: any input gives a value or a `DecodingError`, and
// none stops the program. Encoding appends to a `ByteWriter`, which leaves room in front for the headers of lower
// layers.
//
// A packet is a `ByteSlice`, a view of a storage of the adapter's `PacketPool`. A slice is copied without its octets,
// so a queue or a retransmission keeps a packet without allocating memory.
//
// Callers: controller, host, daemon and transport exchange these values, and captures write and read them. The module
// has no state of a protocol; `H4Decoder` alone keeps octets, of a packet whose rest has not arrived. It also has the
// types of time, levels and randomness that the floors above share (`Instant`, `Decibel`, `RandomStream`).
//
// Invariants:
// - Decoding what has been encoded gives the same value: round-trip tests check it for each family.
// - A pool belongs to one executor. The count of its storages stops growing in the steady state.
// - A key in a packet is a `Secret`, which no description shows.
//
// Where to begin: `ATTPDU.swift` with `ATTPDUDecoding.swift` shows the pattern; `ByteSlice.swift` and
// `PacketPool.swift` the memory; `HCICommandDefinition.swift` and `HCIEventKind.swift` the tables from which masks and
// supported commands follow.
//
// Specification: Vol 4, Part E (HCI); Vol 6, Part B, 2 (PDUs of the link layer); Vol 3, Part A (L2CAP), Part F (ATT),
// Part H (SMP); Supplement, Part A (advertising data).

/// The reason why octets are not a valid protocol data unit.
package enum DecodingError: Error, Hashable, Sendable {
  /// The octets end before the last field.
  case truncated
  /// Octets are left over after the last field.
  case excess
  /// A field holds a value that the specification forbids; `field` is the specification's name for it.
  case invalid(field: StaticName)
  /// The opcode, code or type is unknown.
  case unknown(code: UInt16)

  /// A comparable name that is a literal in the source code.
  package struct StaticName: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    private let name: StaticString
    package init(stringLiteral name: StaticString) { self.name = name }
    package var description: String { name.description }
    package static func == (left: Self, right: Self) -> Bool { left.description == right.description }
    package func hash(into hasher: inout Hasher) { hasher.combine(description) }
  }
}

/// Reads little-endian fields from the front of a `ByteSlice`. Every access is checked, so that invalid input throws an
/// error and never traps.
package struct ByteReader {
  private(set) var slice: ByteSlice
  private(set) var position = 0

  package init(_ slice: ByteSlice) { self.slice = slice }

  /// The number of octets not yet read.
  package var remaining: Int { slice.count - position }

  // Inlined, because the codecs call these most often.
  @inline(__always) package mutating func uint8() throws(DecodingError) -> UInt8 { try integer() }
  package mutating func int8() throws(DecodingError) -> Int8 { try integer() }
  @inline(__always) package mutating func uint16() throws(DecodingError) -> UInt16 { try integer() }
  package mutating func uint32() throws(DecodingError) -> UInt32 { try integer() }
  @inline(__always) package mutating func uint64() throws(DecodingError) -> UInt64 { try integer() }

  /// Reads an unsigned integer of three octets.
  package mutating func uint24() throws(DecodingError) -> UInt32 {
    let low: UInt16 = try integer()
    let high: UInt8 = try integer()
    return UInt32(low) | UInt32(high) << 16
  }

  /// Reads the next `count` octets. Throws `truncated` if fewer are left, or if `count` is negative.
  package mutating func take(_ count: Int) throws(DecodingError) -> ByteSlice {
    guard count >= 0, count <= remaining else { throw .truncated }
    defer { position += count }
    return slice[position..<position + count]
  }

  /// Reads all remaining octets.
  package mutating func rest() -> ByteSlice {
    // The slice is moved to the caller, which is cheaper than retaining the storage once more.
    let whole = exchange(&slice, with: ByteSlice())
    let start = exchange(&position, with: 0)
    return ByteSlice(storage: whole.storage, start: Int(whole.start) + start, count: whole.count - start)
  }

  /// Throws `excess` if octets are left.
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
