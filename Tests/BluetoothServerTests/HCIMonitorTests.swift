import BluetoothDaemon
import BluetoothDaemonProtocol
import BluetoothTransport
import BluetoothWire
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import TestSupport
import Testing

@testable import BluetoothServer

/// Clients that monitor the HCI packets of an adapter.
@Suite("Monitors of a server", .timeLimit(.minutes(10)))
struct HCIMonitorTests {
  /// A monitor of an adapter, until it gets a report of advertising. It has a thread of its own, because it blocks.
  private final class Monitor: Sendable {
    private struct State {
      var name: String?
      var packets: [MonitoredPacket] = []
      var hasEnded = false
      var failure: (any Error)?
    }
    private let state = NIOLockedValueBox(State())

    init(_ bench: ServerBench, _ adapter: String) {
      let question = ServerQuestion(
        to: ServerSpecifier(.unix(path: bench.path), adapter: adapter), within: .hours(1))
      let state = state
      Thread.detachNewThread {
        do {
          try question.monitor { event in state.withLockedValue { Self.handle(event, &$0) } }
        } catch {
          state.withLockedValue { $0.failure = error }
        }
        state.withLockedValue { $0.hasEnded = true }
      }
    }

    private static func handle(_ event: ServerQuestion.MonitorEvent, _ state: inout State) -> Bool {
      switch event {
      case .started(let name): state.name = name
      case .tick: break
      case .packet(let packet):
        state.packets.append(packet)
        if case .event(0x3E, _)? = try? HCI.Packet(h4: packet.octets) { return false }
      }
      return true
    }

    /// Waits for the beginning, and returns the name of the adapter.
    func started() async -> String? {
      await wait { state.withLockedValue { $0.name != nil || $0.hasEnded } }
      return state.withLockedValue { $0.name }
    }

    /// Waits for the end, and returns the packets.
    func packets() async throws -> [MonitoredPacket] {
      await wait { state.withLockedValue { $0.hasEnded } }
      if let failure = state.withLockedValue({ $0.failure }) { throw failure }
      return state.withLockedValue { $0.packets }
    }
  }

  @Test("A client sees the commands and events of an adapter that a program uses, from then on")
  func packets() async throws {
    let bench = try ServerBench()
    let central = RemoteCentral(bench.adapter())
    let session = central.adapter.openCentralSession(for: central)
    try await central.state(.poweredOn)
    let (ofPhone, ofLamp) = (Monitor(bench, ""), Monitor(bench, "lamp"))
    #expect(await ofPhone.started() == "phone")
    #expect(await ofLamp.started() == "lamp")
    session.send(.scan(ScanRequest(services: nil, solicitedServices: [], allowsDuplicates: false)))
    let packets = try await ofPhone.packets()
    #expect(packets.allSatisfy { $0.missed == 0 && $0.time > 1_600_000_000_000_000_000 })
    #expect(zip(packets, packets.dropFirst()).allSatisfy { $0.time <= $1.time })
    let commands = packets.filter(\.isFromHost).map { $0.octets.bytes }
    #expect(!commands.isEmpty && commands.allSatisfy { $0[0] == 0x01 })
    #expect(packets.last.map { $0.octets.bytes.prefix(2) } == [0x04, 0x3E])
    // The hosts of both adapters begin with the server, so Reset may have come before the monitors. The commands of the
    // first program's scan are not among those of the other adapter, whose own program scans now.
    let lamp = RemoteCentral(bench.adapter("lamp"))
    let other = lamp.adapter.openCentralSession(for: lamp)
    try await lamp.state(.poweredOn)
    other.send(.scan(ScanRequest(services: nil, solicitedServices: [], allowsDuplicates: false)))
    let lampPackets = try await ofLamp.packets()
    // LE Set Extended Scan Enable · Vol 4, Part E, 7.8.65.
    let enable = lampPackets.filter { $0.isFromHost && $0.octets.bytes.starts(with: [0x01, 0x42, 0x20]) }
    let lastOfPhone = try #require(packets.last)
    #expect(!enable.isEmpty && enable.allSatisfy { $0.time > lastOfPhone.time })
    session.close()
    other.close()
  }

  private func packets(in outbox: Outbox) throws -> [MonitoredPacket] {
    let octets = try outbox.takeOctets(withDirectory: false)
    var parser = FrameParser(maximumLength: DaemonProtocol.maximumFrameLength)
    parser.append(octets)
    outbox.wasSent(octets.count)
    var result: [MonitoredPacket] = []
    while let frame = try parser.next() {
      if case .app(.packet(let packet)) = try ServerMessage(frame, .none) { result.append(packet) }
    }
    return result
  }

  @Test("A client that reads too slowly misses packets, and gets their number with the next one; others miss none")
  func missed() throws {
    let directory = PeerDirectory()
    let slow = Outbox(directory, for: nil, limit: 4_000) {}
    let fast = Outbox(directory, for: nil, limit: 4_000_000) {}
    let monitor = HCIMonitor()
    #expect(monitor.add(slow) && !monitor.add(fast))
    let event = HCI.Packet.event(code: 0x10, parameters: ByteSlice([0x01]))
    for _ in 0..<100 { monitor.packet(event, isFromHost: false) }
    let first = try packets(in: slow)
    #expect((10..<100).contains(first.count))
    #expect(first.allSatisfy { $0.missed == 0 && $0.octets.bytes == [0x04, 0x10, 0x01, 0x01] && !$0.isFromHost })
    for _ in 0..<2 { monitor.packet(event, isFromHost: false) }
    #expect(try packets(in: slow).map(\.missed) == [UInt32(100 - first.count), 0])
    #expect(try packets(in: fast).map(\.missed) == Array(repeating: 0, count: 102))
    #expect(!monitor.remove(slow) && monitor.remove(fast) && !monitor.remove(fast))
  }

  @Test("No client sees a key, also if it comes within a frame")
  func keys() throws {
    let outbox = Outbox(PeerDirectory(), for: nil, limit: 4_000_000) {}
    let monitor = HCIMonitor()
    #expect(monitor.add(outbox))
    let handle = HCI.ConnectionHandle(rawValue: 0x0040)
    let key: UInt128 = 0xA1B2_C3D4_E5F6_0718_293A_4B5C_6D7E_8F90
    let command = HCI.Command.leLongTermKeyRequestReply(handle, longTermKey: Secret(key))
    monitor.packet(command.packet(in: PacketPool()), isFromHost: true)
    let rest = HCI.ACLData(handle: handle, boundary: .continuing, payload: ByteSlice([1, 2, 3]))
    monitor.packet(.acl(rest), isFromHost: false)
    let octets = try packets(in: outbox).map { $0.octets.bytes }
    #expect(octets[0] == [0x01, 0x1A, 0x20, 18, 0x40, 0x00] + Array(repeating: 0, count: 16))
    #expect(octets[1] == [0x02, 0x40, 0x10, 3, 0, 0, 0, 0])
  }

  @Test("A monitor of a server that accepts and never answers ends")
  func silentServer() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("silent.sock")
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let socket = try await ServerBootstrap(group: group).bind(unixDomainSocketPath: path).get()
    let question = ServerQuestion(to: ServerSpecifier(.unix(path: path), adapter: ""), within: .milliseconds(50))
    let error = #expect(throws: AdapterError.self) { try question.monitor { _ in true } }
    #expect(error?.description == "server:\(path) has not answered in time")
    try await socket.close()
    try await group.shutdownGracefully()
  }
}
