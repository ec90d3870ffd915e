import BluetoothHost
import BluetoothWire
import Testing

/// LE credit based channels of one host; the test plays the peer · Vol 3, Part A, 4.22 to 4.28.
@Suite("Credit based channels")
struct ChannelTests {
  private static let spsm: UInt16 = 0x0080

  /// Returns a host that offers one service and has a link.
  private func bench(
    _ settings: ChannelSettings = ChannelSettings(mtu: 100, mps: 64, credits: 4)
  ) -> (HostHarness, HCI.ConnectionHandle) {
    var bench = HostHarness()
    bench.powerOn()
    let handle = bench.link(.peripheral)
    #expect(bench.host.publishChannel(settings) == Self.spsm)
    bench.completeAll()
    bench.forget()
    return (bench, handle)
  }

  private func signal(_ content: L2CAP.SignalContent, identifier: UInt8 = 1) -> [UInt8] {
    var writer = ByteWriter(PacketPool())
    L2CAP.Signal(identifier: identifier, content: content).encode(into: &writer)
    return writer.finish().bytes
  }

  private func ask(
    spsm: UInt16 = spsm, source: UInt16 = 0x0041, mtu: UInt16 = 100, mps: UInt16 = 64, credits: UInt16 = 5,
    identifier: UInt8 = 1
  ) -> [UInt8] {
    signal(
      .leCreditBasedConnectionRequest(
        spsm: spsm, source: L2CAP.ChannelID(rawValue: source),
        L2CAP.CreditParameters(mtu: mtu, mps: mps, initialCredits: credits)), identifier: identifier)
  }

  private func askEnhanced(
    spsm: UInt16 = spsm, _ sources: [UInt16], mtu: UInt16 = 100, mps: UInt16 = 64, credits: UInt16 = 5
  ) -> [UInt8] {
    signal(
      .creditBasedConnectionRequest(
        spsm: spsm, L2CAP.CreditParameters(mtu: mtu, mps: mps, initialCredits: credits),
        sources: L2CAP.ChannelList(sources.map { L2CAP.ChannelID(rawValue: $0) })))
  }

  /// Returns the commands that the host has sent on the signalling channel.
  private func signals(_ bench: inout HostHarness, _ handle: HCI.ConnectionHandle) throws -> [L2CAP.SignalContent] {
    defer { bench.completeAll() }
    return try bench.payloads(on: handle, .signalling).map { try L2CAP.Signal(ByteSlice($0)).content }
  }

  /// Returns a host with one channel that the peer has opened.
  private func opened(
    credits: UInt16 = 5, mtu: UInt16 = 100, mps: UInt16 = 64
  ) throws -> (HostHarness, HCI.ConnectionHandle) {
    var (bench, handle) = bench()
    bench.receive(.signalling, ask(mtu: mtu, mps: mps, credits: credits), on: handle)
    #expect(bench.channelEvents.count == 1)
    bench.completeAll()
    bench.forget()
    return (bench, handle)
  }

  private let local = L2CAP.ChannelID(rawValue: 0x40)
  private let remote = L2CAP.ChannelID(rawValue: 0x41)

  // MARK: Opening

  @Test("LE Credit Based Connection: a channel to a published SPSM is accepted with this side's MTU, MPS and credits")
  func accepted() throws {
    var (bench, handle) = bench()
    bench.receive(.signalling, ask(), on: handle)
    #expect(
      try signals(&bench, handle) == [
        .leCreditBasedConnectionResponse(
          destination: local, L2CAP.CreditParameters(mtu: 100, mps: 64, initialCredits: 4), .successful)
      ])
    guard case .opened(let channel, nil)? = bench.channelEvents.first else {
      Issue.record("no channel: \(bench.channelEvents)")
      return
    }
    #expect((channel.id, channel.spsm, channel.sendMTU, channel.receiveMTU) == (local, Self.spsm, 100, 100))
  }

  @Test("LE Credit Based Connection: each invalid request gets its result, and no channel remains")
  func refusals() throws {
    var (bench, handle) = bench()
    bench.receive(.signalling, ask(source: 0x50), on: handle)
    let refused: [([UInt8], L2CAP.ConnectionResult)] = [
      (ask(spsm: 0x0081), .spsmNotSupported), (ask(spsm: 0), .spsmNotSupported), (ask(source: 0), .invalidSourceCID),
      (ask(source: 0x04), .invalidSourceCID), (ask(source: 0x3F), .invalidSourceCID),
      (ask(source: 0x80), .invalidSourceCID), (ask(source: 0x50), .sourceCIDAlreadyAllocated),
      (ask(mtu: 22), .unacceptableParameters), (ask(mps: 22), .unacceptableParameters),
      (ask(mps: 65_534), .unacceptableParameters),
    ]
    bench.completeAll()
    bench.forget()
    for (request, result) in refused {
      bench.receive(.signalling, request, on: handle)
      #expect(
        try signals(&bench, handle) == [.leCreditBasedConnectionResponse(destination: .none, .none, result)])
    }
    #expect(bench.channelEvents.isEmpty)
  }

  @Test("A link has 64 channels; a request for another one gets No Resources")
  func slots() throws {
    var (bench, handle) = bench()
    for source in UInt16(0x40)...0x7F {
      bench.receive(.signalling, ask(source: source, identifier: UInt8(source)), on: handle)
      bench.completeAll()
    }
    #expect(bench.channelEvents.count == 64)
    bench.perform { host, now in
      host.openChannels(
        spsm: 0x90, ChannelSettings(), token: ChannelToken(rawValue: 1), on: handle, at: now)
    }
    guard case .openFailed(ChannelToken(rawValue: 1), .outOfChannels)? = bench.channelEvents.last else {
      Issue.record("\(bench.channelEvents.last as Any)")
      return
    }
  }

  @Test("Credit Based Connection: five channels open at once; only those with an invalid source are refused")
  func enhanced() throws {
    var (bench, handle) = bench()
    bench.receive(.signalling, askEnhanced([0x41, 0x42, 0x43, 0x44, 0x45]), on: handle)
    let offer = L2CAP.CreditParameters(mtu: 100, mps: 64, initialCredits: 4)
    func list(_ ids: [UInt16]) -> L2CAP.ChannelList { L2CAP.ChannelList(ids.map { L2CAP.ChannelID(rawValue: $0) }) }
    #expect(
      try signals(&bench, handle) == [
        .creditBasedConnectionResponse(offer, .successful, destinations: list([0x40, 0x41, 0x42, 0x43, 0x44]))
      ])
    bench.receive(.signalling, askEnhanced([0x46, 0x46, 0x42, 0x20]), on: handle)
    #expect(
      try signals(&bench, handle) == [
        .creditBasedConnectionResponse(offer, .invalidSourceCID, destinations: list([0x45, 0, 0, 0]))
      ])
    #expect(bench.channelEvents.count == 6)
  }

  @Test("L5: initial credits of 0 are refused for enhanced channels and accepted for LE credit based ones")
  func noInitialCredits() throws {
    var (bench, handle) = bench()
    bench.receive(.signalling, askEnhanced([0x41], credits: 0), on: handle)
    bench.receive(.signalling, askEnhanced([0x41], mtu: 63), on: handle)
    bench.receive(.signalling, askEnhanced([0x41], mps: 63), on: handle)
    let results = try signals(&bench, handle).map { content -> L2CAP.ConnectionResult? in
      if case .creditBasedConnectionResponse(.none, let result, _) = content { result } else { nil }
    }
    #expect(results == [.invalidParameters, .unacceptableParameters, .unacceptableParameters])
    bench.receive(.signalling, ask(credits: 0), on: handle)
    #expect(bench.channelEvents.count == 1)
    bench.completeAll()
    bench.forget()
    bench.send([1], local, handle)
    #expect(try bench.payloads(on: handle, remote) == [])
    bench.receive(.signalling, signal(.flowControlCreditIndication(remote, credits: 1)), on: handle)
    #expect(try bench.payloads(on: handle, remote) == [[1, 0, 1]])
  }

  // MARK: Requests of this side

  /// Requests channels from the peer. Returns the identifier of the request.
  private func request(
    _ bench: inout HostHarness, _ handle: HCI.ConnectionHandle, count: Int = 1, isEnhanced: Bool = false
  ) throws -> UInt8 {
    bench.perform { host, now in
      host.openChannels(
        spsm: 0x0025, count: count, isEnhanced: isEnhanced, ChannelSettings(mtu: 100, mps: 64, credits: 4),
        token: ChannelToken(rawValue: 9), on: handle, at: now)
    }
    defer { bench.completeAll() }
    return try #require(try bench.payloads(on: handle, .signalling).last?[1])
  }

  private func failures(_ bench: HostHarness) -> [ChannelError] {
    bench.channelEvents.compactMap {
      if case .openFailed(ChannelToken(rawValue: 9), let error) = $0 { error } else { nil }
    }
  }

  @Test("The peer's answer opens the channel or reports the reason for the refusal")
  func ownRequests() throws {
    var (bench, handle) = bench()
    let parameters = L2CAP.CreditParameters(mtu: 50, mps: 30, initialCredits: 1)
    var identifier = try request(&bench, handle)
    bench.receive(
      .signalling,
      signal(.leCreditBasedConnectionResponse(destination: remote, parameters, .successful), identifier: identifier),
      on: handle)
    guard case .opened(let channel, ChannelToken(rawValue: 9)?)? = bench.channelEvents.last else {
      Issue.record("not opened")
      return
    }
    #expect((channel.id, channel.sendMTU) == (local, 50))
    for (destination, parameters, result, error) in [
      (L2CAP.ChannelID.none, .none, .noResources, .refused(.noResources)),
      (.none, .none, .spsmNotSupported, .refused(.spsmNotSupported)),
      (L2CAP.ChannelID(rawValue: 0x80), parameters, .successful, .invalidAnswer),
      (
        L2CAP.ChannelID(rawValue: 0x45), L2CAP.CreditParameters(mtu: 5, mps: 30, initialCredits: 1), .successful,
        .invalidAnswer
      ),
    ] as [(L2CAP.ChannelID, L2CAP.CreditParameters, L2CAP.ConnectionResult, ChannelError)] {
      bench.forget()
      identifier = try request(&bench, handle)
      bench.receive(
        .signalling,
        signal(
          .leCreditBasedConnectionResponse(destination: destination, parameters, result), identifier: identifier),
        on: handle)
      #expect(failures(bench) == [error])
    }
    bench.forget()
    identifier = try request(&bench, handle)
    bench.receive(.signalling, signal(.commandReject(.commandNotUnderstood), identifier: identifier), on: handle)
    #expect(failures(bench) == [.notUnderstood])
    bench.forget()
    _ = try request(&bench, handle)
    bench.passToDeadline()
    #expect(failures(bench) == [.timeout])
    #expect(bench.now == .zero + .seconds(30))
  }

  @Test("Enhanced channels open as the peer's answer lists them; it may list fewer than five, or one twice")
  func enhancedAnswers() throws {
    var (bench, handle) = bench()
    let parameters = L2CAP.CreditParameters(mtu: 64, mps: 64, initialCredits: 1)
    let identifier = try request(&bench, handle, count: 5, isEnhanced: true)
    bench.receive(
      .signalling,
      signal(
        .creditBasedConnectionResponse(
          parameters, .noResources,
          destinations: L2CAP.ChannelList([0x50, 0, 0x50, 0x51].map { L2CAP.ChannelID(rawValue: $0) })),
        identifier: identifier), on: handle)
    let opened = bench.channelEvents.count { if case .opened = $0 { true } else { false } }
    #expect(opened == 1)
    #expect(
      failures(bench) == [.invalidAnswer, .refused(.noResources), .invalidAnswer, .refused(.noResources)])
  }

  // MARK: Data

  @Test("An SDU is sent in frames of the peer's MPS, the first with the SDU length, as far as credits allow")
  func segmentation() throws {
    var (bench, handle) = try opened(credits: 2, mtu: 100, mps: 30)
    let sdu = ByteSlice((0..<100).map { UInt8($0) })
    bench.send(sdu, local, handle)
    #expect(try bench.payloads(on: handle, remote) == [[100, 0] + Array(0..<28), Array(28..<58)])
    bench.completeAll()
    bench.receive(.signalling, signal(.flowControlCreditIndication(remote, credits: 10)), on: handle)
    #expect(try bench.payloads(on: handle, remote) == [Array(58..<88), Array(88..<100)])
    bench.send(ByteSlice(Array(repeating: 0, count: 101)), local, handle, isTaken: false)
    bench.send(ByteSlice(), local, handle, isTaken: false)
    bench.send(sdu, L2CAP.ChannelID(rawValue: 0x60), handle, isTaken: false)
  }

  @Test("Frames are reassembled into SDUs; acknowledged SDUs return credits, never more than the window")
  func reassembly() throws {
    var (bench, handle) = try opened()
    bench.receive(local, [70, 0] + Array(repeating: 1, count: 60), on: handle)
    bench.receive(local, Array(repeating: 1, count: 10), on: handle)
    bench.receive(local, [1, 0, 9], on: handle)
    #expect(bench.sdus == [Array(repeating: 1, count: 70), [9]])
    // One credit returns for the frame that did not complete an SDU; the other two SDUs are not acknowledged.
    #expect(try signals(&bench, handle) == [.flowControlCreditIndication(local, credits: 1)])
    bench.perform { host, now in
      host.acknowledge(local, on: handle, at: now)
      host.acknowledge(local, on: handle, at: now)
      host.acknowledge(local, on: handle, at: now)
    }
    #expect(try signals(&bench, handle) == [.flowControlCreditIndication(local, credits: 1)])
  }

  @Test("An SDU of length 0 leaves the channel open, and its credit returns")
  func emptySDU() throws {
    var (bench, handle) = try opened()
    bench.receive(local, [0, 0], on: handle)
    #expect(try signals(&bench, handle) == [])
    bench.receive(local, [0, 0], on: handle)
    #expect(try signals(&bench, handle) == [.flowControlCreditIndication(local, credits: 2)])
    bench.receive(local, [1, 0, 9], on: handle)
    #expect(bench.sdus == [[9]])
    #expect(bench.closed.isEmpty)
  }

  @Test("An SDU that arrives octet by octet is delivered")
  func octetByOctet() throws {
    var (bench, handle) = try opened()
    bench.receive(local, [100, 0], on: handle)
    for value in UInt8(0)..<100 {
      bench.receive(local, [value], on: handle)
      bench.completeAll()
    }
    #expect(bench.sdus == [Array(0..<100)])
    #expect(bench.closed.isEmpty)
  }

  @Test("L5: an indication of 0 credits is ignored; a total of more than 65,535 disconnects the channel")
  func credits() throws {
    var (bench, handle) = try opened(credits: 1)
    bench.receive(.signalling, [0x16, 3, 4, 0, 0x41, 0, 0, 0], on: handle)
    #expect(bench.closed.isEmpty)
    bench.receive(.signalling, signal(.flowControlCreditIndication(remote, credits: 65_534)), on: handle)
    #expect(bench.closed.isEmpty)
    bench.receive(.signalling, signal(.flowControlCreditIndication(remote, credits: 1)), on: handle)
    #expect(bench.closed == [local])
  }

  @Test("When the queue is full, the host reports room as soon as there is some")
  func room() throws {
    var (bench, handle) = try opened(credits: 0)
    var taken = 0
    while bench.sendOnChannel([1], local, handle) { taken += 1 }
    #expect(taken == 8)
    #expect(bench.channelEvents.isEmpty)
    bench.receive(.signalling, signal(.flowControlCreditIndication(remote, credits: 1)), on: handle)
    guard case .hasRoom(local)? = bench.channelEvents.first else {
      Issue.record("\(bench.channelEvents)")
      return
    }
    #expect(bench.channelEvents.count == 1)
  }

  // MARK: Closing

  @Test("Disconnection: either side closes; a wrong destination is rejected, a wrong source gets no answer")
  func closing() throws {
    var (bench, handle) = try opened()
    bench.receive(
      .signalling, signal(.disconnectionRequest(destination: L2CAP.ChannelID(rawValue: 0x44), source: remote)),
      on: handle)
    bench.receive(
      .signalling, signal(.disconnectionRequest(destination: local, source: L2CAP.ChannelID(rawValue: 0x44))),
      on: handle)
    #expect(
      try signals(&bench, handle) == [
        .commandReject(.invalidCID(local: L2CAP.ChannelID(rawValue: 0x44), remote: remote))
      ])
    bench.receive(.signalling, signal(.disconnectionRequest(destination: local, source: remote)), on: handle)
    #expect(try signals(&bench, handle) == [.disconnectionResponse(destination: local, source: remote)])
    #expect(bench.closed == [local])
    // The next channel gets another CID.
    bench.forget()
    bench.receive(.signalling, ask(), on: handle)
    bench.completeAll()
    let next = L2CAP.ChannelID(rawValue: 0x41)
    bench.perform { host, now in host.closeChannel(next, on: handle, at: now) }
    #expect(try signals(&bench, handle) == [.disconnectionRequest(destination: remote, source: next)])
    // Both sides close at once.
    bench.receive(.signalling, signal(.disconnectionRequest(destination: next, source: remote)), on: handle)
    #expect(bench.closed == [next])
  }

  @Test("Unpublishing an SPSM closes its channels and refuses new ones")
  func unpublish() throws {
    var (bench, handle) = try opened()
    bench.perform { host, now in host.unpublishChannel(spsm: Self.spsm, at: now) }
    #expect(bench.closed == [local])
    bench.completeAll()
    bench.receive(.signalling, ask(source: 0x60), on: handle)
    #expect(
      try signals(&bench, handle) == [.leCreditBasedConnectionResponse(destination: .none, .none, .spsmNotSupported)])
    #expect(bench.host.publishChannel(spsm: 0x0100, ChannelSettings()) == nil)
    #expect(bench.host.publishChannel(spsm: 0x0025, ChannelSettings()) == 0x0025)
    #expect(bench.host.publishChannel(spsm: 0x0025, ChannelSettings()) == nil)
  }

  // MARK: Reconfiguration

  @Test("Reconfiguration: larger values are accepted; a smaller MTU is not, nor a smaller MPS for several channels")
  func reconfiguration() throws {
    var (bench, handle) = bench()
    bench.receive(.signalling, askEnhanced([0x41, 0x42]), on: handle)
    bench.receive(.signalling, ask(source: 0x43), on: handle)
    bench.completeAll()
    bench.forget()
    for (ids, mtu, mps, result) in [
      ([0x41, 0x42], 200, 80, .successful), ([0x41], 199, 80, .mtuReductionNotAllowed),
      ([0x41, 0x42], 200, 79, .mpsReductionNotAllowed), ([0x41], 200, 64, .successful),
      ([0x43], 300, 80, .invalidDestinationCID), ([0x41, 0x41], 300, 80, .invalidDestinationCID),
      ([0x41], 300, 63, .otherUnacceptableParameters),
    ] as [([UInt16], UInt16, UInt16, L2CAP.ReconfigureResult)] {
      let list = L2CAP.ChannelList(ids.map { L2CAP.ChannelID(rawValue: $0) })
      bench.receive(
        .signalling, signal(.creditBasedReconfigureRequest(mtu: mtu, mps: mps, destinations: list)), on: handle)
      #expect(try signals(&bench, handle) == [.creditBasedReconfigureResponse(result)])
    }
    let limits = bench.channelEvents.compactMap {
      if case .reconfigured(let channel) = $0 { channel.sendMTU } else { nil }
    }
    #expect(limits == [200, 200, 200])
  }
}
