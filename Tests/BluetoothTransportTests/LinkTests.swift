import BluetoothWire
import Foundation
import Testing

@testable import BluetoothTransport

/// H4 links over the system's sockets.
@Suite(.timeLimit(.minutes(10)))
struct LinkTests {
  static let loopback = TransportSpecifier.tcp(host: "127.0.0.1", port: 0)

  @Test("Packets with any contents pass both ways over TCP, in order")
  func bothWays() async throws {
    var listener = try await TransportListener(Self.loopback)
    var link = try await TransportLink.connect(to: listener.specifier)
    var other = try await listener.next()
    let packets = [Sample.reset, Sample.data, Sample.empty, Sample.reset]
    try await link.send(packets)
    var heard: [LinkEnd.Note] = []
    for _ in 0...packets.count { heard.append(try #require(await other.next())) }
    #expect(heard == [.opened] + packets.map { .packet($0) })
    try await link.close()
    #expect(await link.next() == .closed(reason: nil, cut: 0))
    #expect(await other.next() == .closed(reason: nil, cut: 0))
    try await listener.close()
  }

  @Test("A listener and a host accept a host name in place of an address")
  func names() async throws {
    var listener = try await TransportListener(.tcp(host: "localhost", port: 0))
    let link = try await TransportLink.connect(to: listener.specifier)
    var other = try await listener.next()
    #expect(await other.next() == .opened)
    try await link.close()
    try await listener.close()
  }

  @Test("H1 A session that ends at any octet reports the whole packets and the number of octets left over")
  func everyCut() async throws {
    var listener = try await TransportListener(Self.loopback)
    let packets = [Sample.reset, Sample.data, Sample.empty, Sample.reset]
    let octets = Sample.octets(packets)
    var ends = [0]
    for packet in packets { ends.append(ends[ends.count - 1] + packet.encodedCount) }
    for count in 0...octets.count {
      let link = try await TransportLink.connect(to: listener.specifier)
      var other = try await listener.next()
      try await link.send(octets: Array(octets.prefix(count)))
      try await link.close()
      var heard: [LinkEnd.Note] = []
      while let note = await other.next() {
        heard.append(note)
        if case .closed = note { break }
      }
      let whole = ends.count { $0 <= count } - 1
      let ending = LinkEnd.Note.closed(reason: nil, cut: count - ends[whole])
      #expect(
        heard == [.opened] + packets.prefix(whole).map { .packet($0) } + [ending], "cut after \(count) octets")
    }
    try await listener.close()
  }

  @Test(
    "H1 Octets that are no packet are reported once, and packets resume with the next Reset",
    arguments: [
      [0xFF], [0x00, 0x00, 0x00], [0x04, 0x0E, 0x01, 0x00],
      // Longer than any packet.
      [0x02, 0x41, 0x00, 0xFF, 0xFF], [0x02, 0x41, 0x00, 0x01, 0x10, 0x01, 0x03],
    ] as [[UInt8]])
  func garbage(octets: [UInt8]) async throws {
    var listener = try await TransportListener(Self.loopback)
    let link = try await TransportLink.connect(to: listener.specifier)
    var other = try await listener.next()
    try await link.send([Sample.data])
    try await link.send(octets: octets)
    try await link.send([Sample.data, Sample.reset, Sample.data])
    #expect(await other.next() == .opened)
    #expect(await other.next() == .packet(Sample.data))
    #expect(await other.next() == .synchronizationLost)
    #expect(await other.next() == .packet(Sample.reset))
    #expect(await other.next() == .packet(Sample.data))
    try await link.close()
    try await listener.close()
  }

  @Test("Closing a link on garbage closes it for the other side too, and leaves other links open")
  func closingAtGarbage() async throws {
    var listener = try await TransportListener(Self.loopback, keepsOpen: false)
    var bad = try await TransportLink.connect(to: listener.specifier)
    _ = try await listener.next()
    let good = try await TransportLink.connect(to: listener.specifier)
    var other = try await listener.next()
    try await bad.send(octets: [0x77])
    guard case .closed? = await bad.rest().last else {
      Issue.record("the link with garbage is still there")
      return
    }
    try await good.send([Sample.reset])
    #expect(await other.next() == .opened)
    #expect(await other.next() == .packet(Sample.reset))
    try await good.close()
    try await listener.close()
  }

  @Test("Ten thousand packets that are sent at once arrive in order")
  func flood() async throws {
    var listener = try await TransportListener(Self.loopback)
    let link = try await TransportLink.connect(to: listener.specifier)
    var other = try await listener.next()
    #expect(await other.next() == .opened)
    let packets = (0..<10_000).map { number in
      HCI.Packet.acl(
        HCI.ACLData(
          handle: HCI.ConnectionHandle(rawValue: 1), boundary: .firstFlushable,
          payload: ByteSlice([UInt8(number & 0xFF), UInt8(number >> 8)] + [UInt8](repeating: 0, count: number % 251))))
    }
    try await link.send(packets)
    var wrong = 0
    for packet in packets where await other.next() != .packet(packet) { wrong += 1 }
    #expect(wrong == 0)
    try await link.close()
    try await listener.close()
  }

  @Test("A refused connection is a passing failure, and an unknown host name a lasting one")
  func refusals() async throws {
    // A port that no other program gets meanwhile: it is bound, and nothing listens on it.
    let bound = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { _ = close(bound) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = in_addr_t(UInt32(0x7F00_0001).bigEndian)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    try withUnsafeMutableBytes(of: &address) { octets in
      let pointer = try #require(octets.assumingMemoryBound(to: sockaddr.self).baseAddress)
      try #require(bind(bound, pointer, length) == 0 && getsockname(bound, pointer, &length) == 0)
    }
    let specifier = TransportSpecifier.tcp(host: "127.0.0.1", port: Int(UInt16(bigEndian: address.sin_port)))
    await #expect(
      throws: TransportError("connection refused: no program is listening on this port", isLasting: false)
    ) {
      _ = try await TransportLink.connect(to: specifier)
    }
    // Longer than a label of a name may be, so no name server is asked.
    let name = String(repeating: "a", count: 70)
    await #expect(throws: TransportError("unknown host \"\(name)\"")) {
      _ = try await TransportLink.connect(to: .tcp(host: name, port: 1))
    }
    await #expect(throws: TransportError("no program is listening on this socket", isLasting: false)) {
      _ = try await TransportLink.connect(to: .unix(path: "/tmp/nobody-\(UInt64.random(in: 0 ... .max))"))
    }
  }

  @Test("Listening fails at a port that is taken and at a transport without listeners")
  func refusedListeners() async throws {
    let listener = try await TransportListener(Self.loopback)
    await #expect(throws: TransportError.self) { _ = try await TransportListener(listener.specifier) }
    await #expect(throws: TransportError("can't listen on this transport: expected tcp or unix")) {
      _ = try await TransportListener(.hci(0))
    }
    try await listener.close()
  }
}
