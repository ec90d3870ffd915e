import BluetoothHost
import BluetoothWire
import Testing

@testable import BluetoothDaemon

/// Apps of several users on one adapter, one of which handles no events.
@Suite struct SharedBacklogTests {
  private let air = DaemonNetwork()
  private let sensor: Sensor
  private let phone: Phone
  private static let shares = AppShares(links: 64, advertisingSets: 4)
  private static let hostile = SessionOwner(app: "hostile", user: ClientUser(1_000))

  init() {
    let devices = [air.add("Sensor", shares: Self.shares), air.add("Phone", shares: Self.shares)]
    sensor = Sensor(air, devices[0], SessionOwner(app: "sensor", user: ClientUser(0)))
    phone = Phone(air, devices[1], SessionOwner(app: "phone", user: ClientUser(0)))
    sensor.add(10, 0xFFF0, [.dynamic(0xFFF1, [.read, .notify])])
    sensor.advertise("Sensor", [0xFFF0])
    _ = phone.takeEvents()
  }

  private func holds(_ device: Int) -> Int { air.devices[device].daemon.links.count { !$0.heldFor.isEmpty } }

  private func notify(_ value: UInt8) {
    _ = sensor.session.updateCredits.take()
    sensor.send(.update(LocalAttributeID(number: 11), [value], nil))
  }

  /// Lets the phone's app and another central manager of the phone use the sensor's characteristic.
  private func subscribe(_ app: Phone) throws -> PeerHandle {
    let peer = try app.findAndConnect()
    let characteristic = try #require(try app.discover(peer)[0xFFF1])
    app.send(.setNotify(peer, characteristic.id, true))
    _ = app.takeEvents()
    return peer
  }

  @Test(
    "A peripheral manager that handles no event keeps no central from another app, whether it may use Bluetooth or not",
    arguments: [false, true])
  func links(isDenied: Bool) throws {
    let attacker = Sensor(air, 0, Self.hostile)
    if isDenied { air.devices[0].daemon.setAccess(false, ofApp: "hostile", at: air.now) }
    air.run()
    for _ in 0..<4 * SessionLimits.maximumWaitingEvents { attacker.session.eventQueued() }
    _ = attacker.takeEvents()
    for _ in 0..<3 {
      let peer = try phone.findAndConnect()
      let characteristic = try #require(try phone.discover(peer)[0xFFF1])
      phone.session.send(.read(peer, characteristic.id))
      air.run()
      sensor.send(.respond(try sensor.lastRequest(), nil, value: [7]))
      #expect(phone.takeEvents() == ["read 07"])
      #expect(holds(0) == 0 && air.linkCount(0) == 1)
      phone.send(.cancelConnection(peer))
      air.run()
      _ = phone.takeEvents()
      sensor.advertise("Sensor", [0xFFF0])
    }
    #expect(attacker.takeEvents() == [], "centrals that it does not know bring it no events")
  }

  @Test("A link that another app uses is never held or ended for an app that is behind, which loses values itself")
  func values() throws {
    let peer = try subscribe(phone)
    let attacker = Phone(air, 1, Self.hostile)
    attacker.send(.connect(peer, delay: .zero, reconnects: false))
    let characteristic = try #require(try attacker.discover(peer)[0xFFF1])
    attacker.send(.setNotify(peer, characteristic.id, true))
    _ = attacker.takeEvents()
    for count in [SessionLimits.waitingEvents, SessionLimits.maximumWaitingEvents] {
      while attacker.session.backlog.count < count { attacker.session.eventQueued() }
      for value in 1...3 as ClosedRange<UInt8> { notify(value) }
      #expect(phone.takeEvents() == ["value 01", "value 02", "value 03"])
      #expect(holds(1) == 0 && air.linkCount(1) == 1)
      #expect(attacker.takeEvents().count == (count == SessionLimits.waitingEvents ? 3 : 0))
    }
  }

  @Test("A link that only one app uses is held for it, and goes on as soon as another app uses it")
  func join() throws {
    let attacker = Phone(air, 1, Self.hostile)
    let peer = try subscribe(attacker)
    for _ in 0..<SessionLimits.waitingEvents { attacker.session.eventQueued() }
    notify(1)
    #expect(holds(1) == 1)
    phone.send(.connect(peer, delay: .zero, reconnects: false))
    #expect(holds(1) == 0)
    notify(2)
    #expect(holds(1) == 0)
  }
}
