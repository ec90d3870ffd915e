import BluetoothWire
import TestSupport
import Testing

@testable import BluetoothHost

/// A host that offers one service on credit based channels. The test plays the peer on one of its links; an uninvolved
/// peer uses another link.
struct ChannelHarness {
  static let spsm: UInt16 = 0x0080
  static let settings = ChannelSettings(mtu: 100, mps: 64, credits: 4)
  static let parameters = L2CAP.CreditParameters(mtu: 100, mps: 64, initialCredits: 5)
  static let token = ChannelToken(rawValue: 9)

  var bench = HostHarness()
  let handle: HCI.ConnectionHandle
  private let secondLink: HCI.ConnectionHandle
  private var links: UInt16 = 0x50

  init(_ role: Link.Role = .peripheral, _ settings: ChannelSettings = settings, aclCount: UInt8 = 8) {
    bench.facts.aclCount = aclCount
    bench.powerOn()
    handle = bench.link(role)
    secondLink = bench.link(.peripheral, handle: 0x41, to: DeviceAddress(0xC000_0000_0003, .random))
    #expect(bench.host.publishChannel(settings) == Self.spsm)
    clear()
  }

  /// Delivers everything that was sent, and discards all events so far.
  mutating func clear() {
    bench.completeAll()
    bench.forget()
  }

  static func id(_ number: UInt16) -> L2CAP.ChannelID { L2CAP.ChannelID(rawValue: number) }
  static func list(_ numbers: [UInt16]) -> L2CAP.ChannelList { L2CAP.ChannelList(numbers.map(id)) }

  static func octets(_ content: L2CAP.SignalContent, identifier: UInt8 = 1) -> [UInt8] {
    var writer = ByteWriter(PacketPool())
    L2CAP.Signal(identifier: identifier, content: content).encode(into: &writer)
    return writer.finish().bytes
  }

  private static let stallAnswer = L2CAP.Signal(identifier: 0xEE, content: .commandReject(.commandNotUnderstood))

  /// Stops the peer from receiving until the test reads the host's output: the controller's buffers stay full.
  mutating func stall() {
    var count = -1
    while count != bench.data.count {
      count = bench.data.count
      let share = Int(bench.facts.aclCount) / bench.host.table.all.count
      if count < share { bench.receive(.signalling, [0x0F, Self.stallAnswer.identifier, 0, 0], on: handle) }
    }
    bench.events.removeAll()
  }

  // MARK: Peer

  mutating func receive(_ content: L2CAP.SignalContent, identifier: UInt8 = 1) {
    bench.receive(.signalling, Self.octets(content, identifier: identifier), on: handle)
  }

  /// Delivers a K-frame with `payload`.
  mutating func receive(_ payload: [UInt8], on channel: UInt16) {
    bench.receive(Self.id(channel), payload, on: handle)
  }

  /// Opens channels as the peer. Returns their CIDs on the host's side.
  mutating func open(_ sources: [UInt16], isEnhanced: Bool = false, _ parameters: L2CAP.CreditParameters = parameters)
    -> [L2CAP.ChannelID]
  {
    bench.completeAll()
    let known = bench.opened.count
    if isEnhanced {
      receive(.creditBasedConnectionRequest(spsm: Self.spsm, parameters, sources: Self.list(sources)))
    } else {
      for source in sources {
        receive(.leCreditBasedConnectionRequest(spsm: Self.spsm, source: Self.id(source), parameters))
        bench.completeAll()
      }
    }
    let ids = bench.opened.dropFirst(known).map(\.id)
    #expect(ids.count == sources.count)
    clear()
    return ids
  }

  /// Returns the host's signals; the controller completes packets at once.
  mutating func signals() throws -> [L2CAP.Signal] {
    var signals: [L2CAP.Signal] = []
    while !bench.data.isEmpty {
      signals += try bench.payloads(on: handle, .signalling).map { try L2CAP.Signal(ByteSlice($0)) }
        .filter { $0 != Self.stallAnswer }
      let packets = bench.data
      bench.data.removeAll()
      for packet in packets {
        bench.receive(.numberOfCompletedPackets(HCI.CompletedPackets(packet.handle, count: 1, in: bench.pool)))
      }
    }
    return signals
  }

  mutating func contents() throws -> [L2CAP.SignalContent] { try signals().map(\.content) }

  // MARK: Upper layer

  /// Requests channels. Returns the identifier of the request.
  mutating func ask(count: Int = 1, isEnhanced: Bool = false) throws -> UInt8 {
    bench.perform { [handle] host, now in
      host.openChannels(
        spsm: 0x0025, count: count, isEnhanced: isEnhanced, Self.settings, token: Self.token, on: handle, at: now)
    }
    return try #require(try signals().last?.identifier)
  }

  mutating func close(_ id: L2CAP.ChannelID) {
    bench.perform { [handle] host, now in host.closeChannel(id, on: handle, at: now) }
  }

  mutating func reconfigure(_ ids: [L2CAP.ChannelID], mtu: UInt16, mps: UInt16 = 64) {
    bench.perform { [handle] host, now in host.reconfigure(ids, mtu: mtu, mps: mps, on: handle, at: now) }
  }

  mutating func acknowledge(_ id: L2CAP.ChannelID) {
    bench.perform { [handle] host, now in host.acknowledge(id, on: handle, at: now) }
  }

  mutating func send(_ sdu: [UInt8], on id: L2CAP.ChannelID) -> Bool {
    bench.sendOnChannel(ByteSlice(sdu), id, handle)
  }

  // MARK: Host

  var index: Int? { bench.host.table.all.firstIndex { $0.link.handle == handle } }
  var channels: CreditChannels? { index.map { bench.host.table.all[$0].channels } }

  /// Checks what must hold after any hostile input: other links go on, and the device advertises, accepts a connection
  /// and answers a read.
  mutating func expectUnharmed(isConnected: Bool = true, sourceLocation: SourceLocation = #_sourceLocation) throws {
    clear()
    try expectRead(secondLink, sourceLocation)
    if isConnected { try expectRead(handle, sourceLocation) }
    bench.perform { host, now in host.startAdvertising(data: [2, 1, 6], scanResponse: [], at: now) }
    #expect(bench.advertisingAnswers == [nil], sourceLocation: sourceLocation)
    links += 1
    let peer = DeviceAddress(0xC000_0000_0100 + UInt64(links), .random)
    let new = bench.link(.peripheral, handle: links, to: peer)
    #expect(bench.links.map(\.peer) == [peer], sourceLocation: sourceLocation)
    try expectRead(new, sourceLocation)
    bench.receive(.disconnectionComplete(.success, new, reason: .remoteUserTerminatedConnection))
    clear()
  }

  private mutating func expectRead(_ handle: HCI.ConnectionHandle, _ sourceLocation: SourceLocation) throws {
    bench.completeAll()
    bench.receive(.attribute, [0x0A, 3, 0], on: handle)
    let answers = try bench.payloads(on: handle, .attribute)
    #expect(answers.contains { $0.first == 0x0B }, sourceLocation: sourceLocation)
    bench.completeAll()
  }
}

extension HostHarness {
  var opened: [Channel] {
    channelEvents.compactMap { if case .opened(let channel, _) = $0 { channel } else { nil } }
  }
  /// The reasons for which channels did not open.
  var openFailures: [ChannelError] {
    channelEvents.compactMap { if case .openFailed(_, let error) = $0 { error } else { nil } }
  }
  /// The ends of `closeChannelWhenSent`: the channel, and true if the peer has confirmed its end.
  var closeEnds: [String] {
    channelEvents.compactMap {
      if case .closeEnded(let id, let isConfirmed) = $0 { "\(id) \(isConfirmed)" } else { nil }
    }
  }
  var reconfigured: [Channel] {
    channelEvents.compactMap { if case .reconfigured(let channel) = $0 { channel } else { nil } }
  }
  var reconfigurationFailures: [ReconfigurationError] {
    channelEvents.compactMap { if case .reconfigurationFailed(_, let error) = $0 { error } else { nil } }
  }
}
