import BluetoothHost
import BluetoothTransport
import BluetoothWire
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import Requirements
import TestSupport
import Testing

@testable import BluetoothAdapters
@testable import BluetoothDaemon

/// Apps whose controller is at the other end of a socket.
@Suite(.timeLimit(.minutes(10)))
struct TransportAdapterTests {
  let group = MultiThreadedEventLoopGroup.singleton
  let state = RemoteController.SharedState()

  func listen(_ specifier: TransportSpecifier = .tcp(host: "127.0.0.1", port: 0)) async throws -> H4Listener {
    let state = state
    return try await H4Listener.bind(specifier, on: group) { state.makeLink() }.get()
  }

  func app(_ specifier: TransportSpecifier) -> DistantApp {
    DistantApp(
      TransportAdapter(
        DaemonConfiguration(name: "\(specifier)", host: HostConfiguration(deviceName: "Distant")), to: specifier,
        on: group.next()))
  }

  func closeAll(_ link: NIOLoopBound<H4Handler>) async throws {
    try await link.eventLoop.submit { link.value.close() }.get()
  }

  @Test("A host over TCP starts with Reset, and its apps see poweredOn")
  func start() async throws {
    let listener = try await listen()
    var app = app(listener.specifier)
    #expect(await app.nextState() == .poweredOn)
    #expect(state.opcodes.withLockedValue { $0.first } == .reset)
    try await listener.close().get()
  }

  @Test(
    "When the controller disconnects, apps see resetting, and poweredOn after its return and a new Reset",
    .requirement("G007"))
  func reconnecting() async throws {
    let listener = try await listen()
    var links = state.opened.makeAsyncIterator()
    var app = app(listener.specifier)
    #expect(await app.nextState() == .poweredOn)
    for _ in 0..<3 {
      state.opcodes.withLockedValue { $0.removeAll() }
      let link = try #require(await links.next())
      try await closeAll(link)
      #expect(await app.nextState() == .resetting)
      #expect(await app.nextState() == .poweredOn)
      #expect(state.opcodes.withLockedValue { $0.first } == .reset)
    }
    try await listener.close().get()
  }

  @Test("The host waits for a controller that is not reachable yet, and apps see resetting meanwhile")
  func lateController() async throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    // Another test can't take the socket meanwhile, as it could take a port.
    let specifier = TransportSpecifier.unix(path: folder.file("controller.sock"))
    var app = app(specifier)
    #expect(await app.nextState() == .resetting)
    let late = try await listen(specifier)
    #expect(await app.nextState() == .poweredOn)
    try await late.close().get()
  }

  /// Returns the two ends of a pseudo terminal: a descriptor, and the name of the device that acts as the serial line.
  private func pseudoTerminal() throws -> (descriptor: CInt, device: String) {
    let descriptor = open("/dev/ptmx", O_RDWR | O_NOCTTY)
    try #require(descriptor >= 0)
    // The C library's functions for this are not visible to Swift: TIOCSPTLCK and TIOCGPTN.
    var isLocked: CInt = 0
    var number: CUnsignedInt = 0
    try #require(ioctl(descriptor, 0x4004_5431, &isLocked) == 0 && ioctl(descriptor, 0x8004_5430, &number) == 0)
    return (descriptor, "/dev/pts/\(number)")
  }

  @Test(
    "A host finds its controller on a serial line with H4, and on a three-wire UART", .requirement("L075"),
    arguments: [true, false])
  func serialLine(isThreeWire: Bool) async throws {
    let (descriptor, device) = try pseudoTerminal()
    let (state, loop) = (state, group.next())
    let framing = isThreeWire ? SerialFraming.h5(hasEvenParity: true) : .h4
    let attached = loop.flatSubmit {
      Transport.adopt(descriptor, framing, with: state.makeLink(isThreeWire ? .packets : .stream), on: loop)
    }
    var app = app(.serial(device: device, baud: 115_200, framing))
    #expect(await app.nextState() == .poweredOn)
    try await attached.get()
    #expect(state.opcodes.withLockedValue { $0.first } == .reset)
    var links = state.opened.makeAsyncIterator()
    try await closeAll(try #require(await links.next()))
    // The line is unplugged, and its device is gone.
    #expect(await app.nextState() == .resetting)
    #expect(await app.nextState() == .unsupported)
  }

  /// An observer that streams the packets.
  private final class PacketStream: HCIObserver {
    let packets: AsyncStream<(octets: [UInt8], isFromHost: Bool)>
    private let continuation: AsyncStream<(octets: [UInt8], isFromHost: Bool)>.Continuation

    init() { (packets, continuation) = AsyncStream.makeStream() }

    func packet(_ packet: HCI.Packet, isFromHost: Bool) {
      continuation.yield((Array(packet.h4(in: PacketPool()).bytes), isFromHost))
    }
  }

  @Test("An observer sees the packets to and from a controller, beginning with Reset, until it is removed")
  func observer() async throws {
    let listener = try await listen()
    let observer = PacketStream()
    let (loop, specifier) = (group.next(), listener.specifier)
    // On its loop, the adapter can't send before it has its observer.
    let adapter = try await loop.submit {
      let adapter = TransportAdapter(
        DaemonConfiguration(name: "observed", host: HostConfiguration(deviceName: "Observed")), to: specifier, on: loop)
      adapter.setHCIObserver(observer)
      return adapter
    }.get()
    var app = DistantApp(adapter)
    #expect(await app.nextState() == .poweredOn)
    var packets = observer.packets.makeAsyncIterator()
    let first = await packets.next()
    var second = await packets.next()
    // The host repeats a command that has no answer within 2 s.
    while let packet = second, packet.isFromHost, packet.octets == first?.octets { second = await packets.next() }
    #expect(first?.octets == [0x01, 0x03, 0x0C, 0x00] && first?.isFromHost == true)
    #expect(second?.octets == [0x04, 0x0E, 0x04, 0x01, 0x03, 0x0C, 0x00] && second?.isFromHost == false)
    adapter.setHCIObserver(nil)
    try await listener.close().get()
  }

  @Test("A missing serial line is unsupported, since it needs the user's intervention")
  func missingLine() async throws {
    var app = app(.serial(device: "/nowhere/tty", baud: 115_200))
    #expect(await app.nextState() == .unsupported)
  }

  @Test("A controller that disconnects during the start-up is reconnected to")
  func lossWhileStarting() async throws {
    state.closesAtNextCommand.withLockedValue { $0 = true }
    let listener = try await listen()
    var app = app(listener.specifier)
    #expect(await app.nextState() == .resetting)
    #expect(await app.nextState() == .poweredOn)
    try await listener.close().get()
  }

  @Test(
    "A controller that no reset helps is reconnected to until it works: apps see resetting, then poweredOn, and one line tells of it"
  )
  func reopening() async throws {
    let log = LogRecorder()
    state.failingConnections.withLockedValue { $0 = 3 }
    let listener = try await listen()
    var links = state.opened.makeAsyncIterator()
    let (specifier, loop) = (listener.specifier, group.next())
    let configuration = DaemonConfiguration(name: "\(specifier)", host: HostConfiguration(deviceName: "Distant"))
    var app = DistantApp(TransportAdapter(configuration, to: specifier, on: loop))
    #expect(await app.nextState() == .resetting)
    #expect(await app.nextState() == .poweredOn)
    for _ in 0..<4 { _ = await links.next() }
    // The adapter writes its log after it has delivered the state.
    try await loop.submit {}.get()
    let name = "\(specifier): "
    #expect(log.lines(containing: name + "the controller does not work").count == 1)
    #expect(log.lines(containing: name + "Resetting the controller").count == 1)
    #expect(log.lines(containing: name + "connected again").count == 1)
    try await listener.close().get()
  }

  @Test("A loss of synchronization resets the controller: apps see resetting, and poweredOn on the same link")
  func garbage() async throws {
    let listener = try await listen()
    var links = state.opened.makeAsyncIterator()
    var app = app(listener.specifier)
    #expect(await app.nextState() == .poweredOn)
    let link = try #require(await links.next())
    state.opcodes.withLockedValue { $0.removeAll() }
    try await link.eventLoop.submit {
      link.value.send(octets: [0xFF, 0x17, 0x04])
      link.value.flush()
    }.get()
    #expect(await app.nextState() == .resetting)
    #expect(await app.nextState() == .poweredOn)
    #expect(state.opcodes.withLockedValue { $0.first } == .reset)
    try await listener.close().get()
  }

  @Test(
    "A user's decision about an app is stored for other runs; a rule's decision is not",
    arguments: [(AutomaticPrompts.Policy.refuse, AdapterState.unauthorized), (.accept, .poweredOn)], [true, false])
  func permission(policy: (AutomaticPrompts.Policy, AdapterState), isUser: Bool) async throws {
    let listener = try await listen()
    var configuration = DaemonConfiguration(name: "asked", host: HostConfiguration(deviceName: "Asked"))
    configuration.prompts = AutomaticPrompts(policy.0, isUser: isUser)
    configuration.app = "app"
    var app = DistantApp(TransportAdapter(configuration, to: listener.specifier, on: group.next()))
    #expect(await app.nextState() == policy.1)
    #expect(app.adapter.directory.access == (policy.1 == .poweredOn ? .allowed : .denied))
    #expect(try configuration.bonds.access(of: "app") == (isUser ? policy.1 == .poweredOn : nil))
    try await listener.close().get()
  }

  @Test("An adapter without users closes its link")
  func release() async throws {
    let listener = try await listen()
    var endings = state.closed.makeAsyncIterator()
    do {
      var app = app(listener.specifier)
      #expect(await app.nextState() == .poweredOn)
    }
    #expect(await endings.next() == 0)
    try await listener.close().get()
  }

  @Test("The pauses between attempts double from a tenth of a second up to ten seconds")
  func backOff() {
    var backOff = ReconnectBackoff()
    let pauses = (0..<9).map { _ in backOff.next().nanoseconds / 1_000_000 }
    #expect(pauses == [100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000])
    backOff.reset()
    #expect(backOff.next() == .milliseconds(100))
  }
}
