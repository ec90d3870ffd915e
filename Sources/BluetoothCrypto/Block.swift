/// A value of 128 bits, most significant octet first, as the Core Specification prints keys and values. Its description
/// does not show the value, because it may be a key.
package struct Block: Hashable, Sendable {
  /// The first eight octets in the order in which they are printed; `low` holds the last eight.
  package var high: UInt64
  package var low: UInt64

  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  package init(_ number: UInt128) {
    self.init(high: UInt64(truncatingIfNeeded: number >> 64), low: UInt64(truncatingIfNeeded: number))
  }

  package static let zero = Block(high: 0, low: 0)

  /// Creates a block from 16 octets, most significant first. Returns nil for any other number of octets.
  package init?(_ bytes: some Collection<UInt8>) {
    guard bytes.count == 16 else { return nil }
    var (high, low) = (UInt64(0), UInt64(0))
    for (index, byte) in bytes.enumerated() {
      if index < 8 { high = high << 8 | UInt64(byte) } else { low = low << 8 | UInt64(byte) }
    }
    self.init(high: high, low: low)
  }

  /// The 16 octets, most significant first.
  package var bytes: [UInt8] { high.bigEndianBytes + low.bigEndianBytes }

  /// Calls `body` with the 16 octets, most significant first.
  func withOctets<Result>(_ body: (UnsafeRawPointer) -> Result) -> Result {
    withUnsafePointer(to: (high.bigEndian, low.bigEndian)) { body($0) }
  }

  /// Returns the block after `change` has changed its 16 octets.
  func changed(_ change: (UnsafeMutableRawPointer) -> Void) -> Block {
    var words = (high.bigEndian, low.bigEndian)
    withUnsafeMutablePointer(to: &words) { change($0) }
    return Block(high: UInt64(bigEndian: words.0), low: UInt64(bigEndian: words.1))
  }

  static func ^ (left: Block, right: Block) -> Block { Block(high: left.high ^ right.high, low: left.low ^ right.low) }
}

extension Block: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  package var description: String { "128 bits" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: []) }
}

extension FixedWidthInteger {
  /// The octets of the integer, most significant first.
  var bigEndianBytes: [UInt8] {
    (0..<Self.bitWidth / 8).reversed().map { UInt8(truncatingIfNeeded: self >> (8 * $0)) }
  }
}
