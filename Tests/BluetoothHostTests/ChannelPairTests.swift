import BluetoothHost
import BluetoothWire
import Requirements
import Testing

/// LE credit based channels between two hosts.
@Suite("Credit based channels between two hosts")
struct ChannelPairTests {
  @Test(
    "SDUs of any length arrive once, complete and in order, on any number of channels in both directions",
    arguments: 0..<12)
  func anything(seed: Int) throws {
    var random = RandomStream(seed: UInt64(seed))
    var pair = HostPair(aclLength: [27, 251, 1_021][seed % 3], aclCount: UInt8(1 + seed % 5))
    pair.run()
    var course = Course(pair: pair)
    try course.openSome(isEnhanced: seed.isMultiple(of: 2), random: &random)
    for _ in 0..<600 { course.act(&random) }
    course.finish()
    #expect(course.sent.values.reduce(0) { $0 + $1.count } > 100)
    for (end, sdus) in course.sent { #expect(course.received[end, default: []] == sdus) }
    #expect(course.received.keys.allSatisfy { course.sent[$0] != nil })
  }

  @Test("After a reconfiguration the peer may send longer SDUs")
  func reconfiguration() throws {
    var pair = HostPair(aclLength: 251, aclCount: 8)
    pair.run()
    let published = pair.peripheral.host.publishChannel(ChannelSettings(mtu: 100, mps: 64, credits: 4))
    let spsm = try #require(published)
    let (atCentral, atPeripheral) = (pair.atCentral, pair.atPeripheral)
    pair.central.perform { host, now in
      host.openChannels(
        spsm: spsm, count: 2, isEnhanced: true, ChannelSettings(mtu: 100), token: ChannelToken(rawValue: 1),
        on: atCentral, at: now)
    }
    pair.run()
    let ids = pair.peripheral.opened.map(\.id)
    #expect(ids.count == 2)
    pair.peripheral.perform { host, now in host.reconfigure(ids, mtu: 500, mps: 200, on: atPeripheral, at: now) }
    pair.run()
    #expect(pair.central.channelEvents.count { if case .reconfigured = $0 { true } else { false } } == 2)
    let sdu = ByteSlice((0..<500).map { UInt8(truncatingIfNeeded: $0) })
    let channel = try #require(pair.central.opened.first)
    pair.central.send(sdu, channel.id, atCentral)
    pair.run()
    #expect(pair.peripheral.sdus == [sdu.bytes])
  }

  @Test(
    "An SDU of the maximum length of 65,535 octets arrives complete, in frames that fill a packet", .requirement("L197")
  )
  func longest() throws {
    var pair = HostPair(aclLength: 251, aclCount: 8)
    pair.run()
    let settings = ChannelSettings(mtu: .max)
    let published = pair.peripheral.host.publishChannel(settings)
    let spsm = try #require(published)
    let atCentral = pair.atCentral
    pair.central.perform { host, now in
      host.openChannels(spsm: spsm, settings, token: ChannelToken(rawValue: 1), on: atCentral, at: now)
    }
    pair.run()
    let channel = try #require(pair.central.opened.first)
    let sdu = ByteSlice((0..<65_535).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
    pair.central.send(sdu, channel.id, atCentral)
    pair.run()
    #expect(pair.peripheral.sdus == [sdu.bytes])
  }

  @Test("A host that unpublishes a service keeps its channels to the peer's service with the same SPSM")
  func sameNumber() throws {
    var pair = HostPair(aclLength: 251, aclCount: 8)
    pair.run()
    let spsms = [
      pair.central.host.publishChannel(ChannelSettings()), pair.peripheral.host.publishChannel(ChannelSettings()),
    ]
    #expect(spsms == [0x0080, 0x0080])
    let atCentral = pair.atCentral
    pair.central.perform { host, now in
      host.openChannels(spsm: 0x0080, ChannelSettings(), token: ChannelToken(rawValue: 1), on: atCentral, at: now)
    }
    pair.run()
    pair.central.perform { host, now in host.unpublishChannel(spsm: 0x0080, at: now) }
    pair.run()
    #expect(pair.central.closed.isEmpty)
    #expect(pair.peripheral.closed.isEmpty)
    pair.central.send([1], try #require(pair.central.opened.first).id, atCentral)
    pair.run()
    #expect(pair.peripheral.sdus == [[1]])
  }

  @Test("Channels and ATT share a link, and neither delays the other")
  func fairness() throws {
    var pair = HostPair(aclLength: 251, aclCount: 1)
    pair.run()
    let published = pair.peripheral.host.publishChannel(ChannelSettings(mtu: 20_000, mps: 247, credits: 1_000))
    let spsm = try #require(published)
    let atCentral = pair.atCentral
    pair.central.perform { host, now in
      host.openChannels(spsm: spsm, ChannelSettings(), token: ChannelToken(rawValue: 1), on: atCentral, at: now)
    }
    pair.run()
    let channel = try #require(pair.central.opened.first)
    for _ in 0..<4 { pair.central.send(ByteSlice(Array(repeating: 1, count: 20_000)), channel.id, atCentral) }
    pair.central.perform { host, now in
      host.request(.discoverPrimaryServices, token: 3, on: atCentral, at: now)
    }
    var turns = 0
    while !pair.central.hasCompleted(3), turns < 100 {
      pair.pass()
      turns += 1
    }
    // Each of the two requests waits for one frame of the channel at most.
    #expect(turns < 12)
    pair.run()
    #expect(pair.peripheral.sdus.map(\.count) == [20_000, 20_000, 20_000, 20_000])
  }
}

/// A random course in which two hosts open channels, send, acknowledge and close.
private struct Course {
  /// A channel, as its receiving side sees it.
  struct End: Hashable {
    let isCentral: Bool
    let id: L2CAP.ChannelID
  }

  var pair: HostPair
  private var channels: [(central: Channel, peripheral: Channel)] = []
  var sent: [End: [[UInt8]]] = [:]
  var received: [End: [[UInt8]]] = [:]
  private var unacknowledged: [End] = []

  init(pair: HostPair) { self.pair = pair }

  mutating func openSome(isEnhanced: Bool, random: inout RandomStream) throws {
    let mtu = UInt16.random(in: 64...3_000, using: &random)
    let settings = ChannelSettings(
      mtu: mtu, mps: UInt16.random(in: 64...517, using: &random), credits: UInt16.random(in: 1...40, using: &random))
    let published = pair.peripheral.host.publishChannel(settings)
    let spsm = try #require(published)
    let handle = pair.atCentral
    for number in UInt64(0)..<3 {
      pair.central.perform { host, now in
        host.openChannels(
          spsm: spsm, count: 3, isEnhanced: isEnhanced,
          ChannelSettings(mtu: mtu / 2 + 64, mps: 100, credits: UInt16(number + 1)),
          token: ChannelToken(rawValue: number),
          on: handle, at: now)
      }
      pair.run()
    }
    channels = Array(zip(pair.central.opened, pair.peripheral.opened)).map { ($0, $1) }
    #expect(channels.count == (isEnhanced ? 9 : 3))
    pair.central.forget()
    pair.peripheral.forget()
  }

  mutating func act(_ random: inout RandomStream) {
    let (central, peripheral) = channels[Int.random(in: channels.indices, using: &random)]
    let isCentral = Bool.random(using: &random)
    let channel = isCentral ? central : peripheral
    switch Int.random(in: 0..<4, using: &random) {
    case 0, 1:
      let length = Int.random(in: 1...channel.sendMTU, using: &random)
      let sdu = (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }
      let isTaken =
        isCentral
        ? pair.central.sendOnChannel(ByteSlice(sdu), channel.id, pair.atCentral)
        : pair.peripheral.sendOnChannel(ByteSlice(sdu), channel.id, pair.atPeripheral)
      let end = End(isCentral: !isCentral, id: isCentral ? peripheral.id : central.id)
      if isTaken { sent[end, default: []].append(sdu) }
    case 2: acknowledge(upTo: Int.random(in: 0...5, using: &random))
    default: for _ in 0..<Int.random(in: 1...5, using: &random) { pair.pass() }
    }
    collect()
  }

  mutating func finish() {
    while true {
      pair.run()
      collect()
      guard !unacknowledged.isEmpty else { return }
      acknowledge(upTo: unacknowledged.count)
    }
  }

  private mutating func acknowledge(upTo count: Int) {
    for end in unacknowledged.prefix(count) {
      if end.isCentral {
        let handle = pair.atCentral
        pair.central.perform { host, now in host.acknowledge(end.id, on: handle, at: now) }
      } else {
        let handle = pair.atPeripheral
        pair.peripheral.perform { host, now in host.acknowledge(end.id, on: handle, at: now) }
      }
    }
    unacknowledged.removeFirst(min(count, unacknowledged.count))
  }

  private mutating func collect() {
    for (isCentral, events) in [(true, pair.central.channelEvents), (false, pair.peripheral.channelEvents)] {
      for event in events {
        switch event {
        case .received(let id, let sdu):
          let end = End(isCentral: isCentral, id: id)
          received[end, default: []].append(sdu.bytes)
          unacknowledged.append(end)
        case .hasRoom: break
        default: Issue.record("\(event)")
        }
      }
    }
    pair.central.events.removeAll()
    pair.peripheral.events.removeAll()
  }
}

extension HostHarness {
  fileprivate func hasCompleted(_ token: GATTToken) -> Bool {
    events.contains { if case .gatt(_, .completed(token, _)) = $0 { true } else { false } }
  }
}
