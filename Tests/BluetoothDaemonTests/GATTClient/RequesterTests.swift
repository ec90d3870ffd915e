import BluetoothHost
import BluetoothWire
import Testing

@testable import BluetoothDaemon

/// Several sessions that send requests to the same peer.
@Suite("Requests of several sessions")
struct RequesterTests {
  let pair: ConnectedPair
  let other: Phone

  init() throws {
    pair = try ConnectedPair()
    other = Phone(pair.air, 1)
    other.send(.connect(pair.peer, delay: .zero, reconnects: false))
    _ = other.takeEvents()
  }

  @Test("A session over its bound gets outOfSpace; others can send requests on this link and on other links")
  func bound() throws {
    let value = try pair.id(0x2A37)
    let stored = try pair.id(0x2A38)
    // The sensor's app leaves the first read unanswered.
    for _ in 0..<SessionLimits.requests + 2 { pair.phone.session.send(.read(pair.peer, value)) }
    pair.air.run()
    #expect(pair.phone.takeEvents() == ["read outOfSpace", "read outOfSpace"])
    pair.sensor.send(.stopAdvertising, forget: false)
    let lamp = Sensor(pair.air, pair.air.add("Lamp"))
    lamp.add(1, 0x1815, [.cached(0x2A56, [7])])
    lamp.advertise(nil, [0x1815])
    let lampPeer = try other.findAndConnect()
    let id = try #require(try other.discover(lampPeer)[0x2A56]).id
    #expect(other.send(.read(lampPeer, id)).map(\.text) == ["read 07"])
    other.session.send(.read(pair.peer, stored))
    pair.air.run()
    pair.sensor.send(.respond(try pair.sensor.lastRequest(), nil, value: [1]))
    #expect(other.takeEvents() == ["read 01"], "it waits for the one read in progress only")
  }

  @Test("Discoveries of a session over its bound get outOfSpace; the others are answered in their order")
  func boundOfDiscoveries() throws {
    let value = try pair.id(0x2A37)
    let characteristic = try #require(pair.phone.discover(pair.peer)[0x2A3A]).id
    // The sensor's app leaves this read unanswered, so that the discovery waits.
    pair.phone.session.send(.read(pair.peer, value))
    for _ in 0..<SessionLimits.requests + 2 {
      pair.phone.session.send(.discoverDescriptors(pair.peer, characteristic))
    }
    other.session.send(.discoverDescriptors(pair.peer, characteristic))
    pair.air.run()
    #expect(pair.phone.takeEvents() == ["descriptors outOfSpace", "descriptors outOfSpace"])
    pair.sensor.send(.respond(try pair.sensor.lastRequest(), nil, value: [1]), forget: false)
    #expect(other.takeEvents() == ["descriptors [2902]"])
    #expect(pair.phone.takeEvents().count == SessionLimits.requests + 1)
  }

  @Test("A discovery that two sessions want does not wait for the other requests of the first one")
  func sharedDiscovery() throws {
    let found = try pair.phone.discover(pair.peer)
    let (value, characteristic) = (try #require(found[0x2A37]).id, try #require(found[0x2A3A]).id)
    for _ in 0..<10 { pair.phone.session.send(.read(pair.peer, value)) }
    pair.phone.session.send(.discoverDescriptors(pair.peer, characteristic))
    other.session.send(.discoverDescriptors(pair.peer, characteristic))
    pair.air.run()
    pair.sensor.send(.respond(try pair.sensor.lastRequest(), nil, value: [1]), forget: false)
    #expect(other.takeEvents() == ["descriptors [2902]"])
    #expect(pair.phone.takeEvents() == ["read 01", "descriptors [2902]"])
  }

  @Test("A subscription that two sessions want does not wait for the other requests of the first one")
  func sharedSubscription() throws {
    let found = try pair.phone.discover(pair.peer)
    let (value, characteristic) = (try #require(found[0x2A37]).id, try #require(found[0x2A3A]).id)
    pair.phone.send(.discoverDescriptors(pair.peer, characteristic))
    for _ in 0..<10 { pair.phone.session.send(.read(pair.peer, value)) }
    pair.phone.session.send(.setNotify(pair.peer, characteristic, true))
    other.session.send(.setNotify(pair.peer, characteristic, true))
    pair.air.run()
    pair.sensor.send(.respond(try pair.sensor.lastRequest(), nil, value: [1]), forget: false)
    #expect(other.recorder.take().count == 1)
    #expect(pair.phone.recorder.take().count == 2, "the read and the subscription")
  }

  @Test("The requests of a session that leaves are not sent; a later one of another session is next")
  func leaves() throws {
    let found = try pair.phone.discover(pair.peer)
    let (value, stored) = (try #require(found[0x2A37]).id, try #require(found[0x2A38]).id)
    for _ in 0..<10 { pair.phone.session.send(.read(pair.peer, value)) }
    pair.air.run()
    let first = try pair.sensor.lastRequest()
    pair.phone.send(.cancelConnection(pair.peer))
    other.session.send(.read(pair.peer, stored))
    pair.air.run()
    pair.sensor.send(.respond(first, nil, value: [1]), forget: false)
    #expect(other.takeEvents() == ["read 01"])
    #expect(pair.sensor.takeEvents().isEmpty)
  }
}
