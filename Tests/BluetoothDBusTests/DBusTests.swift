import Testing

@testable import BluetoothDBus

#if canImport(Glibc)
  import Glibc
#endif

@Suite("Messages and addresses of D-Bus")
struct DBusTests {
  /// A call of `Notify`, as the server sends it.
  private var call: DBusMessage {
    var call = DBusMessage(
      calling: "Notify", of: "org.freedesktop.Notifications", at: "/org/freedesktop/Notifications", on: ":1.5",
      [
        .string("Bluetooth"), .uint32(7), .string(""), .strings(["allow", "Allow", "deny", "Don\u{2019}t allow"]),
        .int32(-1), .byte(2),
      ])
    call.serial = 3
    return call
  }

  @Test("A message is read as it was written, and its length is known from its beginning")
  func coding() throws {
    let octets = call.octets
    #expect(try DBusMessage(octets[...]) == call)
    #expect(try DBusMessage.length((octets + [0x6C])[...]) == octets.count)
    for count in 0..<octets.count { #expect(try DBusMessage.length(octets[..<count]) == nil) }
  }

  @Test("A call of Hello has these octets · D-Bus Specification, Message Format")
  func octets() {
    var call = DBusMessage(.call)
    call.serial = 1
    call.path = "/o"
    call.member = "Hello"
    #expect(
      call.octets == [
        // Little-endian, a method call, no flags, version 1; no body; serial 1; 30 octets of fields.
        0x6C, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 30, 0, 0, 0,
        // PATH, an object path of two octets; up to a multiple of eight.
        1, 1, 0x6F, 0, 2, 0, 0, 0, 0x2F, 0x6F, 0, 0, 0, 0, 0, 0,
        // MEMBER, a text of five octets; up to a multiple of eight.
        3, 1, 0x73, 0, 5, 0, 0, 0, 0x48, 0x65, 0x6C, 0x6C, 0x6F, 0, 0, 0,
      ])
  }

  @Test("A dictionary of variants has its elements at multiples of eight octets")
  func options() {
    var writer = DBusWriter()
    writer.append(.options(["a": .byte(2)]))
    #expect(writer.octets == [10, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0x61, 0, 1, 0x79, 0, 2])
  }

  @Test("Octets that are no message, and messages that claim an impossible length, are refused")
  func malformed() throws {
    #expect(throws: DBusError.malformed) { _ = try DBusMessage.length(Array(repeating: 0x42, count: 16)[...]) }
    var octets = call.octets
    octets.replaceSubrange(4..<8, with: [0xFF, 0xFF, 0xFF, 0x7F])
    #expect(throws: DBusError.malformed) { _ = try DBusMessage.length(octets[...]) }
    // A message with one wrong octet is refused or is another message. Only flags, padding and the ends of texts, which
    // are zero, have no value.
    var unnoticed: [Int] = []
    for index in 0..<call.octets.count {
      var octets = call.octets
      octets[index] ^= 0xFF
      do { if try DBusMessage(octets[...]) == call { unnoticed.append(index) } } catch {
        #expect(error == DBusError.malformed)
      }
    }
    #expect(unnoticed.allSatisfy { call.octets[$0] == 0 }, "\(unnoticed)")
  }

  @Test(
    "The address of a bus",
    arguments: [
      ("unix:path=/run/user/1000/bus", MessageBus.Place.path("/run/user/1000/bus")),
      ("unix:abstract=/tmp/dbus-a,guid=5", .abstract("/tmp/dbus-a")),
      ("tcp:host=a,port=1;unix:guid=1,path=/tmp/a%20b", .path("/tmp/a b")),
    ])
  func address(_ text: String, _ place: MessageBus.Place) {
    #expect(MessageBus(address: text)?.place == place)
  }

  @Test("An address without a Unix socket is none")
  func noAddress() {
    for text in ["", "unix:", "tcp:host=a,port=1", "unix:path=%zz"] { #expect(MessageBus(address: text) == nil) }
  }

  #if canImport(Glibc)
    @Test("The connection to a bus without a file ends with its program: the programs that it starts do not inherit it")
    func abstract() throws {
      let name = "corebluetooth-test-\(getpid())"
      let listener = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
      defer { close(listener) }
      #expect(MessageBus.connect(abstract: name) == nil)
      var place = sockaddr_un()
      place.sun_family = sa_family_t(AF_UNIX)
      let path: [UInt8] = [0] + Array(name.utf8)
      withUnsafeMutableBytes(of: &place.sun_path) { $0.copyBytes(from: path) }
      let length = socklen_t(MemoryLayout<sa_family_t>.size + path.count)
      let result = withUnsafePointer(to: &place) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(listener, $0, length) }
      }
      try #require(result == 0)
      try #require(listen(listener, 1) == 0)
      let descriptor = try #require(MessageBus.connect(abstract: name))
      defer { close(descriptor) }
      let flags = fcntl(descriptor, F_GETFD)
      #expect(flags & FD_CLOEXEC != 0)
      #expect(MessageBus.connect(abstract: String(repeating: "a", count: 200)) == nil)
    }
  #endif
}
