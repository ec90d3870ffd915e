import BluetoothWire
import Testing

@testable import BluetoothHost

/// The rows of `hardening/cases.md`, section 3, each with the general oracle.
@Suite("Hostile L2CAP")
struct HostileChannelTests {
  @Test("L1 truncated frame: headers of 0 to 3 octets, and lengths below and above the payload, affect no other link")
  func truncated() throws {
    var stand = ChannelHarness()
    let ids = stand.open([0x41])
    for count in 0...3 { stand.bench.receive([UInt8](repeating: 0, count: count), on: stand.handle) }
    stand.bench.receive([9, 0, 4, 0, 0x0A], on: stand.handle)
    stand.bench.receive([1, 0, 4, 0, 0x0A, 3, 0], on: stand.handle)
    stand.bench.receive([0xFF, 0xFF, 4, 0] + [UInt8](repeating: 7, count: 240), on: stand.handle)
    stand.bench.receive([UInt8](repeating: 7, count: 250), on: stand.handle, .continuing)
    #expect(stand.bench.channelEvents.isEmpty)
    #expect(stand.bench.data.isEmpty)
    #expect(stand.bench.host.metrics.droppedFrames > 3)
    stand.receive([1, 0, 7], on: ids[0].rawValue)
    #expect(stand.bench.sdus == [[7]])
    try stand.expectUnharmed()
  }

  @Test("L1 overlong frame: beyond the maximum of all channels it closes its channel; as a C-frame it is rejected")
  func overlong() throws {
    for cut in [3, 4, 5, 100] {
      var stand = ChannelHarness()
      let ids = stand.open([0x41, 0x42])
      let frame = HostHarness.frame(ids[0], [100, 0] + [UInt8](repeating: 7, count: 516))
      stand.bench.receive(Array(frame.prefix(cut)), on: stand.handle)
      stand.bench.receive(Array(frame.dropFirst(cut)), on: stand.handle, .continuing)
      #expect(stand.bench.closed == [ids[0]])
      #expect(
        try stand.contents() == [.disconnectionRequest(destination: ChannelHarness.id(0x41), source: ids[0])])
      let signal = HostHarness.frame(.signalling, [0x0A, 9, 0x54, 2] + [UInt8](repeating: 0, count: 596))
      stand.bench.receive(signal, on: stand.handle)
      #expect(try stand.contents() == [.commandReject(.signallingMTUExceeded(actual: 23))])
      // These channels do not exist: a frame that is too long for them has no effect.
      for channel in [L2CAP.ChannelID.attribute, .securityManager, ChannelHarness.id(0x7F), .none] {
        stand.bench.receive(HostHarness.frame(channel, [UInt8](repeating: 0, count: 600)), on: stand.handle)
      }
      #expect(stand.bench.data.isEmpty)
      #expect(stand.bench.closed == [ids[0]])
      try stand.expectUnharmed()
    }
  }

  @Test("L2 too many channels: requests with more than five, none, or half of one are rejected, and no channel opens")
  func tooMany() throws {
    var stand = ChannelHarness()
    _ = stand.open([0x41, 0x42], isEnhanced: true)
    for code in [UInt8(0x17), 0x19] {
      let fixed: [UInt8] = code == 0x17 ? [0x80, 0, 100, 0, 64, 0, 5, 0] : [200, 0, 64, 0]
      for extra in [0, 1, 3, 9, 11, 12, 20, 200] {
        let octets = fixed + (0..<extra).map { $0.isMultiple(of: 2) ? UInt8(0x41 + $0 / 2 % 60) : 0 }
        stand.bench.receive(.signalling, [code, 1, UInt8(octets.count), 0] + octets, on: stand.handle)
        for content in try stand.contents() {
          guard case .commandReject(let reason) = content else {
            Issue.record("\(content)")
            continue
          }
          let isLong = octets.count + 4 > L2CAP.signallingMTU
          #expect(reason == (isLong ? .signallingMTUExceeded(actual: 23) : .commandNotUnderstood))
        }
      }
    }
    #expect(stand.bench.channelEvents.isEmpty)
    try stand.expectUnharmed()
  }

  @Test("L3 fewer channels: the answer lists as many channels as were requested, with empty CIDs", arguments: 1...5)
  func fewer(count: Int) throws {
    var stand = ChannelHarness()
    dirty(stand.bench.pool)
    let sources = (0..<count).map { UInt16(0x50 + $0) }
    stand.receive(
      .creditBasedConnectionRequest(spsm: 0x00F0, ChannelHarness.parameters, sources: ChannelHarness.list(sources)))
    #expect(
      try stand.bench.payloads(on: stand.handle, .signalling) == [
        [0x18, 1, UInt8(8 + 2 * count), 0, 0, 0, 0, 0, 0, 0, 2, 0] + [UInt8](repeating: 0, count: 2 * count)
      ])
    try stand.expectUnharmed()
  }

  @Test(
    "L4 broken SDU: a truncated length, a length above the MTU, and excess octets disconnect the channel",
    arguments: [
      [[]], [[5]], [[0, 0, 1]], [[101, 0]], [[0xFF, 0xFF]], [[3, 0, 1], [2, 3, 4]], [[2, 0, 1, 2, 3]],
      [Array(repeating: 1, count: 65)], [[50, 0], [], Array(repeating: 1, count: 51)],
    ] as [[[UInt8]]])
  func brokenSDU(frames: [[UInt8]]) throws {
    var stand = ChannelHarness()
    let ids = stand.open([0x41, 0x42])
    for frame in frames { stand.receive(frame, on: ids[0].rawValue) }
    #expect(stand.bench.closed == [ids[0]])
    #expect(try stand.contents().last == .disconnectionRequest(destination: ChannelHarness.id(0x41), source: ids[0]))
    stand.receive([1, 0, 9], on: ids[0].rawValue)
    stand.receive([1, 0, 8], on: ids[1].rawValue)
    #expect(stand.bench.sdus == [[8]])
    try stand.expectUnharmed()
  }

  @Test("L5 credits: no initial ones, 0 more, too many, and data without credits get the specified reactions")
  func credits() throws {
    var stand = ChannelHarness()
    let none = L2CAP.CreditParameters(mtu: 100, mps: 64, initialCredits: 0)
    stand.receive(
      .creditBasedConnectionRequest(spsm: ChannelHarness.spsm, none, sources: ChannelHarness.list([0x41])))
    #expect(
      try stand.contents() == [
        .creditBasedConnectionResponse(.none, .invalidParameters, destinations: ChannelHarness.list([0]))
      ])
    let ids = stand.open([0x41, 0x42], none)
    for id in [UInt16(0x41), 0x42] { stand.receive(.flowControlCreditIndication(ChannelHarness.id(id), credits: 0)) }
    stand.receive(.flowControlCreditIndication(ChannelHarness.id(0x41), credits: 65_535))
    #expect(stand.bench.closed.isEmpty)
    stand.receive(.flowControlCreditIndication(ChannelHarness.id(0x41), credits: 1))
    #expect(stand.bench.closed == [ids[0]])
    for number in UInt8(0)...4 { stand.receive([1, 0, number], on: ids[1].rawValue) }
    #expect(stand.bench.sdus == [[0], [1], [2], [3]])
    #expect(stand.bench.closed == ids)
    try stand.expectUnharmed()
  }

  @Test("L6 EATT: its channels are refused as unsupported, and frames on them reach no ATT server")
  func enhancedATT() throws {
    var stand = ChannelHarness()
    stand.receive(
      .creditBasedConnectionRequest(
        spsm: 0x0027, ChannelHarness.parameters, sources: ChannelHarness.list([0x41, 0x42])))
    #expect(
      try stand.contents() == [
        .creditBasedConnectionResponse(.none, .spsmNotSupported, destinations: ChannelHarness.list([0, 0]))
      ])
    stand.receive([3, 0, 0x0A, 0, 0], on: 0x40)
    stand.receive(.disconnectionRequest(destination: ChannelHarness.id(0x40), source: ChannelHarness.id(0x41)))
    #expect(
      try stand.contents() == [
        .commandReject(.invalidCID(local: ChannelHarness.id(0x40), remote: ChannelHarness.id(0x41)))
      ])
    #expect(stand.bench.channelEvents.isEmpty)
    try stand.expectUnharmed()
  }

  @Test("L7 last words: an SDU just before the Disconnection Request is delivered, and no data after it")
  func lastWords() throws {
    var stand = ChannelHarness()
    let ids = stand.open([0x41])
    stand.receive([1, 0, 9], on: ids[0].rawValue)
    stand.receive(.disconnectionRequest(destination: ids[0], source: ChannelHarness.id(0x41)))
    stand.receive([1, 0, 8], on: ids[0].rawValue)
    #expect(stand.bench.sdus == [[9]])
    #expect(stand.bench.closed == ids)
    stand.acknowledge(ids[0])
    stand.close(ids[0])
    let isTaken = stand.send([1], on: ids[0])
    #expect(!isTaken)
    #expect(stand.channels?.isEmpty == true)
    try stand.expectUnharmed()
  }

  @Test("L8 confusion: CIDs of fixed channels, of other channels and invalid ones never affect an open channel")
  func confusion() throws {
    var stand = ChannelHarness()
    let ids = stand.open([0x41], isEnhanced: true)
    for (source, result) in [
      (0, L2CAP.ConnectionResult.invalidSourceCID), (1, .invalidSourceCID), (4, .invalidSourceCID),
      (5, .invalidSourceCID), (6, .invalidSourceCID), (0x3F, .invalidSourceCID), (0x80, .invalidSourceCID),
      (0xFFFF, .invalidSourceCID), (0x41, .sourceCIDAlreadyAllocated),
    ] {
      let id = ChannelHarness.id(UInt16(source))
      stand.receive(.leCreditBasedConnectionRequest(spsm: ChannelHarness.spsm, source: id, ChannelHarness.parameters))
      #expect(try stand.contents() == [.leCreditBasedConnectionResponse(destination: .none, .none, result)])
      guard source != 0x41 else { continue }
      stand.receive(.flowControlCreditIndication(id, credits: 1))
      stand.receive(.creditBasedReconfigureRequest(mtu: 200, mps: 64, destinations: L2CAP.ChannelList([id])))
      stand.receive(.disconnectionRequest(destination: id, source: ChannelHarness.id(0x41)))
      #expect(
        try stand.contents() == [
          .creditBasedReconfigureResponse(.invalidDestinationCID),
          .commandReject(.invalidCID(local: id, remote: ChannelHarness.id(0x41))),
        ])
    }
    // The same source twice in one request: the second one is already in use.
    stand.receive(
      .creditBasedConnectionRequest(
        spsm: ChannelHarness.spsm, ChannelHarness.parameters, sources: ChannelHarness.list([0x50, 0x50])))
    #expect(stand.bench.opened.count == 1)
    stand.receive([1, 0, 9], on: ids[0].rawValue)
    #expect(stand.bench.sdus == [[9]])
    #expect(stand.bench.closed.isEmpty)
    try stand.expectUnharmed()
  }

  @Test("L9 replies: each is as long as its fields and contains nothing of the earlier use of its memory")
  func replies() throws {
    var stand = ChannelHarness()
    dirty(stand.bench.pool)
    let parameters: [UInt8] = [100, 0, 64, 0, 5, 0]
    for (request, answer) in [
      ([0x0F, 1, 0, 0], [0x01, 1, 2, 0, 0, 0]),
      ([0x0F, 2, 40, 0] + [UInt8](repeating: 0xAA, count: 40), [0x01, 2, 4, 0, 1, 0, 23, 0]),
      ([0x06, 3, 4, 0, 0x41, 0, 0x42, 0], [0x01, 3, 6, 0, 2, 0, 0x41, 0, 0x42, 0]),
      ([0x14, 4, 10, 0, 0xF0, 0, 0x41, 0] + parameters, [0x15, 4, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0]),
      ([0x14, 5, 10, 0, 0x80, 0, 0x41, 0] + parameters, [0x15, 5, 10, 0, 0x40, 0, 100, 0, 64, 0, 4, 0, 0, 0]),
      (
        [0x17, 6, 10, 0, 0x80, 0] + parameters + [0x42, 0],
        [0x18, 6, 10, 0, 100, 0, 64, 0, 4, 0, 0, 0, 0x41, 0]
      ),
      ([0x19, 7, 6, 0, 0, 4, 64, 0, 0x42, 0], [0x1A, 7, 2, 0, 0, 0]),
      ([0x06, 8, 4, 0, 0x40, 0, 0x41, 0], [0x07, 8, 4, 0, 0x40, 0, 0x41, 0]),
      ([0x12, 9, 8, 0, 24, 0, 40, 0, 0, 0, 42, 0], [0x01, 9, 2, 0, 0, 0]),
    ] as [([UInt8], [UInt8])] {
      stand.bench.receive(.signalling, request, on: stand.handle)
      #expect(try stand.bench.frames(on: stand.handle).map(\.payload.bytes) == [answer])
      stand.bench.completeAll()
    }
    try stand.expectUnharmed()
  }

  @Test(
    "L10 signalling MTU: long, multiple, unknown and malformed commands get a Command Reject; responses get none"
  )
  func commands() throws {
    var stand = ChannelHarness()
    let credits: [UInt8] = [0x16, 2, 4, 0, 0x41, 0, 1, 0]
    for (octets, reason) in [
      ([0x0A, 4, 20, 0] + [UInt8](repeating: 0, count: 20), .signallingMTUExceeded(actual: 23)),
      (credits + credits + credits, .signallingMTUExceeded(actual: 23)), (credits + credits, .commandNotUnderstood),
      ([0x00, 2, 0, 0], .commandNotUnderstood), ([0xFF, 2, 0, 0], .commandNotUnderstood),
      ([0x12, 2, 2, 0, 0, 0], .commandNotUnderstood), ([0x06, 2, 5, 0, 1, 2, 3, 4, 5], .commandNotUnderstood),
      ([0x0F, 0, 0, 0], nil), ([0x14, 0] + credits.dropFirst(2), nil), ([0x14, 2, 10, 0, 0x80, 0], nil), ([0x14], nil),
      ([], nil), ([0x15, 2, 0, 0], nil), ([0x18, 2, 3, 0, 1, 2, 3], nil), ([0x01, 2, 0, 0], nil),
      ([0x07, 2] + [UInt8](repeating: 0, count: 40), nil), ([0x1A, 2, 20, 0] + [UInt8](repeating: 0, count: 20), nil),
    ] as [([UInt8], L2CAP.RejectReason?)] {
      stand.bench.receive(.signalling, octets, on: stand.handle)
      #expect(try stand.contents() == (reason.map { [.commandReject($0)] } ?? []), "\(octets)")
    }
    try stand.expectUnharmed()
  }

  @Test("L11 connection parameters: peripherals reject them, invalid values are rejected, a flood gives one update")
  func parameters() throws {
    let good = LinkParameters(minimumInterval: 24, maximumInterval: 40, latency: 0, supervisionTimeout: 42)
    var peripheral = ChannelHarness()
    peripheral.receive(.connectionParameterUpdateRequest(good))
    #expect(try peripheral.contents() == [.commandReject(.commandNotUnderstood)])
    try peripheral.expectUnharmed()
    var central = ChannelHarness(.central)
    for (minimum, maximum, latency, timeout) in [
      (5, 40, 0, 42), (40, 24, 0, 42), (24, 3_201, 0, 3_200), (24, 40, 500, 3_200), (24, 40, 0, 9), (24, 40, 0, 10),
      (24, 40, 0, 3_201), (0, 0, 0, 0), (65_535, 65_535, 65_535, 65_535),
    ] as [(UInt16, UInt16, UInt16, UInt16)] {
      let bad = LinkParameters(
        minimumInterval: minimum, maximumInterval: maximum, latency: latency, supervisionTimeout: timeout)
      central.receive(.connectionParameterUpdateRequest(bad))
      #expect(try central.contents() == [.connectionParameterUpdateResponse(isAccepted: false)])
    }
    #expect(central.bench.commands.isEmpty)
    for _ in 0..<1_000 {
      central.receive(.connectionParameterUpdateRequest(good))
      central.bench.completeAll()
    }
    #expect(central.bench.commands.count == 1)
    central.stall()
    for _ in 0..<1_000 { central.receive(.connectionParameterUpdateRequest(good)) }
    #expect(central.bench.pool.count < 100)
    try central.expectUnharmed()
  }

  @Test("L12 unsolicited responses: whatever their identifier, they change nothing and are not answered")
  func unsolicited() throws {
    var stand = ChannelHarness()
    let ids = stand.open([0x41], isEnhanced: true)
    let open = try stand.ask()
    let answers: [L2CAP.SignalContent] = [
      .leCreditBasedConnectionResponse(
        destination: ChannelHarness.id(0x50), ChannelHarness.parameters, .successful),
      .creditBasedConnectionResponse(ChannelHarness.parameters, .successful, destinations: ChannelHarness.list([0x51])),
      .creditBasedReconfigureResponse(.successful), .connectionParameterUpdateResponse(isAccepted: true),
      .disconnectionResponse(destination: ChannelHarness.id(0x41), source: ids[0]),
      .commandReject(.commandNotUnderstood),
      .commandReject(.other(9, data: [1])),
    ]
    for identifier in UInt8(1)...255 where identifier != open {
      for answer in answers { stand.receive(answer, identifier: identifier) }
    }
    // Responses of another type than the request's.
    for answer in answers.dropFirst().prefix(4) { stand.receive(answer, identifier: open) }
    #expect(stand.bench.data.isEmpty)
    #expect(stand.bench.channelEvents.isEmpty)
    stand.receive(answers[0], identifier: open)
    #expect(stand.bench.opened.count == 1)
    try stand.expectUnharmed()
  }

  /// Fills the pool's storages with octets that could leak.
  private func dirty(_ pool: PacketPool) {
    var kept: [ByteSlice] = []
    for _ in 0..<pool.count + 16 {
      var writer = ByteWriter(pool)
      for _ in 0..<500 { writer.append(UInt8(0xA5)) }
      kept.append(writer.finish())
    }
  }
}
