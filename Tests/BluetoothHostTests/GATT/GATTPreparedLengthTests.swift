import BluetoothWire
import Testing

@testable import BluetoothHost

/// The lengths of values that result from prepared writes · Vol 3, Part F, 3.4.6.
@Suite("Lengths of prepared values")
struct GATTPreparedLengthTests {
  /// Returns a server with a writable value at handle 22; nil: the upper layer holds the value.
  private static func server(_ value: ByteSlice?, _ lengths: ClosedRange<Int>) -> BearerHarness {
    BearerHarness(
      .peripheral,
      .with(
        GATTCharacteristicDefinition(
          uuid: 0x2A39, properties: [.read, .write], permissions: [.readable, .writeable], value: value,
          lengths: lengths)))
  }

  /// Prepares these parts and executes the write.
  private static func write(_ parts: [String], _ server: inout BearerHarness) -> [ByteSlice] {
    for part in parts { #expect(server.send(hex("16 1600") + hex(part)) == [hex("17 1600") + hex(part)]) }
    return server.send("1801")
  }

  @Test("Prepared parts that give a value shorter than its minimum are refused, as in a single request")
  func minimum() {
    var dynamic = Self.server(nil, 4...20)
    #expect(dynamic.send("12 1600 010203") == [hex("01 12 1600 0d")])
    #expect(Self.write(["0000 0102", "0200 03"], &dynamic) == [hex("01 18 1600 0d")])
    #expect(dynamic.lastRequest == nil)
    #expect(Self.write(["0000 0102", "0200 0304"], &dynamic) == [])
    #expect(dynamic.lastRequest.map { dynamic.respond($0) } == [hex("19")])
    // Only the upper layer knows the length of the rest.
    #expect(Self.write(["0200 03"], &dynamic) == [])
    #expect(dynamic.lastRequest.map { dynamic.respond($0) } == [hex("19")])
    var stored = Self.server(pattern(10), 4...20)
    #expect(Self.write(["0000 0102"], &stored) == [hex("01 18 1600 0d")])
    #expect(stored.send("0a 1600") == [hex("0b") + pattern(10)])
  }

  @Test("A whole value in prepared parts replaces a longer one, and other parts change the existing value")
  func truncation() {
    var server = Self.server(pattern(10), 0...20)
    #expect(Self.write(["0100 00"], &server) == [hex("19")])
    #expect(server.send("0a 1600") == [hex("0b 01 00") + pattern(10).dropFirst(2)])
    #expect(Self.write(["0000 0102", "0200 03"], &server) == [hex("19")])
    #expect(server.send("0a 1600") == [hex("0b 010203")])
    #expect(Self.write(["0100 09"], &server) == [hex("19")])
    #expect(server.send("0a 1600") == [hex("0b 010903")])
    #expect(Self.write(["0000 07", "0000 08"], &server) == [hex("19")])
    #expect(server.send("0a 1600") == [hex("0b 080903")])
    #expect(Self.write(["0000 01020304", "0400"], &server) == [hex("19")])
    #expect(server.send("0a 1600") == [hex("0b 01020304")])
    #expect(Self.write(["0000"], &server) == [hex("19")])
    #expect(server.send("0a 1600") == [hex("0b")])
  }
}
