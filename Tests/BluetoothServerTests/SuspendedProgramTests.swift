import BluetoothDaemonProtocol
import BluetoothWire
import Testing

@testable import BluetoothDaemon
@testable import BluetoothServer

/// The channels of programs that a server has suspended.
@Suite("Suspended programs of a server", .timeLimit(.minutes(10)))
struct SuspendedProgramTests {
  @Test("The octets of a suspended program's channel wait on the server, and come when its user returns to it")
  func suspendedChannel() async throws {
    let bench = try AppBench(.open)
    let lamp = RemotePeripheral(bench.adapter("lamp", of: "lamp"))
    let lampSession = lamp.adapter.openPeripheralSession(for: lamp)
    try await lamp.poweredOn()
    lampSession.send(.publishChannel(isEncrypted: false))
    let psm = try await lamp.first(\.publishedPSM)
    let service = BluetoothUUID(0xFF20)
    lampSession.send(.startAdvertising(localName: nil, services: [service]))
    let torch = bench.start("torch")
    try await torch.central.state(.poweredOn)
    let peer = try await torch.central.find(service, by: torch.session).handle
    torch.session.send(.connect(peer, delay: .zero, reconnects: false))
    #expect(try await torch.central.first(\.connected) == peer)
    torch.session.send(.openChannel(peer, psm: psm))
    let info = try await torch.central.first(\.channel).get()
    let near = ChannelEndpoint(try #require(torch.session.takeChannel(info)))
    let far = ChannelEndpoint(try #require(lampSession.takeChannel(try await lamp.first(\.channel))))
    try await bench.ask { try $0.perform(.controlApp("torch", .background)) }
    try await bench.ask { try $0.perform(.controlApp("torch", .suspend)) }
    try await bench.state(.suspended, of: "torch")
    // More than the peer's program and its server hold, so octets have reached the server of the suspended program.
    let octets = (0..<2 * ChannelPipe.capacity + DaemonProtocol.channelWindow + 1_000)
      .map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
    await far.write(octets)
    #expect(near.available == 0)
    try await bench.ask { try $0.perform(.controlApp("torch", .foreground)) }
    #expect(await near.read(octets.count) == octets)
  }
}
