import BluetoothWire
import NIOCore
import NIOEmbedded
import Testing

@testable import BluetoothTransport

/// A host's handlers in virtual time, with a controller's end of the line.
private final class ThreeWireStage {
  let listener = Listener()
  let link: H4Handler
  let channel = EmbeddedChannel()
  let established: EventLoopFuture<Void>
  var controller = ThreeWireLink(for: .controller)
  private(set) var received: [[UInt8]] = []

  init() throws {
    link = H4Handler(for: .host, pool: PacketPool(), writing: .packets, receiver: listener)
    let promise = channel.embeddedEventLoop.makePromise(of: Void.self)
    established = promise.futureResult
    try channel.connect(to: SocketAddress(unixDomainSocketPath: "/nowhere")).wait()
    let handler = H5Handler(for: link, octetTime: .zero, established: promise)
    try channel.pipeline.syncOperations.addHandler(handler)
  }

  /// Carries octets in both directions until none are left.
  func exchange() throws {
    while true {
      let octets = controller.takeOctets()
      var isQuiet = octets.isEmpty
      if !isQuiet { try channel.writeInbound(ByteBuffer(bytes: octets)) }
      while let buffer = try channel.readOutbound(as: ByteBuffer.self) {
        controller.receive(buffer.readableBytesView, at: .zero)
        isQuiet = false
      }
      while let event = controller.takeEvent() {
        if case .packet(let kind, let payload) = event { received.append([kind.rawValue] + payload) }
      }
      if isQuiet { return }
    }
  }

  func establish() throws {
    controller.start(at: .zero)
    try exchange()
    try established.wait()
  }
}

@Suite("Three-wire UART handler") struct H5HandlerTests {
  private let reset = HCI.Packet.command(opcode: HCI.Opcode(rawValue: 0x0C03), parameters: ByteSlice())
  private let event = HCI.Packet.event(code: 0x10, parameters: ByteSlice([0x00]))

  @Test("A link opens when it is established, and then carries packets both ways, more than its window has room for")
  func packets() throws {
    let stage = try ThreeWireStage()
    #expect(!stage.link.isOpen)
    try stage.establish()
    #expect(stage.link.isOpen)
    for _ in 0..<20 { stage.link.send(reset) }
    stage.link.flush()
    for _ in 0..<20 { stage.controller.send(.event, [0x10, 0x01, 0x00], at: .zero) }
    try stage.exchange()
    #expect(stage.received == Array(repeating: [0x01, 0x03, 0x0C, 0x00], count: 20))
    #expect(stage.listener.packets == Array(repeating: event, count: 20))
  }

  @Test("A lost packet is sent again by the timer")
  func timer() throws {
    let stage = try ThreeWireStage()
    try stage.establish()
    stage.link.send(reset)
    stage.link.flush()
    while try stage.channel.readOutbound(as: ByteBuffer.self) != nil {}
    stage.channel.embeddedEventLoop.advanceTime(by: .milliseconds(250))
    try stage.exchange()
    #expect(stage.received == [[0x01, 0x03, 0x0C, 0x00]])
    stage.channel.embeddedEventLoop.advanceTime(by: .seconds(10))
    #expect(stage.link.isOpen, "the limit of link establishment has ended")
  }

  @Test("A controller that has been reset is reported, and Reset is the next packet that it gets")
  func peerReset() throws {
    let stage = try ThreeWireStage()
    try stage.establish()
    // These packets are lost with the state of the controller.
    for _ in 0..<9 { stage.link.send(event) }
    stage.link.flush()
    while try stage.channel.readOutbound(as: ByteBuffer.self) != nil {}
    stage.controller = ThreeWireLink(for: .controller)
    stage.controller.start(at: .zero)
    try stage.channel.writeInbound(ByteBuffer(bytes: stage.controller.takeOctets()))
    #expect(stage.listener.notes.contains(.synchronizationLost))
    stage.link.send(reset)
    stage.link.flush()
    try stage.exchange()
    #expect(stage.received == [[0x01, 0x03, 0x0C, 0x00]])
    stage.controller.send(.event, [0x10, 0x01, 0x00], at: .zero)
    try stage.exchange()
    #expect(stage.listener.packets.last == event)
  }

  @Test("A line without an answer is closed after 10 s with an error that lasts; a closed one fails at once")
  func failures() throws {
    let silent = try ThreeWireStage()
    silent.channel.embeddedEventLoop.advanceTime(by: .milliseconds(9_999))
    #expect(silent.channel.isActive)
    silent.channel.embeddedEventLoop.advanceTime(by: .milliseconds(1))
    #expect(!silent.channel.isActive)
    #expect { try silent.established.wait() } throws: { ($0 as? TransportError)?.isLasting == true }
    let closed = try ThreeWireStage()
    try closed.channel.close().wait()
    #expect { try closed.established.wait() } throws: { ($0 as? TransportError)?.isLasting == false }
    #expect(closed.listener.notes.isEmpty)
  }

  @Test("The end of an established link is reported once")
  func end() throws {
    let stage = try ThreeWireStage()
    try stage.establish()
    try stage.channel.close().wait()
    #expect(stage.listener.notes.last == .closed(cut: 0))
    #expect(!stage.link.isOpen)
  }
}
