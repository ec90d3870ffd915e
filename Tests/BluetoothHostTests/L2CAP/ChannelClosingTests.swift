import BluetoothWire
import Testing

@testable import BluetoothHost

/// Channels that close after their queued data has been sent.
@Suite("Closing channels with queued data")
struct ChannelClosingTests {
  private static let parameters = L2CAP.CreditParameters(mtu: 100, mps: 64, initialCredits: 1)

  private func closeWhenSent(_ id: L2CAP.ChannelID, _ stand: inout ChannelHarness) {
    stand.bench.perform { [handle = stand.handle] host, now in host.closeChannelWhenSent(id, on: handle, at: now) }
  }

  /// Returns the numbers of frames and of Disconnection Requests that the peer has received.
  private func take(_ stand: inout ChannelHarness) throws -> (frames: Int, closes: Int) {
    var result = (frames: 0, closes: 0)
    while !stand.bench.data.isEmpty {
      for frame in try stand.bench.frames(on: stand.handle) {
        if frame.channel == ChannelHarness.id(0x41) {
          #expect(result.closes == 0, "nothing follows the request to close it")
          result.frames += 1
        } else if case .disconnectionRequest = try L2CAP.Signal(frame.payload).content {
          result.closes += 1
        }
      }
      let packets = stand.bench.data
      stand.bench.data.removeAll()
      for packet in packets {
        stand.bench.receive(
          .numberOfCompletedPackets(HCI.CompletedPackets(packet.handle, count: 1, in: stand.bench.pool)))
      }
    }
    return result
  }

  private func send(_ count: Int, on id: L2CAP.ChannelID, _ stand: inout ChannelHarness) {
    for _ in 0..<count {
      let isTaken = stand.send([1, 2, 3], on: id)
      #expect(isTaken)
    }
  }

  private func expect(
    _ frames: Int, _ closes: Int, _ stand: inout ChannelHarness, location: SourceLocation = #_sourceLocation
  ) throws {
    let taken = try take(&stand)
    #expect(taken == (frames, closes), sourceLocation: location)
  }

  @Test("A channel waits for the peer's credits before it closes, and accepts no more data meanwhile")
  func waiting() throws {
    var stand = ChannelHarness()
    let id = try #require(stand.open([0x41], Self.parameters).first)
    send(3, on: id, &stand)
    closeWhenSent(id, &stand)
    try expect(1, 0, &stand)
    let isTaken = stand.send([4], on: id)
    #expect(!isTaken && stand.bench.closed.isEmpty)
    stand.receive(.flowControlCreditIndication(ChannelHarness.id(0x41), credits: 1))
    try expect(1, 0, &stand)
    stand.receive(.flowControlCreditIndication(ChannelHarness.id(0x41), credits: 9))
    try expect(1, 1, &stand)
    #expect(stand.bench.closed == [id])
    try stand.expectUnharmed()
  }

  @Test("A channel without queued data closes at once")
  func idle() throws {
    var stand = ChannelHarness()
    let id = try #require(stand.open([0x41], Self.parameters).first)
    closeWhenSent(id, &stand)
    try expect(0, 1, &stand)
    #expect(stand.bench.closed == [id])
  }

  @Test("The end of a close is confirmed if the peer answers it, or closes the channel after the last data")
  func confirmation() throws {
    var stand = ChannelHarness()
    let ids = stand.open([0x41, 0x42, 0x43, 0x44, 0x45, 0x46], Self.parameters)
    // Answered.
    send(1, on: ids[0], &stand)
    closeWhenSent(ids[0], &stand)
    let signals = try stand.signals()
    let request = try #require(signals.last)
    #expect(stand.bench.closed == [ids[0]] && stand.bench.closeEnds.isEmpty)
    stand.receive(
      .disconnectionResponse(destination: ChannelHarness.id(0x41), source: ids[0]), identifier: request.identifier)
    #expect(stand.bench.closeEnds == ["\(ids[0]) true"])
    // Closed by the peer while data wait for its credits.
    send(2, on: ids[1], &stand)
    closeWhenSent(ids[1], &stand)
    stand.receive(.disconnectionRequest(destination: ids[1], source: ChannelHarness.id(0x42)))
    #expect(stand.bench.closeEnds.last == "\(ids[1]) false")
    // Closed by the peer before.
    stand.receive(.disconnectionRequest(destination: ids[2], source: ChannelHarness.id(0x43)))
    closeWhenSent(ids[2], &stand)
    #expect(stand.bench.closeEnds.last == "\(ids[2]) false")
    #expect(stand.bench.closeEnds.count == 3)
    _ = try stand.signals()
    // Closed by the peer while the last data are in the controller.
    send(1, on: ids[3], &stand)
    closeWhenSent(ids[3], &stand)
    stand.receive(.disconnectionRequest(destination: ids[3], source: ChannelHarness.id(0x44)))
    #expect(stand.bench.closeEnds.last == "\(ids[3]) false")
    _ = try stand.signals()
    // Closed by the peer when the controller has delivered the last data and the request that follows them.
    send(1, on: ids[4], &stand)
    closeWhenSent(ids[4], &stand)
    _ = try stand.signals()
    stand.receive(.disconnectionRequest(destination: ids[4], source: ChannelHarness.id(0x45)))
    #expect(stand.bench.closeEnds.last == "\(ids[4]) true")
    _ = try stand.signals()
    // Closed by the peer when only the request that follows the last data is in the controller.
    send(1, on: ids[5], &stand)
    _ = try stand.signals()
    closeWhenSent(ids[5], &stand)
    #expect(!stand.bench.data.isEmpty)
    stand.receive(.disconnectionRequest(destination: ids[5], source: ChannelHarness.id(0x46)))
    #expect(stand.bench.closeEnds.last == "\(ids[5]) true")
    #expect(stand.bench.closeEnds.count == 6 && stand.bench.closed == ids)
    try stand.expectUnharmed()
  }

  @Test(
    "At the end of a link, a close is confirmed if the controller had delivered every packet", arguments: [true, false])
  func endOfLink(isDelivered: Bool) throws {
    var stand = ChannelHarness()
    let id = try #require(stand.open([0x41], Self.parameters).first)
    send(1, on: id, &stand)
    closeWhenSent(id, &stand)
    if isDelivered {
      try expect(1, 1, &stand)
    } else {
      #expect(!stand.bench.data.isEmpty)
    }
    #expect(stand.bench.closeEnds.isEmpty)
    stand.bench.receive(.disconnectionComplete(.success, stand.handle, reason: .remoteUserTerminatedConnection))
    #expect(stand.bench.closeEnds == (isDelivered ? ["\(id) true"] : []))
  }

  @Test("The peer, or the upper layer without the queued data, can close a channel that is waiting to close")
  func otherwise() throws {
    var stand = ChannelHarness()
    let ids = stand.open([0x41, 0x42], Self.parameters)
    for id in ids {
      send(3, on: id, &stand)
      closeWhenSent(id, &stand)
    }
    stand.receive(.disconnectionRequest(destination: ids[0], source: ChannelHarness.id(0x41)))
    stand.close(ids[1])
    #expect(stand.bench.closed == ids)
    try stand.expectUnharmed()
  }
}
