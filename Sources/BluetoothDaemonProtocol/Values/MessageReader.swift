import BluetoothDaemon
import BluetoothWire

/// Reads the fields of a message. Every access is checked: invalid octets throw an error and never trap.
package struct MessageReader {
  private var reader: ByteReader
  private let numbering: PeerNumbering

  package init(_ payload: ByteSlice, _ numbering: PeerNumbering) {
    reader = ByteReader(payload)
    self.numbering = numbering
  }

  /// Throws `excess` if octets are left.
  package func end() throws(DecodingError) { try reader.end() }

  package mutating func uint8() throws(DecodingError) -> UInt8 { try reader.uint8() }
  package mutating func int8() throws(DecodingError) -> Int8 { try reader.int8() }
  package mutating func uint16() throws(DecodingError) -> UInt16 { try reader.uint16() }
  package mutating func uint32() throws(DecodingError) -> UInt32 { try reader.uint32() }
  package mutating func uint64() throws(DecodingError) -> UInt64 { try reader.uint64() }
  package mutating func int64() throws(DecodingError) -> Int64 { Int64(bitPattern: try reader.uint64()) }

  package mutating func bool() throws(DecodingError) -> Bool {
    switch try reader.uint8() {
    case 0: return false
    case 1: return true
    default: throw .invalid(field: "truth value")
    }
  }

  /// Reads a number that is at most `maximum`.
  package mutating func count(atMost maximum: Int) throws(DecodingError) -> Int {
    let count = Int(try reader.uint32())
    guard count <= maximum else { throw .invalid(field: "number") }
    return count
  }

  /// Reads octets. The result shares the memory of the frame.
  package mutating func slice(atMost maximum: Int = DaemonProtocol.maximumFrameLength) throws(DecodingError)
    -> ByteSlice
  {
    try reader.take(try count(atMost: maximum))
  }

  package mutating func text() throws(DecodingError) -> String {
    let count = Int(try reader.uint16())
    guard count <= DaemonProtocol.maximumTextLength else { throw .invalid(field: "length of a text") }
    let octets = try reader.take(count)
    guard let text = octets.withUnsafeBytes({ String(validating: $0, as: UTF8.self) }) else {
      throw .invalid(field: "text")
    }
    return text
  }

  package mutating func peer() throws(DecodingError) -> PeerHandle {
    guard let peer = numbering.peer(try reader.uint32()) else { throw .invalid(field: "peer") }
    return peer
  }

  package mutating func identifier() throws(DecodingError) -> PeerIdentifier {
    let high = try uint64()
    return numbering.incoming(PeerIdentifier(high: high, low: try uint64()))
  }

  /// Reads the number of elements of a list. Each has at least one octet.
  mutating func listCount() throws(DecodingError) -> Int {
    let count = Int(try reader.uint32())
    guard count <= reader.remaining else { throw .truncated }
    return count
  }
}
