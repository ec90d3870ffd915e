import BluetoothHost
import BluetoothWire
import Requirements
import Testing

@testable import BluetoothDaemon

@Suite("Connecting")
struct ConnectionTests {
  let air: DaemonNetwork
  let sensor: Sensor
  let phone: Phone

  init() {
    (air, sensor, phone) = DaemonNetwork.withSensorAndPhone()
    sensor.advertise()
    _ = sensor.takeEvents()
  }

  @Test("3.1 An attempt waits until the peer is in range", .requirement("G020", "G049"))
  func pending() throws {
    let peer = try phone.find()
    air.carryAway(0)
    phone.send(.connect(peer, delay: .zero, reconnects: false))
    air.advance(1_000)
    #expect(phone.takeEvents() == [])
    air.bringBack(0)
    air.advance()
    #expect(phone.takeEvents().first == "connected 0 20")
  }

  @Test("4.11 The maximum write length grows after the MTU exchange; the name is read without a request of the app")
  func afterConnecting() throws {
    let peer = try phone.find()
    phone.send(.connect(peer, delay: .zero, reconnects: false))
    air.advance()
    #expect(phone.takeEvents() == ["connected 0 20", "length 0 512"])
    air.advance(2)
    #expect(phone.takeEvents() == ["name 0 Sensor"])
    #expect(phone.directory.peer(peer)?.name == "Sensor")
  }

  @Test(
    "3.4 Connecting to a connected peer completes at once, for the same manager and for another one",
    .requirement("L071"))
  func shared() throws {
    let peer = try phone.findAndConnect()
    #expect(phone.send(.connect(peer, delay: .zero, reconnects: false)).map(\.text) == ["connected 0 512"])
    let other = Phone(air, 1)
    _ = other.takeEvents()
    #expect(other.send(.connect(peer, delay: .zero, reconnects: false)).map(\.text) == ["connected 0 512"])
    #expect(air.linkCount(1) == 1)
  }

  @Test("3.6 Cancelling one manager's connection keeps the link for the other manager", .requirement("L071"))
  func sharedLinkStays() throws {
    let peer = try phone.findAndConnect()
    let other = Phone(air, 1)
    other.send(.connect(peer, delay: .zero, reconnects: false))
    #expect(phone.send(.cancelConnection(peer)).map(\.text) == ["disconnected 0 ok"])
    #expect(air.linkCount(1) == 1)
    #expect(other.send(.cancelConnection(peer)).map(\.text) == ["disconnected 0 ok"])
    #expect(air.linkCount(1) == 0)
  }

  @Test("3.6 A cancelled attempt ends in a disconnection without error")
  func cancelPending() throws {
    let peer = try phone.find()
    air.carryAway(0)
    phone.send(.connect(peer, delay: .zero, reconnects: false))
    #expect(phone.send(.cancelConnection(peer)).map(\.text) == ["disconnected 0 ok"])
    air.bringBack(0)
    air.advance(3)
    #expect(phone.takeEvents() == [])
    #expect(air.linkCount(1) == 0)
  }

  @Test("3.6 A connection requested while the link is being disconnected is made afterwards")
  func connectWhileDisconnecting() throws {
    let peer = try phone.findAndConnect()
    phone.session.send(.cancelConnection(peer))
    phone.send(.connect(peer, delay: .zero, reconnects: false))
    air.advance(2)
    let events = phone.takeEvents()
    #expect(events.contains("connected 0 20"))
    #expect(air.linkCount(1) == 1)
  }

  @Test("3.7 A lost link reports its reason: the peer's power-off or a timeout")
  func reasons() throws {
    _ = try phone.findAndConnect()
    air.carryAway(0)
    #expect(phone.takeEvents() == ["disconnected 0 link 0x08"])
    air.bringBack(0)
    _ = try phone.findAndConnect()
    air.setPower(false, of: 0)
    #expect(phone.takeEvents() == ["disconnected 0 link 0x15"])
  }

  @Test("3.9 After a disconnection earlier requests get no answer")
  func noAnswers() throws {
    sensor.add(1, 0x180D, [.dynamic(0x2A37, .read)])
    let peer = try phone.findAndConnect()
    let characteristic = try #require(try phone.discover(peer)[0x2A37])
    #expect(phone.send(.read(peer, characteristic.id)).isEmpty)
    let request = try sensor.lastRequest()
    air.carryAway(0)
    #expect(phone.takeEvents() == ["disconnected 0 link 0x08"])
    sensor.send(.respond(request, nil, value: [1]))
    #expect(phone.takeEvents() == [])
    #expect(phone.send(.read(peer, characteristic.id)).isEmpty)
  }

  @Test("3.11 With auto-reconnect a lost link is created again, until it is cancelled")
  func reconnects() throws {
    let peer = try phone.findAndConnect(reconnects: true)
    air.carryAway(0)
    #expect(phone.takeEvents() == ["disconnected 0 link 0x08 reconnecting"])
    air.bringBack(0)
    air.advance()
    #expect(phone.takeEvents().first == "connected 0 20")
    air.carryAway(0)
    _ = phone.takeEvents()
    #expect(phone.send(.cancelConnection(peer)).map(\.text) == ["disconnected 0 ok"])
    air.bringBack(0)
    air.advance(3)
    #expect(phone.takeEvents() == [])
  }

  @Test("3.14 An attempt with a delay starts after the delay", .requirement("A023"))
  func startDelay() throws {
    let peer = try phone.find()
    phone.send(.connect(peer, delay: .seconds(1), reconnects: false))
    air.advance(9)
    #expect(phone.takeEvents() == [])
    air.advance(2)
    #expect(phone.takeEvents().first == "connected 0 20")
  }

  @Test(
    "3.12 Connected peripherals are found by a service, whichever manager connected them", .requirement("A025"),
    .symbol("CBCentralManager.retrieveConnectedPeripherals(withServices:)"))
  func retrieveConnected() throws {
    sensor.add(1, 0x180D, [])
    #expect(phone.directory.connectedPeers(offering: [0x180D]).isEmpty)
    let peer = try phone.findAndConnect()
    #expect(phone.directory.connectedPeers(offering: [0x1816, 0x180D]).map(\.handle) == [peer])
    #expect(phone.directory.connectedPeers(offering: [0x1816]).isEmpty)
    phone.send(.cancelConnection(peer))
    #expect(phone.directory.connectedPeers(offering: [0x180D]).isEmpty)
  }

  @Test("1.11 A closed session ends its attempts and links, and gets no further events", .requirement("L014"))
  func closes() throws {
    _ = try phone.findAndConnect()
    phone.session.close()
    air.run()
    #expect(air.linkCount(1) == 0)
    #expect(phone.takeEvents() == [])
  }

  @Test("A session whose app ended without closing it is closed")
  func appGone() throws {
    let peer = try phone.find()
    var gone: CentralRecorder? = CentralRecorder()
    let session = CentralSession(client: gone!, in: air.devices[1].sessions)
    session.send(.connect(peer, delay: .zero, reconnects: false))
    air.run()
    gone = nil
    air.advance(2)
    #expect(air.linkCount(1) == 0)
  }

  @Test(
    "3.6 An attempt that the controller ends is reported with its reason", .requirement("A070"),
    arguments: [
      (HCI.ErrorCode.unsupportedFeatureOrParameterValue, "failed 0 link 0x11"),
      (.connectionLimitExceeded, "failed 0 connectionLimitReached"),
    ])
  func failure(reason: HCI.ErrorCode, text: String) throws {
    let peer = try phone.find()
    air.failNextConnection(of: 1, reason)
    phone.send(.connect(peer, delay: .zero, reconnects: false))
    air.advance()
    #expect(phone.takeEvents() == [text])
    air.advance()
    #expect(phone.takeEvents() == [])
    phone.send(.connect(peer, delay: .zero, reconnects: false))
    air.advance()
    #expect(phone.takeEvents().first == "connected 0 20")
  }

  @Test("3.11 A failed reconnection is not reported and is repeated a second later")
  func reconnectFails() throws {
    _ = try phone.findAndConnect(reconnects: true)
    air.carryAway(0)
    _ = phone.takeEvents()
    air.failNextConnection(of: 1, .unsupportedFeatureOrParameterValue)
    air.bringBack(0)
    air.advance(10)
    #expect(phone.takeEvents() == [])
    air.advance(2)
    #expect(phone.takeEvents().first == "connected 0 20")
  }

  @Test("One RSSI reading answers every request that is pending meanwhile")
  func rssi() throws {
    let peer = try phone.findAndConnect()
    phone.session.send(.readRSSI(peer))
    #expect(phone.send(.readRSSI(peer)).map(\.text) == ["rssi -50", "rssi -50"])
  }
}
