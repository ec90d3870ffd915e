import BluetoothWire
import Testing

@testable import BluetoothHost

/// The peer's answers to this side's requests · Vol 3, Part A, 4.1, 4.7, 4.23, 4.26.
@Suite("Responses to channel requests")
struct ChannelAnswerTests {
  private let remote = ChannelHarness.id(0x50)

  @Test("4.23: an answer with a destination CID in use closes both channels")
  func destinationInUse() throws {
    var stand = ChannelHarness()
    let ids = stand.open([0x50])
    let identifier = try stand.ask()
    stand.receive(
      .leCreditBasedConnectionResponse(destination: remote, ChannelHarness.parameters, .successful),
      identifier: identifier)
    #expect(stand.bench.openFailures == [.invalidAnswer])
    #expect(stand.bench.closed == ids)
    #expect(try stand.contents() == [.disconnectionRequest(destination: remote, source: ids[0])])
    try stand.expectUnharmed()
  }

  @Test("4.26: of five channels, those with a repeated destination CID or one in use do not open")
  func destinationsTwice() throws {
    var stand = ChannelHarness()
    let old = stand.open([0x5F])
    let identifier = try stand.ask(count: 5, isEnhanced: true)
    stand.receive(
      .creditBasedConnectionResponse(
        ChannelHarness.parameters, .successful, destinations: ChannelHarness.list([0x50, 0x51, 0x50, 0x5F, 0x80])),
      identifier: identifier)
    #expect(stand.bench.opened.map(\.id) == [ChannelHarness.id(0x42)])
    #expect(stand.bench.openFailures == Array(repeating: .invalidAnswer, count: 4))
    #expect(stand.bench.closed == old)
    #expect(
      try stand.contents() == [
        .disconnectionRequest(destination: remote, source: ChannelHarness.id(0x41)),
        .disconnectionRequest(destination: ChannelHarness.id(0x5F), source: old[0]),
      ])
    try stand.expectUnharmed()
  }

  @Test(
    "A success with invalid limits is answered with a Disconnection Request for the peer's end",
    arguments: [
      L2CAP.CreditParameters(mtu: 22, mps: 64, initialCredits: 1), .init(mtu: 64, mps: 22, initialCredits: 1),
      .init(mtu: 64, mps: 65_534, initialCredits: 1), .none,
    ])
  func outOfRange(parameters: L2CAP.CreditParameters) throws {
    var stand = ChannelHarness()
    let identifier = try stand.ask()
    stand.receive(
      .leCreditBasedConnectionResponse(destination: remote, parameters, .successful), identifier: identifier)
    #expect(stand.bench.openFailures == [.invalidAnswer])
    let request = try #require(try stand.signals().first)
    #expect(request.content == .disconnectionRequest(destination: remote, source: ChannelHarness.id(0x40)))
    stand.receive(
      .disconnectionResponse(destination: remote, source: ChannelHarness.id(0x40)), identifier: request.identifier)
    #expect(stand.channels?.isEmpty == true)
    #expect(stand.bench.closed.isEmpty)
  }

  @Test("A success after the timeout closes the peer's end, and the upper layer gets no further event")
  func late() throws {
    for isEnhanced in [false, true] {
      var stand = ChannelHarness()
      let identifier = try stand.ask(count: 2, isEnhanced: isEnhanced)
      let count = isEnhanced ? 2 : 1
      stand.bench.passToDeadline()
      #expect(stand.bench.openFailures == Array(repeating: .timeout, count: count))
      stand.clear()
      stand.receive(
        isEnhanced
          ? .creditBasedConnectionResponse(
            ChannelHarness.parameters, .successful, destinations: ChannelHarness.list([0x50, 0x51]))
          : .leCreditBasedConnectionResponse(destination: remote, ChannelHarness.parameters, .successful),
        identifier: identifier)
      #expect(stand.bench.channelEvents.isEmpty)
      let requests = try stand.contents()
      #expect(requests.count == count)
      #expect(requests.first == .disconnectionRequest(destination: remote, source: ChannelHarness.id(0x40)))
    }
  }

  @Test("After twice the response timeout the state of a request is removed")
  func lapsed() throws {
    var stand = ChannelHarness()
    let identifier = try stand.ask(count: 5, isEnhanced: true)
    stand.bench.passToDeadline()
    #expect(stand.channels?.isEmpty == false)
    stand.bench.passToDeadline()
    #expect(stand.channels?.isEmpty == true)
    #expect(stand.bench.openFailures.count == 5)
    #expect(stand.bench.now == .zero + .seconds(60))
    stand.receive(
      .creditBasedConnectionResponse(ChannelHarness.parameters, .successful, destinations: ChannelHarness.list([0x50])),
      identifier: identifier)
    #expect(try stand.signals().isEmpty)
  }

  @Test("A request that could not be sent in time is cancelled")
  func neverSent() throws {
    var stand = ChannelHarness(aclCount: 2)
    stand.stall()
    stand.bench.perform { [handle = stand.handle] host, now in
      host.openChannels(spsm: 0x25, ChannelHarness.settings, token: ChannelHarness.token, on: handle, at: now)
    }
    stand.bench.passToDeadline()
    #expect(stand.bench.openFailures == [.timeout])
    #expect(stand.channels?.isEmpty == true)
    #expect(try stand.signals().isEmpty)
  }

  @Test("4.26: a pending result extends the response time, but not forever")
  func pending() throws {
    var stand = ChannelHarness()
    let identifier = try stand.ask(count: 2, isEnhanced: true)
    var rounds = 0
    while stand.bench.openFailures.isEmpty, rounds < 20 {
      stand.receive(
        .creditBasedConnectionResponse(.none, .authenticationPending, destinations: ChannelHarness.list([0, 0])),
        identifier: identifier)
      stand.bench.now = stand.bench.now + .seconds(25)
      stand.bench.host.timeReached(stand.bench.now)
      stand.bench.run()
      rounds += 1
    }
    #expect(stand.bench.openFailures == [.timeout, .timeout])
    #expect(stand.bench.now == .zero + .seconds(300))
    let other = try stand.ask(count: 2, isEnhanced: true)
    stand.bench.forget()
    stand.receive(
      .creditBasedConnectionResponse(.none, .pending, destinations: ChannelHarness.list([0, 0])), identifier: other)
    stand.receive(
      .creditBasedConnectionResponse(
        ChannelHarness.parameters, .successful, destinations: ChannelHarness.list([0x50, 0x51])), identifier: other)
    #expect(stand.bench.opened.count == 2)
  }

  @Test("A refusal of enhanced channels without their list, or a reject for an unknown reason, ends the request")
  func shortRefusals() throws {
    var stand = ChannelHarness()
    var identifier = try stand.ask(count: 3, isEnhanced: true)
    stand.bench.receive(.signalling, [0x18, identifier, 8, 0, 0, 0, 0, 0, 0, 0, 2, 0], on: stand.handle)
    #expect(stand.bench.openFailures == Array(repeating: .refused(.spsmNotSupported), count: 3))
    for octets in [[0x01, 0, 2, 0, 3, 0], [0x01, 0, 5, 0, 0xFF, 0xFF, 1, 2, 3]] as [[UInt8]] {
      stand.clear()
      identifier = try stand.ask()
      stand.bench.receive(.signalling, [octets[0], identifier] + octets.dropFirst(2), on: stand.handle)
      #expect(stand.bench.openFailures == [.notUnderstood])
    }
    #expect(stand.channels?.isEmpty == true)
    // The only deadline left is the next link check.
    #expect(stand.bench.host.deadline == stand.bench.host.table.check.deadline)
  }

  @Test("A Disconnection Response with a wrong identifier or wrong ends is ignored, and the CID stays in use")
  func disconnectionResponses() throws {
    var stand = ChannelHarness()
    let local = try #require(stand.open([0x50]).first)
    stand.close(local)
    let identifier = try #require(try stand.signals().first?.identifier)
    stand.receive(.disconnectionResponse(destination: remote, source: local), identifier: identifier &+ 1)
    stand.receive(
      .disconnectionResponse(destination: ChannelHarness.id(0x51), source: local), identifier: identifier)
    stand.receive(
      .disconnectionResponse(destination: remote, source: ChannelHarness.id(0x77)), identifier: identifier)
    #expect(stand.channels?.isEmpty == false)
    stand.bench.passToDeadline()
    #expect(stand.channels?.isEmpty == true)
    #expect(stand.bench.closed == [local])
  }

  @Test("On a link that does not exist, each channel of a request fails, and so does a reconfiguration")
  func noLink() {
    var stand = ChannelHarness()
    let nobody = HCI.ConnectionHandle(rawValue: 0x0E00)
    for (count, isEnhanced) in [(1, false), (3, false), (3, true), (9, true)] {
      stand.bench.perform { host, now in
        host.openChannels(
          spsm: 0x25, count: count, isEnhanced: isEnhanced, ChannelHarness.settings, token: ChannelHarness.token,
          on: nobody, at: now)
      }
    }
    #expect(stand.bench.openFailures == Array(repeating: .notConnected, count: 1 + 1 + 3 + 5))
    stand.bench.perform { host, now in
      host.reconfigure([ChannelHarness.id(0x40)], mtu: 200, mps: 64, on: nobody, at: now)
    }
    #expect(stand.bench.reconfigurationFailures == [.notConnected])
  }
}
