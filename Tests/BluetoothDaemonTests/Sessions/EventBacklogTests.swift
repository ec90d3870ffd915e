import BluetoothHost
import BluetoothWire
import Testing

@testable import BluetoothDaemon

@Suite("Apps that process events too slowly")
struct EventBacklogTests {
  @Test("A backlog reports once, on request, that it is low, and not before")
  func awaited() {
    let backlog = EventBacklog()
    #expect(!backlog.awaitLow(), "it is low already")
    for _ in 0...SessionLimits.fewWaitingEvents { backlog.append() }
    #expect(backlog.awaitLow())
    #expect(backlog.removeFirst())
    #expect(!backlog.removeFirst(), "once is enough")
    for _ in 0..<SessionLimits.waitingEvents { backlog.append() }
    #expect(!backlog.removeFirst(), "nobody waits")
  }

  /// A phone with links to two sensors that notify it.
  struct Trio {
    let pair: ConnectedPair
    let second: Sensor
    let secondPeer: PeerHandle

    init() throws {
      pair = try ConnectedPair()
      second = Sensor(pair.air, pair.air.add("Second"))
      second.add(1, 0x180D, [.dynamic(0x2A37, [.notify, .read])])
      pair.sensor.send(.stopAdvertising)
      second.advertise()
      secondPeer = try pair.phone.findAndConnect()
      for peer in [pair.peer, secondPeer] {
        let id = try #require(try pair.phone.discover(peer)[0x2A37]).id
        pair.phone.send(.setNotify(peer, id, true))
      }
    }

    var session: CentralSession { pair.phone.session }

    func notify(_ sensor: Sensor, _ value: UInt8) {
      #expect(sensor.session.updateCredits.take())
      sensor.send(.update(LocalAttributeID(number: 2), [value], nil))
    }

    /// True if the phone's controller has to stop or resume other links than before.
    var heldLinksChanged: Bool { pair.air.devices[1].daemon.heldLinksChanged }

    /// Returns the links that the phone's daemon has stopped.
    func heldLinks() -> [Int] {
      let handles = pair.air.devices[1].controller.links.map(\.handle)
      return pair.air.devices[1].daemon.takeHeldLinks().compactMap { handles.firstIndex(of: $0) }
    }
  }

  @Test("A link with an event for a full backlog is stopped until the backlog is low; the other link goes on")
  func holding() throws {
    let trio = try Trio()
    trio.notify(trio.pair.sensor, 1)
    #expect(trio.heldLinks().isEmpty)
    for _ in 0..<SessionLimits.waitingEvents { trio.session.eventQueued() }
    trio.notify(trio.pair.sensor, 2)
    #expect(trio.heldLinksChanged)
    #expect(trio.heldLinks() == [0])
    #expect(!trio.heldLinksChanged)
    for _ in SessionLimits.fewWaitingEvents + 1..<SessionLimits.waitingEvents { trio.session.eventHandled() }
    trio.pair.air.run()
    #expect(trio.heldLinks() == [0])
    trio.session.eventHandled()
    trio.pair.air.run()
    #expect(trio.heldLinksChanged)
    #expect(trio.heldLinks() == [])
    #expect(trio.pair.phone.takeEvents() == ["value 01", "value 02"])
  }

  @Test("A backlog that grows again before its links are released wakes the daemon again when it is low")
  func growingAgain() throws {
    let trio = try Trio()
    for _ in 0..<SessionLimits.waitingEvents { trio.session.eventQueued() }
    trio.notify(trio.pair.sensor, 1)
    #expect(trio.heldLinks() == [0])
    let backlog = trio.session.backlog
    // The backlog becomes low, and something else fills it before the daemon runs.
    for _ in SessionLimits.fewWaitingEvents..<SessionLimits.waitingEvents { _ = backlog.removeFirst() }
    backlog.append()
    trio.pair.air.run()
    #expect(trio.heldLinks() == [0])
    #expect(backlog.removeFirst(), "the daemon is woken once more")
    trio.pair.air.run()
    #expect(trio.heldLinks() == [])
  }

  @Test("A link whose peer goes on to cause events that can't be discarded is ended")
  func exhausting() throws {
    let pair = try ConnectedPair()
    let id = try pair.id(0x2A37)
    for _ in 0..<SessionLimits.maximumWaitingEvents - 1 { pair.sensor.session.eventQueued() }
    pair.phone.send(.setNotify(pair.peer, id, true))
    #expect(pair.air.linkCount(0) == 1)
    pair.sensor.session.eventQueued()
    pair.phone.send(.setNotify(pair.peer, id, false))
    pair.air.advance(1)
    #expect(pair.air.linkCount(0) == 0)
    let notes = pair.air.devices[0].daemon.takeNotes()
    #expect(notes.contains { $0.contains("disconnected, since 2048 callbacks wait") })
  }

  @Test("A stopped link resumes when the slow app has gone")
  func closing() throws {
    let pair = try ConnectedPair()
    let id = try pair.id(0x2A39)
    for _ in 0..<SessionLimits.waitingEvents { pair.sensor.session.eventQueued() }
    #expect(pair.phone.session.writeCredits(for: pair.peer).take())
    pair.phone.send(.writeWithoutResponse(pair.peer, id, [1]))
    var held = pair.air.devices[0].daemon.takeHeldLinks()
    #expect(held.count == 1)
    pair.sensor.session.close()
    pair.air.run()
    #expect(pair.air.linkCount(0) == 1)
    held = pair.air.devices[0].daemon.takeHeldLinks()
    #expect(held == [])
  }

  @Test("Values for an overfull backlog are discarded, with one log line")
  func discarding() throws {
    let trio = try Trio()
    for _ in 0..<SessionLimits.mostWaitingEvents { trio.session.eventQueued() }
    trio.notify(trio.pair.sensor, 1)
    trio.notify(trio.pair.sensor, 2)
    #expect(trio.pair.phone.takeEvents() == [])
    let notes = trio.pair.air.devices[1].daemon.takeNotes()
    #expect(notes.count == 1)
    trio.session.eventHandled()
    trio.notify(trio.pair.sensor, 3)
    #expect(trio.pair.phone.takeEvents() == ["value 03"])
  }

  @Test("Write commands for an overfull backlog are discarded; requests never are")
  func discardedCommands() throws {
    let pair = try ConnectedPair()
    let id = try pair.id(0x2A39)
    for _ in 0..<SessionLimits.mostWaitingEvents { pair.sensor.session.eventQueued() }
    #expect(pair.phone.session.writeCredits(for: pair.peer).take())
    pair.phone.send(.writeWithoutResponse(pair.peer, id, [1]))
    #expect(pair.sensor.takeEvents() == [])
    pair.phone.send(.write(pair.peer, id, [2]))
    #expect(pair.sensor.takeEvents() == ["write 4 at 0: 02"])
  }

  @Test("Automatic reconnection waits while the app's backlog is full, and another app's link goes on")
  func reconnecting() throws {
    let (air, sensor, phone) = DaemonNetwork.withSensorAndPhone()
    sensor.advertise()
    let peer = try phone.findAndConnect(reconnects: true)
    let other = Phone(air, 1)
    other.send(.connect(peer, delay: .zero, reconnects: true))
    _ = other.takeEvents()
    for _ in 0..<SessionLimits.waitingEvents { phone.session.eventQueued() }
    for _ in 0..<10 {
      air.carryAway(0)
      air.bringBack(0)
      air.advance(20)
    }
    #expect(phone.takeEvents() == ["disconnected 0 link 0x08 reconnecting"])
    #expect(other.takeEvents().count { $0.hasPrefix("connected") } == 10)
    #expect(air.linkCount(1) == 1)
    while phone.session.backlog.count > 0 { phone.session.eventHandled() }
    air.advance(11)
    #expect(phone.takeEvents().first == "connected 0 512")
    withExtendedLifetime(other) {}
  }

  @Test("Connections of other apps are not reported to a full backlog, nor are their ends")
  func connectionEvents() throws {
    let (air, sensor, phone) = DaemonNetwork.withSensorAndPhone()
    sensor.advertise()
    let watcher = Phone(air, 1)
    watcher.send(.registerForConnectionEvents(ConnectionEventFilter(peers: [], services: [0x180D])))
    let peer = try phone.findAndConnect()
    air.advance(2)
    #expect(watcher.takeEvents() == ["event 0 true"])
    for _ in 0..<SessionLimits.waitingEvents { watcher.session.eventQueued() }
    phone.send(.cancelConnection(peer))
    for _ in 0..<3 {
      phone.send(.connect(peer, delay: .zero, reconnects: false))
      air.advance(2)
      phone.send(.cancelConnection(peer))
    }
    #expect(watcher.takeEvents() == ["event 0 false"])
  }

  @Test("A peer that connects again and again causes no more events for the app of an exhausted backlog")
  func connectingAgain() throws {
    let (air, sensor, phone) = DaemonNetwork.withSensorAndPhone()
    sensor.advertise()
    let peer = try phone.find()
    _ = sensor.takeEvents()
    for _ in 0..<SessionLimits.maximumWaitingEvents { sensor.session.eventQueued() }
    for _ in 0..<5 {
      phone.send(.connect(peer, delay: .zero, reconnects: false))
      air.advance(2)
      #expect(air.linkCount(0) == 0)
    }
    #expect(sensor.takeEvents() == [])
    let notes = air.devices[0].daemon.takeNotes()
    #expect(notes.contains { $0.contains("disconnected, since the queue of an app is blocked") })
    sensor.session.eventHandled()
    phone.send(.connect(peer, delay: .zero, reconnects: false))
    air.advance(2)
    #expect(air.linkCount(0) == 1)
  }

  @Test("Automatic reconnection of an app waits for a peripheral manager whose backlog is exhausted")
  func reconnectingBesideExhausted() throws {
    let (air, sensor, phone) = DaemonNetwork.withSensorAndPhone()
    sensor.advertise()
    _ = try phone.findAndConnect(reconnects: true)
    let server = Sensor(air, 1)
    for _ in 0..<SessionLimits.maximumWaitingEvents { server.session.eventQueued() }
    for _ in 0..<10 {
      air.carryAway(0)
      air.bringBack(0)
      air.advance(20)
    }
    #expect(server.takeEvents() == ["state poweredOn"], "it does not know the central")
    while server.session.backlog.count > SessionLimits.fewWaitingEvents { server.session.eventHandled() }
    air.advance(11)
    #expect(air.linkCount(1) == 1)
  }
}
