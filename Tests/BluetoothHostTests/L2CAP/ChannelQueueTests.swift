import BluetoothWire
import Testing

@testable import BluetoothHost

/// Signals queued for a peer that receives nothing · Vol 3, Part A, 4.
@Suite("Queued signals")
struct ChannelQueueTests {
  private let local = ChannelHarness.id(0x40)

  @Test("Credits that can't be sent are added up: one indication for each channel")
  func credits() throws {
    var stand = ChannelHarness(.peripheral, ChannelSettings(mtu: 100, mps: 64, credits: 200))
    let ids = stand.open([0x41, 0x42, 0x43])
    stand.stall()
    for _ in 0..<120 {
      for id in ids { stand.receive([1, 0, 7], on: id.rawValue) }
      for id in ids { stand.acknowledge(id) }
    }
    let indications = try stand.contents().compactMap { content -> UInt16? in
      if case .flowControlCreditIndication(_, let credits) = content { credits } else { nil }
    }
    #expect(indications == [120, 120, 120])
    stand.clear()
    try stand.expectUnharmed()
  }

  @Test("Channels that open and fail repeatedly queue no Disconnection Requests for a peer that receives nothing")
  func disconnections() throws {
    var stand = ChannelHarness()
    stand.stall()
    for round in 0..<2_000 {
      let source = ChannelHarness.id(0x40 + UInt16(round % 64))
      stand.receive(
        .leCreditBasedConnectionRequest(spsm: ChannelHarness.spsm, source: source, ChannelHarness.parameters))
      for id in stand.bench.opened.map(\.id) {
        // An SDU that is too long makes this side close the channel. The peer closes the channel, too, and opens it
        // again.
        stand.receive([0xFF, 0xFF], on: id.rawValue)
        stand.receive(.disconnectionRequest(destination: id, source: source))
      }
      stand.bench.events.removeAll()
      let channels = try #require(stand.channels)
      #expect(channels.channels.count <= 64)
      #expect(channels.requests.count <= 64)
    }
    #expect(stand.bench.host.metrics.droppedAnswers > 1_000)
    #expect(stand.bench.pool.count < 200)
    try stand.expectUnharmed()
  }

  @Test("Without room for the answer, a channel is neither opened nor reconfigured")
  func noRoom() throws {
    var stand = ChannelHarness()
    let ids = stand.open([0x60], isEnhanced: true)
    stand.stall()
    for number in UInt8(1)...100 { stand.bench.receive(.signalling, [0x0F, number, 0, 0], on: stand.handle) }
    stand.receive(
      .leCreditBasedConnectionRequest(
        spsm: ChannelHarness.spsm, source: ChannelHarness.id(0x50), ChannelHarness.parameters))
    stand.receive(
      .creditBasedConnectionRequest(
        spsm: ChannelHarness.spsm, ChannelHarness.parameters, sources: ChannelHarness.list([0x51, 0x52])))
    stand.receive(.creditBasedReconfigureRequest(mtu: 200, mps: 64, destinations: ChannelHarness.list([0x60])))
    #expect(stand.bench.channelEvents.isEmpty)
    #expect(stand.channels?.channels.count == 1)
    // A channel that the peer closes is closed nevertheless.
    stand.receive(.disconnectionRequest(destination: ids[0], source: ChannelHarness.id(0x60)))
    #expect(stand.bench.closed == ids)
    try stand.expectUnharmed()
  }

  @Test("A Disconnection Request is sent even after it was blocked for longer than the response timeout")
  func lateDisconnection() throws {
    var stand = ChannelHarness()
    let ids = stand.open([0x41])
    stand.stall()
    stand.close(local)
    stand.bench.now += .seconds(60)
    stand.bench.perform { host, now in host.timeReached(now) }
    #expect(
      try stand.contents() == [.disconnectionRequest(destination: ChannelHarness.id(0x41), source: local)])
    // The response timeout starts now.
    stand.bench.now += .seconds(29)
    stand.bench.perform { host, now in host.timeReached(now) }
    #expect(stand.channels?.channels.map(\.local) == ids)
    stand.bench.passToDeadline()
    #expect(stand.channels?.channels.isEmpty == true)
    try stand.expectUnharmed()
  }

  @Test("Disconnection Requests do not wait for missing answers to other requests")
  func disconnectionsFirst() throws {
    var stand = ChannelHarness()
    let ids = stand.open([0x41])
    for _ in 0..<ChannelRequest.maximumSent { _ = try stand.ask() }
    stand.close(ids[0])
    #expect(
      try stand.contents() == [.disconnectionRequest(destination: ChannelHarness.id(0x41), source: local)])
  }

  @Test("Signals queued for a closed channel are discarded, so that its successor does not get them")
  func purged() throws {
    var stand = ChannelHarness()
    let ids = stand.open([0x41])
    stand.stall()
    for _ in 0..<3 { stand.receive([1, 0, 7], on: 0x40) }
    for _ in 0..<3 { stand.acknowledge(local) }
    stand.close(local)
    // Both sides close the channel, and the peer opens another one from the same end.
    stand.receive(.disconnectionRequest(destination: local, source: ChannelHarness.id(0x41)))
    stand.receive(
      .leCreditBasedConnectionRequest(
        spsm: ChannelHarness.spsm, source: ChannelHarness.id(0x41), ChannelHarness.parameters), identifier: 2)
    let said = try stand.contents()
    #expect(ids == [local])
    let successor = try #require(stand.bench.opened.last?.id)
    #expect(successor == ChannelHarness.id(0x41))
    #expect(
      said == [
        .disconnectionResponse(destination: local, source: ChannelHarness.id(0x41)),
        .leCreditBasedConnectionResponse(
          destination: successor, L2CAP.CreditParameters(mtu: 100, mps: 64, initialCredits: 4), .successful),
      ])
    #expect(stand.bench.closed == [local])
  }

  @Test("A CID is reused only after all others have been used")
  func numbers() throws {
    var stand = ChannelHarness()
    var numbers: [UInt16] = []
    for _ in 0..<130 {
      let id = try #require(stand.open([0x50]).first)
      numbers.append(id.rawValue)
      stand.receive(.disconnectionRequest(destination: id, source: ChannelHarness.id(0x50)))
      stand.clear()
    }
    #expect(numbers == (0..<130).map { 0x40 + UInt16($0 % 64) })
  }

  @Test("The identifier of a pending request is not reused, however many requests follow")
  func identifiers() throws {
    var stand = ChannelHarness(.peripheral, ChannelSettings(mtu: 100, mps: 64, credits: 1))
    let open = try stand.ask()
    stand.close(try #require(stand.open([0x41]).first))
    let closing = try #require(try stand.signals().first?.identifier)
    let other = try #require(stand.open([0x42]).first)
    var seen: Set<UInt8> = []
    for _ in 0..<600 {
      stand.receive([1, 0, 5], on: other.rawValue)
      stand.acknowledge(other)
      seen.formUnion(try stand.signals().map(\.identifier))
    }
    #expect(seen == Set(1...255).subtracting([open, closing]))
  }

  @Test("A queued parameter request is neither lost among answers nor sent after its timeout")
  func parameterRequest() throws {
    var stand = ChannelHarness()
    stand.stall()
    for number in UInt8(1)...100 { stand.bench.receive(.signalling, [0x0F, number, 0, 0], on: stand.handle) }
    // The central is quiet for long enough.
    stand.bench.pass(.seconds(5))
    let parameters = LinkParameters(minimumInterval: 24, maximumInterval: 40, latency: 0, supervisionTimeout: 42)
    for latency in UInt16(0)..<3 {
      var parameters = parameters
      parameters.latency = latency
      stand.bench.perform { [handle = stand.handle] host, now in
        host.updateConnection(handle, parameters, at: now)
      }
    }
    // The first request was not sent in time; the last one replaces it.
    stand.bench.passToDeadline()
    let latencies = try stand.contents().compactMap { content -> UInt16? in
      if case .connectionParameterUpdateRequest(let parameters) = content { parameters.latency } else { nil }
    }
    #expect(latencies == [2])
  }
}
