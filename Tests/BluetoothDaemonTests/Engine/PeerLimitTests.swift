import BluetoothCrypto
import BluetoothHost
import BluetoothWire
import Testing

@testable import BluetoothDaemon

/// The limit of the table of peers: which devices are forgotten for new ones.
@Suite struct PeerLimitTests {
  private let air = DaemonNetwork()
  private let phone: Phone

  init() {
    phone = Phone(air, air.add("Phone"))
    phone.send(.scan(ScanRequest(services: nil, solicitedServices: [], allowsDuplicates: false)))
    _ = phone.takeEvents()
  }

  private var table: Peers { air.devices[0].daemon.peers }

  private func address(_ number: Int) -> DeviceAddress { DeviceAddress(0xD000_0000_0000 + UInt64(number), .random) }

  /// Lets the phone hear so many new devices, and returns those that the app is told of.
  private func hear(_ numbers: Range<Int>) -> [DiscoveryInfo] {
    for number in numbers { air.hear(0, from: address(number), .nonConnectable) }
    return phone.recorder.take().compactMap(\.discovery)
  }

  /// Lets the daemon learn of so many devices, as by their advertisements.
  private func fill(_ numbers: Range<Int>) {
    for number in numbers { _ = air.devices[0].daemon.context.enter(address(number)) }
  }

  private func notes() -> [String] {
    air.devices[0].daemon.takeNotes()
  }

  @Test("The devices that have not been heard for the longest time make room for new ones, and the log says so once")
  func eviction() throws {
    fill(0..<Peers.limit)
    #expect(notes() == [] && table.count == Peers.limit)
    // The first device is heard again.
    let first = hear(0..<1)[0].peer.handle
    let new = hear(Peers.limit..<Peers.limit + 10).map(\.peer.handle)
    #expect(new.count == 10, "the app is told of each new device")
    #expect(notes().count == 1)
    #expect(table.count == Peers.limit - Peers.evictionCount + 10)
    #expect(table.contains(first) && new.allSatisfy { table.contains($0) })
    #expect((1...Peers.evictionCount).allSatisfy { table.handle(of: address($0)) == nil })
    #expect(table.handle(of: address(Peers.evictionCount + 1)) != nil)
    fill(Peers.limit..<3 * Peers.limit)
    #expect(notes() == [])
    #expect(table.count <= Peers.limit && table.count > Peers.limit - Peers.evictionCount)
    #expect(phone.directory.peerCount == table.count)
    #expect(Set(table.handles).count == table.count && Set(table.handles).isDisjoint(with: [first] + new))
    #expect(hear(3 * Peers.limit..<3 * Peers.limit + 1).count == 1)
  }

  @Test("A device that was forgotten has the same identifier when it is heard again, and another handle")
  func again() throws {
    let first = try #require(hear(0..<1).first).peer
    fill(1..<Peers.limit + 1)
    #expect(phone.directory.peer(first.identifier) == nil && phone.directory.peer(first.handle) == nil)
    let second = try #require(hear(0..<1).first).peer
    #expect(second.identifier == first.identifier && second.handle != first.handle)
    #expect(
      phone.send(.connect(first.handle, delay: .zero, reconnects: false)).map(\.text) == [
        "failed \(first.handle.index) unknownPeer"
      ])
  }

  @Test("Devices in use stay: linked, awaited, bonded, named by an event that waits, and with an object of an app")
  func used() throws {
    let sensor = Sensor(air, air.add("Sensor"))
    sensor.advertise()
    let linked = try phone.findAndConnect()
    phone.send(.scan(ScanRequest(services: nil, solicitedServices: [], allowsDuplicates: false)))
    let (awaited, held, idle) = (hear(0..<1)[0].peer.handle, hear(1..<2)[0].peer.handle, hear(2..<3)[0].peer.handle)
    phone.send(.connect(awaited, delay: .zero, reconnects: false))
    phone.directory.hold(held)
    var bond = HostBond(identity: address(3))
    bond.key = LongTermKey(Block(high: 1, low: 2), isAuthenticated: false, isSecureConnections: true)
    air.devices[0].daemon.take(BondRecord(bond, identifier: PeerIdentifier(high: 9, low: 9)), at: air.now)
    let bonded = try #require(table.handle(of: address(3)))
    fill(10..<Peers.limit + 10)
    #expect([linked, awaited, held, bonded].map { handle in table.contains(handle) } == [true, true, true, true])
    #expect(!table.contains(idle))
    #expect(air.linkCount(0) == 1)
    phone.directory.release(held)
    fill(Peers.limit + 10..<2 * Peers.limit + 10)
    #expect(!table.contains(held) && table.contains(linked) && table.contains(awaited))
  }

  @Test("If sessions use all peers, there is room for new links and for nothing else")
  func allInUse() {
    var peers = Peers(identifiers: RandomStream(seed: 1), directory: PeerDirectory())
    for number in 0..<Peers.limit { _ = peers.enter(address(number)) }
    #expect(peers.isFull && peers.enter(address(Peers.limit)) == nil)
    #expect(peers.idle(sparing: Set(peers.handles)) == [])
    for number in Peers.limit..<Peers.linkLimit {
      #expect(peers.enter(address(number), isLinked: true) == PeerHandle(index: UInt32(number)))
    }
    #expect(peers.enter(address(Peers.linkLimit), isLinked: true) == nil)
  }

  @Test("What a scan has reported, credits and apps' identifiers of a forgotten device are forgotten, too")
  func consequences() throws {
    let app = Phone(air, 0, SessionOwner(app: "app", user: ClientUser(1_000)))
    app.send(.scan(ScanRequest(services: nil, solicitedServices: [], allowsDuplicates: false)))
    let first = try #require(hear(0..<1).first).peer
    let credits = app.session.writeCredits(for: first.handle)
    let identifier = app.directory.identifier(first.identifier, ofApp: "app")
    #expect(app.directory.adapterIdentifier(identifier, ofApp: "app") == first.identifier)
    fill(1..<Peers.limit + 1)
    #expect(app.session.writeCredits(for: first.handle) !== credits)
    #expect(app.directory.adapterIdentifier(identifier, ofApp: "app") == nil)
  }

  // MARK: Introductions

  @Test("A user's introductions take the places of that user's own ones only, also after attempts to connect")
  func introductions() throws {
    let (attacker, other) = (
      Phone(air, 0, SessionOwner(app: "attacker", user: ClientUser(1_000))),
      Phone(air, 0, SessionOwner(app: "other", user: ClientUser(0)))
    )
    let heard = hear(0..<1)[0].peer.handle
    other.session.introduce(address(1))
    air.run()
    let introduced = try #require(table.handle(of: address(1)))
    for number in 1_000..<1_000 + 4 * Peers.introductionLimit {
      attacker.session.introduce(address(number))
      attacker.session.introduce(address(number))
      air.run()
      let handle = try #require(table.handle(of: address(number)))
      attacker.session.send(.connect(handle, delay: .zero, reconnects: false))
      attacker.session.send(.cancelConnection(handle))
      air.run()
      #expect(table.introductionCount(of: ClientUser(1_000)) <= Peers.introductionLimit)
    }
    #expect(table.count <= Peers.introductionLimit + 2)
    #expect(table.contains(heard) && table.contains(introduced))
    #expect(table.handle(of: address(1_000)) == nil)
    #expect(notes().filter { $0.hasPrefix("user 1000: ") }.count == 1)
    // A device that is heard is not in the share any more.
    _ = hear(1..<2)
    #expect(table.introductionCount(of: ClientUser(0)) == 0)
  }

  @Test("An app that was denied the use of Bluetooth introduces no devices")
  func deniedIntroduction() {
    let app = Phone(air, 0, SessionOwner(app: "app", user: ClientUser(1_000)))
    air.devices[0].daemon.setAccess(false, ofApp: "app", at: air.now)
    app.session.introduce(address(1))
    air.run()
    #expect(table.handle(of: address(1)) == nil)
    air.devices[0].daemon.setAccess(true, ofApp: "app", at: air.now)
    app.session.introduce(address(1))
    air.run()
    #expect(table.handle(of: address(1)) != nil)
  }

  // MARK: Other tables

  @Test("Of the events that peers can repeat, a suspended app keeps the newest, and none about a forgotten device")
  func waitingEvents() {
    var events = WaitingEvents()
    let (session, _) = centralSessions()
    for number in 0..<4 * UInt32(WaitingEvents.maximumRepeated) {
      let peer = PeerInfo(
        handle: PeerHandle(index: number), identifier: PeerIdentifier(high: 1, low: UInt64(number)), name: nil)
      if number % 2 == 0 {
        events.add(.discovered(DiscoveryInfo(peer: peer, isConnectable: true, rssi: -50)), for: session)
      } else {
        events.add(.connectionEvent(peer, isConnected: true), for: session)
      }
    }
    #expect(events.entries.count == WaitingEvents.maximumRepeated)
    let last = PeerHandle(index: 4 * UInt32(WaitingEvents.maximumRepeated) - 1)
    events.add(.connected(last, maximumWriteLength: 20), for: session)
    events.forget([last])
    #expect(events.entries.count == WaitingEvents.maximumRepeated)
    #expect(Array(events.peers) == [last])
  }

  @Test("A cancelled attempt with a start delay leaves nothing behind")
  func delayedAttempts() {
    let peer = hear(0..<1)[0].peer.handle
    for _ in 0..<3 {
      phone.send(.connect(peer, delay: .seconds(1_000), reconnects: false))
      phone.send(.cancelConnection(peer))
    }
    #expect(air.devices[0].daemon.centrals.delayedUsers.isEmpty)
  }

  @Test("A session can't let the requests of others for a link wait behind many of its own")
  func linkRequests() throws {
    let sensor = Sensor(air, air.add("Sensor"))
    sensor.advertise()
    let peer = try phone.findAndConnect()
    phone.send(.observeLinks)
    let request = LinkRequest.dataLength(HCI.DataLength(octets: 27, time: 328))
    for _ in 0..<100 { phone.session.send(.changeLink(peer, request)) }
    air.run()
    #expect(phone.takeEvents().count { $0.hasSuffix("outOfSpace") } == 92)
  }

  // MARK: The directory

  @Test("A copy of the directory is told of a removed peer that it has got, and of the next peer in the same slot")
  func observation() {
    let directory = PeerDirectory()
    func add(_ number: UInt64) -> PeerInfo {
      directory.add(PeerIdentifier(high: 1, low: number), DeviceAddress(number, .public), name: nil)
    }
    func all(_ observation: DirectoryObservation) -> [DirectoryChange] {
      directory.changes(for: observation, maximum: 100)
    }
    let (one, two, three) = (add(1), add(2), add(3))
    let observation = directory.observe {}
    let late = directory.observe {}
    #expect(directory.changes(of: [two.handle], for: late) == [.peer(two, DeviceAddress(2, .public), nil)])
    _ = all(observation)
    directory.setName("gone", of: one.handle)
    directory.remove([one.handle, two.handle])
    #expect(directory.peerCount == 1 && directory.peer(one.identifier) == nil)
    let four = add(4)
    #expect(four.handle == one.handle.next && four.handle.slot == one.handle.slot)
    #expect(directory.peer(one.handle) == nil && directory.peer(four.handle) == four)
    #expect(
      all(observation) == [
        .removed(two.handle), .removed(one.handle), .peer(four, DeviceAddress(4, .public), nil),
      ])
    // The later copy had got the second peer only.
    #expect(
      all(late) == [
        .access(.allowed), .features([]), .removed(two.handle), .peer(four, DeviceAddress(4, .public), nil),
        .peer(three, DeviceAddress(3, .public), nil),
      ])
    // A peer that comes and goes between two looks is no change.
    let five = add(5)
    directory.remove([five.handle])
    #expect(all(observation).isEmpty)
    #expect(directory.changes(of: [five.handle], for: observation).isEmpty)
  }

  @Test("Peers without an object of an app and without a number of the server are removed from a copy")
  func copies() {
    let directory = PeerDirectory()
    let peers = (1...4).map { directory.add(PeerIdentifier(high: 1, low: $0), DeviceAddress($0, .public), name: nil) }
    directory.hold(peers[1].handle)
    directory.hold(peers[1].handle)
    directory.release(peers[1].handle)
    directory.removeUnused(sparing: [peers[3].handle])
    #expect(peers.map { directory.peer($0.handle) != nil } == [false, true, false, true])
    directory.release(peers[1].handle)
    directory.removeUnused(sparing: [])
    #expect(directory.peerCount == 0)
  }
}
