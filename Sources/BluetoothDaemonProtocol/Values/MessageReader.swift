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

  package mutating func timeSpan() throws(DecodingError) -> TimeSpan { TimeSpan(nanoseconds: try int64()) }

  /// Reads a value of an enumeration.
  package mutating func value<Value: RawRepresentable>(
    _ type: Value.Type = Value.self
  ) throws(DecodingError) -> Value where Value.RawValue == UInt8 {
    guard let value = Value(rawValue: try reader.uint8()) else { throw .invalid(field: "enumeration") }
    return value
  }

  /// Reads whether there is a value, and the value.
  package mutating func optional<Value>(
    _ body: (inout MessageReader) throws(DecodingError) -> Value
  ) throws(DecodingError) -> Value? {
    try bool() ? try body(&self) : nil
  }

  /// Reads the number of values, and each value, which has at least one octet.
  package mutating func list<Value>(
    _ body: (inout MessageReader) throws(DecodingError) -> Value
  ) throws(DecodingError) -> [Value] {
    let count = Int(try reader.uint32())
    guard count <= reader.remaining else { throw .truncated }
    var values: [Value] = []
    for _ in 0..<count { values.append(try body(&self)) }
    return values
  }

  /// The same for the values of a command, whose number is limited.
  package mutating func filter<Value>(
    _ body: (inout MessageReader) throws(DecodingError) -> Value
  ) throws(DecodingError) -> [Value] {
    let values = try list(body)
    guard values.count <= DaemonProtocol.maximumFilterCount else { throw .invalid(field: "number") }
    return values
  }

  /// Reads a value or an error.
  package mutating func result<Value>(
    _ body: (inout MessageReader) throws(DecodingError) -> Value
  ) throws(DecodingError) -> Result<Value, SessionError> {
    try bool() ? .success(try body(&self)) : .failure(try sessionError())
  }
}
