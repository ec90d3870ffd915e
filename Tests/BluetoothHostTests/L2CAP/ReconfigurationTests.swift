import BluetoothWire
import Testing

@testable import BluetoothHost

/// Reconfiguration of enhanced channels · Vol 3, Part A, 4.27, 4.28.
@Suite("Reconfiguration of channels")
struct ReconfigurationTests {
  private func isTaken(_ stand: inout ChannelHarness, length: Int, on id: L2CAP.ChannelID) -> Bool {
    stand.receive([UInt8(length & 0xFF), UInt8(length >> 8)] + Array(repeating: 1, count: 60), on: id.rawValue)
    return !stand.bench.closed.contains(id)
  }

  @Test("New limits are accepted from the peer at once, and apply after it has agreed")
  func agreed() throws {
    var stand = ChannelHarness()
    let ids = stand.open([0x41, 0x42], isEnhanced: true)
    stand.reconfigure(ids, mtu: 300, mps: 80)
    let request = try #require(try stand.signals().first)
    #expect(
      request.content == .creditBasedReconfigureRequest(mtu: 300, mps: 80, destinations: L2CAP.ChannelList(ids)))
    #expect(isTaken(&stand, length: 300, on: ids[0]))
    #expect(stand.bench.reconfigured.isEmpty)
    stand.receive(.creditBasedReconfigureResponse(.successful), identifier: request.identifier)
    #expect(stand.bench.reconfigured.map(\.receiveMTU) == [300, 300])
    #expect(isTaken(&stand, length: 300, on: ids[1]))
  }

  @Test(
    "Limits that the peer refuses do not apply: longer SDUs and frames close the channel again",
    arguments: [L2CAP.ReconfigureResult.mtuReductionNotAllowed, .otherUnacceptableParameters, .init(rawValue: 0x77)])
  func refused(result: L2CAP.ReconfigureResult) throws {
    var stand = ChannelHarness()
    let ids = stand.open([0x41, 0x42], isEnhanced: true)
    stand.reconfigure(ids, mtu: 300, mps: 80)
    let identifier = try #require(try stand.signals().first?.identifier)
    stand.receive(.creditBasedReconfigureResponse(result), identifier: identifier)
    #expect(stand.bench.reconfigurationFailures == [.refused(result)])
    #expect(!isTaken(&stand, length: 101, on: ids[0]))
    stand.receive([100, 0] + Array(repeating: 1, count: 63), on: ids[1].rawValue)
    #expect(stand.bench.closed == ids)
  }

  @Test("A reconfiguration fails if the peer does not understand or does not answer the request")
  func unanswered() throws {
    var stand = ChannelHarness()
    let ids = stand.open([0x41], isEnhanced: true)
    stand.reconfigure(ids, mtu: 300)
    let identifier = try #require(try stand.signals().first?.identifier)
    stand.receive(.commandReject(.commandNotUnderstood), identifier: identifier)
    stand.reconfigure(ids, mtu: 300)
    stand.bench.passToDeadline()
    #expect(stand.bench.reconfigurationFailures == [.notUnderstood, .timeout])
    // A peer that did not answer may have agreed.
    #expect(isTaken(&stand, length: 300, on: ids[0]))
    stand.reconfigure(ids, mtu: 400)
    #expect(stand.bench.reconfigurationFailures.count == 2)
  }

  @Test("An invalid reconfiguration fails at once as a whole, and nothing is sent")
  func impossible() throws {
    var stand = ChannelHarness()
    let ids = stand.open([0x41, 0x42], isEnhanced: true)
    let plain = stand.open([0x43])
    let nobody = ChannelHarness.id(0x7F)
    for (channels, mtu, mps) in [
      ([nobody], 300, 64), (plain, 300, 64), ([ids[0], nobody], 300, 64), ([ids[0], plain[0]], 300, 64),
      ([ids[0], ids[0]], 300, 64), ([], 300, 64), (ids, 99, 64), (Array(repeating: ids[0], count: 6), 300, 64),
    ] as [([L2CAP.ChannelID], UInt16, UInt16)] {
      stand.reconfigure(channels, mtu: mtu, mps: mps)
    }
    #expect(stand.bench.reconfigurationFailures == Array(repeating: .notPossible, count: 8))
    // A smaller MPS is valid for one channel alone.
    stand.reconfigure(ids, mtu: 300, mps: 100)
    let first = try #require(try stand.signals().last?.identifier)
    stand.receive(.creditBasedReconfigureResponse(.successful), identifier: first)
    stand.clear()
    stand.reconfigure(ids, mtu: 300, mps: 99)
    #expect(stand.bench.reconfigurationFailures == [.notPossible])
    stand.reconfigure([ids[0]], mtu: 300, mps: 64)
    let second = try #require(try stand.signals().last?.identifier)
    stand.receive(.creditBasedReconfigureResponse(.successful), identifier: second)
    stand.receive([200, 0] + Array(repeating: 1, count: 63), on: ids[0].rawValue)
    #expect(stand.bench.closed == [ids[0]])
  }

  @Test("Each answer belongs to its own reconfiguration; a channel has one at a time")
  func several() throws {
    var stand = ChannelHarness()
    let ids = stand.open([0x41, 0x42, 0x43], isEnhanced: true)
    stand.reconfigure([ids[0]], mtu: 200)
    stand.reconfigure([ids[1], ids[2]], mtu: 300)
    stand.reconfigure([ids[0], ids[2]], mtu: 400)
    #expect(stand.bench.reconfigurationFailures == [.notPossible])
    let identifiers = try stand.signals().map(\.identifier)
    #expect(identifiers.count == 2)
    stand.receive(.creditBasedReconfigureResponse(.otherUnacceptableParameters), identifier: identifiers[1])
    stand.receive(.creditBasedReconfigureResponse(.successful), identifier: identifiers[0])
    #expect(stand.bench.reconfigured.map(\.id) == [ids[0]])
    #expect(stand.bench.reconfigured.map(\.receiveMTU) == [200])
    #expect(!isTaken(&stand, length: 101, on: ids[1]))
  }

  @Test("A closed channel takes no further part in a reconfiguration, and its successor is not affected")
  func gone() throws {
    var stand = ChannelHarness()
    let ids = stand.open([0x41, 0x42], isEnhanced: true)
    stand.reconfigure(ids, mtu: 300)
    let identifier = try #require(try stand.signals().first?.identifier)
    stand.receive(.disconnectionRequest(destination: ids[0], source: ChannelHarness.id(0x41)))
    // Enough channels that the CID is used again.
    for _ in 0..<63 {
      let id = try #require(stand.open([0x41], isEnhanced: true).first)
      if id == ids[0] { break }
      stand.receive(.disconnectionRequest(destination: id, source: ChannelHarness.id(0x41)))
    }
    #expect(stand.channels?.channels.map(\.local) == [ids[1], ids[0]])
    stand.clear()
    stand.receive(.creditBasedReconfigureResponse(.successful), identifier: identifier)
    #expect(stand.bench.reconfigured.map(\.id) == [ids[1]])
    #expect(!isTaken(&stand, length: 101, on: ids[0]))
  }

  @Test("A reconfiguration that was not sent is withdrawn with its last channel")
  func takenBack() throws {
    var stand = ChannelHarness(aclCount: 2)
    let ids = stand.open([0x41], isEnhanced: true)
    stand.stall()
    stand.reconfigure(ids, mtu: 300)
    stand.close(ids[0])
    let said = try stand.contents()
    #expect(said == [.disconnectionRequest(destination: ChannelHarness.id(0x41), source: ids[0])])
    #expect(stand.channels?.requests.count == 1)
  }
}
