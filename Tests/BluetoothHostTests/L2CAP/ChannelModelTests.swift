import BluetoothWire
import Testing

@testable import BluetoothHost

/// Two hosts use all channel operations at random and with random delays, and a plain model predicts the results.
@Suite("Channels against a model")
struct ChannelModelTests {
  @Test(
    "For any sequence of operations every SDU arrives once and in order, credits stay in range, and no state is left",
    arguments: 0..<10)
  func course(seed: Int) throws {
    var random = RandomStream(seed: UInt64(seed) + 77)
    var course = ModelCourse(aclLength: [27, 251, 1_021][seed % 3], aclCount: UInt8(1 + seed % 6))
    try course.publish()
    for _ in 0..<1_200 { course.act(&random) }
    course.finish()
    #expect(course.connections.count > 20)
    #expect(course.arrived > 100)
  }
}

private struct ModelCourse {
  enum Side: Int, CaseIterable {
    case central
    case peripheral
    var other: Side { self == .central ? .peripheral : .central }
  }

  /// One channel, as the model describes it.
  struct Connection {
    var ends: [Side: L2CAP.ChannelID] = [:]
    var isOpen: Set<Side> = []
    var isClosing = false
    var sent: [Side: [[UInt8]]] = [:]
    var received: [Side: Int] = [:]
  }

  private var pair: HostPair
  private(set) var connections: [Connection] = []
  private(set) var arrived = 0
  private var spsms: [Side: UInt16] = [:]
  private var unacknowledged: [(Side, L2CAP.ChannelID)] = []
  private var serial = 0

  init(aclLength: UInt16, aclCount: UInt8) {
    pair = HostPair(aclLength: aclLength, aclCount: aclCount)
    pair.run()
    pair.central.forget()
    pair.peripheral.forget()
  }

  mutating func publish() throws {
    for side in Side.allCases {
      with(side) { bench, _ in
        let spsm = bench.host.publishChannel(ChannelSettings(mtu: 700, mps: 100, credits: 3))
        #expect(spsm == 0x0080)
      }
    }
  }

  private mutating func with<R>(_ side: Side, _ body: (inout HostHarness, HCI.ConnectionHandle) -> R) -> R {
    switch side {
    case .central: body(&pair.central, pair.atCentral)
    case .peripheral: body(&pair.peripheral, pair.atPeripheral)
    }
  }

  private mutating func channels(_ side: Side) -> CreditChannels {
    with(side) { bench, _ in bench.host.table.all[0].channels }
  }

  // MARK: Operations

  mutating func act(_ random: inout RandomStream) {
    let side = random.next() & 1 == 0 ? Side.central : .peripheral
    switch random.next() % 16 {
    case 0: open(side, &random)
    case 1 where random.next() % 3 == 0: close(side, &random)
    case 2: reconfigure(side, &random)
    case 3...7: send(side, &random)
    case 8, 9: acknowledge(Int(random.next() % 4))
    default: deliver(from: side, Int(random.next() % 6))
    }
    collect()
    check()
  }

  private mutating func open(_ side: Side, _ random: inout RandomStream) {
    guard channels(side).channels.count < 24 else { return }
    let settings = ChannelSettings(
      mtu: UInt16.random(in: 64...2_100, using: &random), mps: UInt16.random(in: 64...517, using: &random),
      credits: UInt16.random(in: 1...20, using: &random))
    let (isEnhanced, count) = (random.next() & 1 == 0, Int.random(in: 1...5, using: &random))
    with(side) { bench, handle in
      bench.perform { host, now in
        host.openChannels(
          spsm: 0x0080, count: count, isEnhanced: isEnhanced, settings, token: ChannelToken(rawValue: 1), on: handle,
          at: now)
      }
    }
  }

  /// Returns the index of an open connection of this side.
  private func choose(_ side: Side, _ random: inout RandomStream) -> Int? {
    connections.indices.filter { connections[$0].isOpen.contains(side) }.randomElement(using: &random)
  }

  private mutating func close(_ side: Side, _ random: inout RandomStream) {
    guard let place = choose(side, &random), let id = connections[place].ends[side] else { return }
    connections[place].isClosing = true
    with(side) { bench, handle in bench.perform { host, now in host.closeChannel(id, on: handle, at: now) } }
  }

  private mutating func reconfigure(_ side: Side, _ random: inout RandomStream) {
    let ids = (0..<Int.random(in: 1...3, using: &random)).compactMap { _ in
      choose(side, &random).flatMap { connections[$0].ends[side] }
    }
    let (mtu, mps) = (UInt16.random(in: 64...3_000, using: &random), UInt16.random(in: 64...517, using: &random))
    with(side) { bench, handle in
      bench.perform { host, now in host.reconfigure(ids, mtu: mtu, mps: mps, on: handle, at: now) }
    }
  }

  private mutating func send(_ side: Side, _ random: inout RandomStream) {
    guard let place = choose(side, &random), let id = connections[place].ends[side],
      let channel = channels(side).channels.first(where: { $0.local == id })
    else { return }
    let length = Int.random(in: 1...channel.sendMTU, using: &random)
    serial += 1
    let sdu = (0..<length).map { [serial] in UInt8(truncatingIfNeeded: serial &* 31 &+ $0) }
    let isTaken = with(side) { bench, handle in bench.sendOnChannel(ByteSlice(sdu), id, handle) }
    if isTaken { connections[place].sent[side, default: []].append(sdu) }
  }

  private mutating func acknowledge(_ count: Int) {
    for (side, id) in unacknowledged.prefix(count) {
      with(side) { bench, handle in bench.perform { host, now in host.acknowledge(id, on: handle, at: now) } }
    }
    unacknowledged.removeFirst(min(count, unacknowledged.count))
  }

  /// Delivers the next packets of one side.
  private mutating func deliver(from side: Side, _ count: Int) {
    for _ in 0..<count {
      guard let packet = with(side, { bench, _ in bench.data.isEmpty ? nil : bench.data.removeFirst() }) else { return }
      let boundary: HCI.ACLData.Boundary = packet.boundary == .continuing ? .continuing : .firstFlushable
      with(side.other) { bench, handle in bench.receive(packet.payload.bytes, on: handle, boundary) }
      with(side) { bench, handle in
        bench.receive(.numberOfCompletedPackets(HCI.CompletedPackets(handle, count: 1, in: bench.pool)))
      }
      collect()
    }
  }

  // MARK: Events

  private mutating func collect() {
    for side in Side.allCases {
      let events = with(side) { bench, _ in
        defer { bench.events.removeAll() }
        return bench.channelEvents
      }
      for event in events { take(event, side) }
    }
  }

  private func place(of id: L2CAP.ChannelID, _ side: Side) -> Int? {
    connections.indices.last { connections[$0].ends[side] == id }
  }

  private mutating func take(_ event: ChannelEvent, _ side: Side) {
    switch event {
    case .opened(let channel, nil):
      connections.append(Connection(ends: [side: channel.id], isOpen: [side]))
    case .opened(let channel, _?):
      let remote = channels(side).channels.first { $0.local == channel.id }?.remote
      guard let remote, let place = place(of: remote, side.other), connections[place].ends[side] == nil else {
        Issue.record("\(channel) has no other end")
        return
      }
      connections[place].ends[side] = channel.id
      connections[place].isOpen.insert(side)
    case .received(let id, let sdu):
      guard let place = place(of: id, side) else { return }
      let number = connections[place].received[side, default: 0]
      let sent = connections[place].sent[side.other, default: []]
      #expect(number < sent.count && sent[number] == sdu.bytes)
      connections[place].received[side] = number + 1
      arrived += 1
      unacknowledged.append((side, id))
    case .closed(let id, _):
      guard let place = place(of: id, side) else { return }
      #expect(connections[place].isClosing, "nobody wanted \(id) to be closed")
      connections[place].isOpen.remove(side)
    case .reconfigurationFailed(_, .notPossible), .reconfigurationFailed(_, .refused(.invalidDestinationCID)),
      .hasRoom, .reconfigured:
      break
    default: Issue.record("\(event)")
    }
  }

  private mutating func check() {
    for side in Side.allCases {
      let channels = channels(side)
      #expect(channels.channels.allSatisfy { 0...65_535 ~= $0.credits && 0...65_535 ~= $0.granted })
      #expect(Set(channels.requests.map(\.identifier)).count == channels.requests.count)
      #expect(Set(channels.channels.map(\.local)).count == channels.channels.count)
    }
  }

  // MARK: Final checks

  private mutating func settle() {
    repeat {
      acknowledge(unacknowledged.count)
      for side in Side.allCases { deliver(from: side, 1_000) }
    } while !pair.central.data.isEmpty || !pair.peripheral.data.isEmpty || !unacknowledged.isEmpty
  }

  mutating func finish() {
    settle()
    for connection in connections where !connection.isClosing {
      #expect(connection.isOpen.count == 2)
      for side in Side.allCases {
        #expect(connection.received[side, default: 0] == connection.sent[side.other, default: []].count)
      }
    }
    for place in connections.indices where !connections[place].isClosing {
      connections[place].isClosing = true
      guard let id = connections[place].ends[.central] else { continue }
      with(.central) { bench, handle in bench.perform { host, now in host.closeChannel(id, on: handle, at: now) } }
    }
    settle()
    for side in Side.allCases {
      let (isEmpty, identifiers, storages) = with(side) { bench, _ in
        (bench.host.table.all[0].channels.isEmpty, bench.host.table.all[0].signalling.identifiers, bench.pool.count)
      }
      #expect(isEmpty)
      #expect((UInt8(1)...255).allSatisfy { !identifiers.isOpen($0) })
      #expect(storages < 400)
    }
    #expect(connections.allSatisfy { $0.isOpen.isEmpty })
  }
}
