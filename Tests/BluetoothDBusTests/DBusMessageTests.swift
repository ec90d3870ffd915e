import Testing

@testable import BluetoothDBus

@Suite("Messages of D-Bus", .enabled(if: DBusMessageBody.isAvailable, "this machine has no libdbus-1"))
struct DBusMessageTests {
  /// A signal with the octets 1, 2 and 3 · D-Bus Specification, "Message Format".
  private let signal: [UInt8] = [
    // Little-endian, a signal, no flags, version 1; a body of 7 octets; serial 1; 56 octets of fields.
    0x6C, 4, 0, 1, 7, 0, 0, 0, 1, 0, 0, 0, 56, 0, 0, 0,
    // PATH, an object path of two octets; up to a multiple of eight.
    1, 1, 0x6F, 0, 2, 0, 0, 0, 0x2F, 0x61, 0, 0, 0, 0, 0, 0,
    // INTERFACE, a text of three octets.
    2, 1, 0x73, 0, 3, 0, 0, 0, 0x61, 0x2E, 0x62, 0, 0, 0, 0, 0,
    // MEMBER, a text of one octet.
    3, 1, 0x73, 0, 1, 0, 0, 0, 0x43, 0, 0, 0, 0, 0, 0, 0,
    // SIGNATURE: an array of octets.
    8, 1, 0x67, 0, 2, 0x61, 0x79, 0,
    // The body.
    3, 0, 0, 0, 1, 2, 3,
  ]

  @Test("The octets of a message give its body")
  func octets() throws {
    #expect(DBusMessageBody.read(signal) == [.bytes([1, 2, 3])])
    #expect(try DBusMessageBody.rewrite([.bytes([1, 2, 3])]) == [.bytes([1, 2, 3])])
  }

  @Test("A dictionary is sent in the order of its keys")
  func order() {
    let names = (0..<40).map { "org.bluez.Name\($0)" }
    let texts = Dictionary(uniqueKeysWithValues: names.map { (DBusValue.string($0), DBusValue.byte(1)) })
    #expect(DBusValue.inOrder(texts).map(\.key) == names.sorted().map { .string($0) })
    let paths: [DBusValue: DBusValue] = [.path("/a/b"): .byte(1), .path("/"): .byte(2), .path("/a"): .byte(3)]
    #expect(DBusValue.inOrder(paths).map(\.value) == [.byte(2), .byte(3), .byte(1)])
    let numbers = Dictionary(uniqueKeysWithValues: (0..<40).map { (DBusValue.uint16($0), DBusValue.byte(1)) })
    #expect(DBusValue.inOrder(numbers).map(\.key) == (0..<40).map { .uint16($0) })
  }

  @Test("Octets that are no message are refused, and a message with one wrong octet is refused or is another one")
  func malformed() {
    #expect(DBusMessageBody.read([]) == nil)
    #expect(DBusMessageBody.read(Array(repeating: 0x42, count: 64)) == nil)
    for count in 0..<signal.count { #expect(DBusMessageBody.read(Array(signal.prefix(count))) == nil) }
    for index in signal.indices {
      for bit in 0..<8 {
        var octets = signal
        octets[index] ^= 1 << bit
        if let body = DBusMessageBody.read(octets) {
          #expect(index >= signal.count - 3 || body == [.bytes([1, 2, 3])])
        }
      }
    }
  }
}
