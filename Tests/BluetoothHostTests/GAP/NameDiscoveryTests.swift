import BluetoothHost
import BluetoothWire
import TestSupport
import Testing

@Suite("Name discovery")
struct NameDiscoveryTests {
  private static let handle = HCI.ConnectionHandle(rawValue: 0x40)

  private func bench() -> HostHarness {
    var bench = HostHarness()
    bench.powerOn()
    return bench
  }

  private func ask(_ bench: inout HostHarness) {
    bench.perform { host, now in host.discoverName(of: HostHarness.peer, timeout: .seconds(10), at: now) }
  }

  private func connect(_ bench: inout HostHarness) {
    bench.receive(.leConnectionComplete(HostHarness.connection(.central, Self.handle, HostHarness.peer)))
    bench.receive(HostHarness.signOfLife(Self.handle))
  }

  /// The peer's attributes: a GAP service with the characteristic Device Name, its value at handle 3.
  private struct Peer {
    var hasService = true
    var hasCharacteristic = true
    /// The Device Name; nil: it is not readable.
    var name: String? = "Sensor"

    func answer(_ request: [UInt8]) -> [UInt8] {
      let start = request.count > 2 ? Array(request[1...2]) : [0, 0]
      let notFound = [0x01, request[0]] + start + [0x0A]
      switch request[0] {
      case 0x02: return [0x03, 0x17, 0x00]
      case 0x06 where hasService && start == [1, 0] && request.suffix(2) == [0x00, 0x18]:
        return [0x07, 0x01, 0x00, 0x05, 0x00]
      case 0x08 where hasCharacteristic && start == [1, 0]:
        return [0x09, 0x07, 0x02, 0x00, 0x02, 0x03, 0x00, 0x00, 0x2A]
      case 0x0A: return name.map { [0x0B] + Array($0.utf8) } ?? [0x01, 0x0A, 0x03, 0x00, 0x02]
      default: return notFound
      }
    }
  }

  /// Answers all requests of the host as the peer.
  private func answerAll(_ bench: inout HostHarness, _ peer: Peer = Peer()) throws {
    for _ in 0..<20 {
      guard let request = try bench.payloads(on: Self.handle, .attribute).first else { return }
      bench.completeAll()
      bench.receive(.attribute, peer.answer(request), on: Self.handle)
    }
    Issue.record("the host asks for ever")
  }

  @Test("A device without a link is connected to, asked for its Device Name and disconnected")
  func whole() throws {
    var bench = bench()
    ask(&bench)
    #expect(bench.commands.map(\.opcode) == [.leCreateConnection])
    connect(&bench)
    try answerAll(&bench)
    #expect(bench.discoveredNames == ["Sensor"])
    #expect(bench.commands.last == .disconnect(Self.handle, reason: .remoteUserTerminatedConnection))
    bench.receive(.disconnectionComplete(.success, Self.handle, reason: .connectionTerminatedByLocalHost))
    #expect(bench.discoveredNames == ["Sensor"])
    #expect(bench.host.deadline == nil)
    // No result is reported to the upper layer.
    #expect(!bench.events.contains { if case .gatt(_, .completed) = $0 { true } else { false } })
  }

  @Test("An existing link is used and kept")
  func overLink() throws {
    var bench = bench()
    bench.link(.central)
    bench.commands.removeAll()
    ask(&bench)
    ask(&bench)
    try answerAll(&bench)
    #expect(bench.discoveredNames == ["Sensor"])
    #expect(!bench.commands.contains { $0.opcode == .disconnect || $0.opcode == .leCreateConnection })
  }

  @Test("A link that is also requested for another purpose is kept")
  func shared() throws {
    var bench = bench()
    bench.perform { host, now in host.connect(to: HostHarness.peer, at: now) }
    ask(&bench)
    connect(&bench)
    try answerAll(&bench)
    #expect(bench.discoveredNames == ["Sensor"])
    #expect(!bench.commands.contains { $0.opcode == .disconnect })
  }

  @Test("A link requested during the name discovery waits longer for the device and is kept")
  func joined() throws {
    var late = bench()
    ask(&late)
    late.perform { host, now in host.connect(to: HostHarness.peer, at: now) }
    late.passToDeadline()
    #expect(late.discoveredNames == [nil])
    #expect(late.commands.map(\.opcode) == [.leCreateConnection])
    connect(&late)
    #expect(late.links.map(\.peer) == [HostHarness.peer])
    var named = bench()
    ask(&named)
    named.perform { host, now in host.connect(to: HostHarness.peer, at: now) }
    connect(&named)
    try answerAll(&named)
    #expect(named.discoveredNames == ["Sensor"])
    #expect(!named.commands.contains { $0.opcode == .disconnect })
  }

  @Test("The name discovery waits for an absent device as long as requested")
  func absent() {
    var bench = bench()
    ask(&bench)
    #expect(bench.host.deadline == .zero + .seconds(10))
    bench.passToDeadline()
    #expect(bench.discoveredNames == [nil])
    #expect(bench.commands.last == .leCreateConnectionCancel)
  }

  @Test("A timeout while the link is being created ends the discovery without another event")
  func lateLink() {
    var bench = bench()
    ask(&bench)
    bench.receive(.leConnectionComplete(HostHarness.connection(.central, Self.handle, HostHarness.peer)))
    bench.passToDeadline()
    #expect(bench.discoveredNames == [nil])
    #expect(bench.commands.last == .disconnect(Self.handle, reason: .remoteUserTerminatedConnection))
    bench.receive(HostHarness.signOfLife(Self.handle))
    #expect(bench.links.isEmpty)
  }

  @Test("A device without a readable name yields no name", arguments: 0..<3)
  func nameless(missing: Int) throws {
    var peer = Peer()
    switch missing {
    case 0: peer.hasService = false
    case 1: peer.hasCharacteristic = false
    default: peer.name = nil
    }
    var bench = bench()
    ask(&bench)
    connect(&bench)
    try answerAll(&bench, peer)
    #expect(bench.discoveredNames == [nil])
    #expect(bench.commands.last == .disconnect(Self.handle, reason: .remoteUserTerminatedConnection))
  }

  @Test("The end of the link, a power switch or a refused connection ends the discovery")
  func ends() {
    var lost = bench()
    ask(&lost)
    connect(&lost)
    lost.receive(.disconnectionComplete(.success, Self.handle, reason: .connectionTimeout))
    #expect(lost.discoveredNames == [nil])
    var off = bench()
    ask(&off)
    off.perform { host, now in host.setPower(false, at: now) }
    #expect(off.discoveredNames == [nil])
    ask(&off)
    #expect(off.discoveredNames == [nil, nil])
    var refused = bench()
    refused.answers[.leCreateConnection] = .status(.connectionLimitExceeded)
    ask(&refused)
    #expect(refused.discoveredNames == [nil])
  }
}
