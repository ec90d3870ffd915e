import BluetoothTransport
import BluetoothWire
import NIOCore
import NIOEmbedded
import Testing

/// Records the callbacks of a link.
final class Listener: H4Receiver {
  enum Note: Equatable {
    case packet(HCI.Packet)
    case synchronizationLost
    case all
    case closed(cut: Int)
  }
  var notes: [Note] = []

  func receive(_ packet: HCI.Packet, on link: H4Handler) { notes.append(.packet(packet)) }
  func synchronizationLost(on link: H4Handler) { notes.append(.synchronizationLost) }
  func receivedAll(on link: H4Handler) { notes.append(.all) }
  func closed(_ ending: H4Ending, on link: H4Handler) { notes.append(.closed(cut: ending.cut)) }

  var packets: [HCI.Packet] {
    notes.compactMap { if case .packet(let packet) = $0 { packet } else { nil } }
  }
}

@Suite struct H4HandlerTests {
  let listener = Listener()
  let pool = PacketPool()
  let reset = HCI.Packet.command(opcode: HCI.Opcode(rawValue: 0x0C03), parameters: ByteSlice())
  let data = HCI.Packet.acl(
    HCI.ACLData(
      handle: HCI.ConnectionHandle(rawValue: 0x0041), boundary: .firstFlushable, payload: ByteSlice([1, 2, 3])))
  let event = HCI.Packet.event(code: 0x10, parameters: ByteSlice([0x00]))

  func link(_ side: H4Decoder.Side, _ writing: H4Handler.Writing = .stream) throws -> (EmbeddedChannel, H4Handler) {
    let handler = H4Handler(for: side, pool: pool, writing: writing, receiver: listener)
    let channel = EmbeddedChannel(handler: handler)
    try channel.connect(to: SocketAddress(unixDomainSocketPath: "/nowhere")).wait()
    return (channel, handler)
  }

  @Test("All packets that were sent leave in one write, in order, each in H4 framing")
  func writing() throws {
    let (channel, handler) = try link(.host)
    for packet in [reset, data, event] { handler.send(packet) }
    #expect(try channel.readOutbound(as: ByteBuffer.self) == nil)
    handler.flush()
    let octets = try #require(try channel.readOutbound(as: ByteBuffer.self), "nothing was written")
    #expect(Array(octets.readableBytesView) == [1, 3, 0x0C, 0, 2, 0x41, 0x20, 3, 0, 1, 2, 3, 4, 0x10, 1, 0])
    handler.flush()
    #expect(try channel.readOutbound(as: ByteBuffer.self) == nil)
  }

  @Test("A link of packets puts one packet in each write")
  func writingPackets() throws {
    let (channel, handler) = try link(.host, .packets)
    handler.send(reset)
    handler.send(data)
    handler.flush()
    #expect(try channel.readOutbound(as: ByteBuffer.self)?.readableBytes == 4)
    #expect(try channel.readOutbound(as: ByteBuffer.self)?.readableBytes == 8)
    #expect(try channel.readOutbound(as: ByteBuffer.self) == nil)
  }

  @Test("Octets that were written stay unchanged when more is sent before they leave")
  func writtenOctetsStay() throws {
    let (channel, handler) = try link(.host)
    handler.send(reset)
    handler.flush()
    handler.send(data)
    handler.flush()
    #expect(try channel.readOutbound(as: ByteBuffer.self)?.readableBytesView.first == 1)
    #expect(try channel.readOutbound(as: ByteBuffer.self)?.readableBytesView.first == 2)
  }

  @Test("Packets that were split at any octet arrive whole", arguments: 0...12)
  func cutting(at position: Int) throws {
    let (channel, _) = try link(.controller)
    var octets = ByteBuffer()
    octets.writeHCIPacket(reset)
    octets.writeHCIPacket(data)
    let portion = octets.readSlice(length: min(position, octets.readableBytes))
    let first = try #require(portion)
    try channel.writeInbound(first)
    try channel.writeInbound(octets)
    #expect(listener.packets == [reset, data])
    #expect(listener.notes.last == .all)
  }

  @Test("Garbage is reported once, and packets resume with Reset")
  func garbage() throws {
    let (channel, _) = try link(.controller)
    try channel.writeInbound(
      ByteBuffer(bytes: [0xFF, 0x00, 0x02, 0x77, 0x01, 0x03, 0x0C, 0x00, 2, 0x41, 0x20, 3, 0, 1, 2, 3]))
    #expect(listener.notes == [.synchronizationLost, .packet(reset), .packet(data), .all])
  }

  @Test("The end of a link is reported once, with the number of cut octets, and nothing is sent after it")
  func closing() throws {
    let (channel, handler) = try link(.controller)
    try channel.writeInbound(ByteBuffer(bytes: [0x01, 0x03]))
    try channel.close().wait()
    #expect(listener.notes == [.all, .closed(cut: 2)])
    #expect(!handler.isOpen && !handler.isWritable)
    handler.send(reset)
    handler.flush()
    #expect(!handler.hasPending)
  }
}
