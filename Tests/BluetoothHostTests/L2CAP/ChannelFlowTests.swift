import BluetoothWire
import Testing

@testable import BluetoothHost

/// The bandwidth share of a link's channels, and the memory cost of their SDUs.
@Suite("Channel scheduling and memory")
struct ChannelFlowTests {
  @Test(
    "Busy channels get equal numbers of frames, whichever started first", arguments: [2, 3, 8])
  func shares(count: Int) throws {
    var stand = ChannelHarness(aclCount: 2)
    let sources = (0..<count).map { UInt16(0x41 + $0) }
    let parameters = L2CAP.CreditParameters(mtu: 20_000, mps: 64, initialCredits: 10_000)
    let ids = stand.open(sources, parameters)
    let sdu = [UInt8](repeating: 1, count: 20_000)
    for id in ids { while stand.send(sdu, on: id) {} }
    var frames: [L2CAP.ChannelID: Int] = [:]
    for _ in 0..<50 * count {
      for frame in try stand.bench.frames(on: stand.handle) { frames[frame.channel, default: 0] += 1 }
      let packets = stand.bench.data
      stand.bench.data.removeAll()
      for packet in packets {
        stand.bench.receive(
          .numberOfCompletedPackets(HCI.CompletedPackets(packet.handle, count: 1, in: stand.bench.pool)))
      }
    }
    #expect(frames.count == count)
    let most = frames.values.max() ?? 0
    #expect(most >= 49)
    #expect(frames.values.allSatisfy { most - $0 <= 1 })
  }

  @Test("Beside a channel that sends endlessly, ATT gets every second frame, and signals go first")
  func besideATT() throws {
    var stand = ChannelHarness(aclCount: 2)
    let parameters = L2CAP.CreditParameters(mtu: 20_000, mps: 64, initialCredits: 10_000)
    let id = try #require(stand.open([0x41], parameters).first)
    while stand.send([UInt8](repeating: 1, count: 20_000), on: id) {}
    var order: [L2CAP.ChannelID] = []
    for _ in 0..<40 {
      // One read at a time, and one signalling command.
      stand.bench.receive(.attribute, [0x0A, 3, 0], on: stand.handle)
      stand.bench.receive(.signalling, [0x0F, 5, 0, 0], on: stand.handle)
      for _ in 0..<3 {
        let packets = stand.bench.data
        stand.bench.data.removeAll()
        for packet in packets {
          order.append(try L2CAP.Frame(packet.payload).channel)
          stand.bench.receive(
            .numberOfCompletedPackets(HCI.CompletedPackets(packet.handle, count: 1, in: stand.bench.pool)))
        }
      }
    }
    // Each round has room for three frames: one of each kind.
    let counts = [L2CAP.ChannelID.signalling, .attribute, ChannelHarness.id(0x41)].map { id in order.count { $0 == id }
    }
    #expect(counts.allSatisfy { $0 >= 39 })
  }

  @Test("SDUs of 2,048 octets flow without new memory once the pools are filled")
  func steady() throws {
    var pair = HostPair(aclLength: 251, aclCount: 8)
    pair.run()
    let settings = ChannelSettings(mtu: 2_048, mps: 247, credits: 32)
    let published = pair.peripheral.host.publishChannel(settings)
    let spsm = try #require(published)
    let (atCentral, atPeripheral) = (pair.atCentral, pair.atPeripheral)
    pair.central.perform { host, now in
      host.openChannels(spsm: spsm, settings, token: ChannelToken(rawValue: 1), on: atCentral, at: now)
    }
    pair.run()
    let id = try #require(pair.central.opened.first?.id)
    let sdu = ByteSlice((0..<2_048).map { UInt8(truncatingIfNeeded: $0) })
    var counts: [Int] = []
    for round in 0..<300 {
      pair.peripheral.events.removeAll()
      pair.central.send(sdu, id, atCentral)
      pair.run()
      let events = pair.peripheral.channelEvents
      #expect(events.count == 1)
      for case .received(let id, let received) in events {
        #expect(received == sdu)
        pair.peripheral.perform { host, now in host.acknowledge(id, on: atPeripheral, at: now) }
      }
      if round == 20 || round == 299 { counts.append(pair.central.pool.count + pair.peripheral.pool.count) }
    }
    #expect(counts.first == counts.last)
    #expect(counts[0] < 60)
  }

  @Test("A peer that sends an SDU in frames of one octet uses no more memory than the SDU")
  func smallFrames() throws {
    var stand = ChannelHarness(.peripheral, ChannelSettings(mtu: 60_000, mps: 64, credits: 100))
    let ids = stand.open([0x41, 0x42, 0x43])
    let before = stand.bench.pool.count
    for id in ids { stand.receive([0x60, 0xEA], on: id.rawValue) }
    for number in 0..<20_000 {
      var writer = ByteWriter(stand.bench.pool)
      writer.append(UInt8(truncatingIfNeeded: number))
      let frame = writer.finishFrame(on: ids[number % 3])
      stand.bench.host.receive(
        .acl(HCI.ACLData(handle: stand.handle, boundary: .firstFlushable, payload: frame)), at: stand.bench.now)
      stand.bench.run()
      stand.clear()
    }
    #expect(stand.channels?.channels.count == 3)
    #expect(stand.bench.pool.count < before + 20)
  }

  @Test("The pool keeps as many storages of each length as are used at once, but at most 32 long ones")
  func pool() {
    let pool = PacketPool()
    for length in [600, 2_048, 2_048, 9_000, 65_535, 2_048] { _ = pool.take(capacity: length) }
    #expect(pool.count == 4)
    var kept: [PacketStorage] = []
    for _ in 0..<100 { kept.append(pool.take(capacity: 2_048)) }
    #expect(pool.count == 3 + 32)
    #expect(Set(kept.map { ObjectIdentifier($0) }).count == 100)
    let collector = ByteCollector(pool, capacity: 3)
    var first = collector
    let isAdded = [first.append([1, 2]), first.append([3, 4]), first.append([3])]
    #expect(isAdded == [true, false, true])
    #expect(first.finish() == [1, 2, 3])
  }
}
