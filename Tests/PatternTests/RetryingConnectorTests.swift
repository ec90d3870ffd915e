import BluetoothLab
import CoreBluetooth
import Requirements
import Testing

@testable import Patterns

@Suite struct RetryingConnectorTests {
  @Test(
    "A connection that is refused for 20 s is requested again after pauses of 1, 2 and 4 s, and then succeeds",
    .requirement("A076"))
  func pausesGrow() throws {
    let air = try Lamp()
    let found = try air.phone.discover("Lamp")
    let start = air.world.now
    air.lamp.device.add([.device(.refuseConnections(for: .seconds(20)), when: .at(start))])
    let connector = RetryingConnector(found, of: air.phone.manager, after: air.timers.after)
    var connections = 0
    connector.onConnect = { connections += 1 }
    air.phone.manager.delegate = connector
    connector.start()
    #expect(air.timers.run(until: { connections == 1 }))
    // Each attempt has 5 s.
    #expect(air.calls("connect(_:)", since: start) == [.zero, .seconds(6), .seconds(13), .seconds(22)])
    #expect(found.state == .connected)
  }

  @Test("A connector gives up when its last attempt has reached the time limit", .requirement("A076"))
  func givesUp() throws {
    let air = try Lamp()
    let found = try air.phone.discover("Lamp")
    let start = air.world.now
    air.lamp.device.add([.device(.refuseConnections(), when: .at(start))])
    let connector = RetryingConnector(found, of: air.phone.manager, maximumAttempts: 3, after: air.timers.after)
    var end: Duration?
    connector.onGiveUp = { _ in end = air.world.now - start }
    air.phone.manager.delegate = connector
    connector.start()
    air.timers.run()
    #expect(end == .seconds(18))
    #expect(air.calls("connect(_:)", since: start).count == 3)
    #expect(found.state == .disconnected)
  }

  @Test("A link that is lost is requested again by the connector after the shortest pause", .requirement("A076"))
  func lostLink() throws {
    let air = try Lamp()
    let found = try air.phone.discover("Lamp")
    let connector = RetryingConnector(found, of: air.phone.manager, after: air.timers.after)
    var connections = 0
    connector.onConnect = { connections += 1 }
    air.phone.manager.delegate = connector
    connector.start()
    #expect(air.timers.run(until: { connections == 1 }))
    // The lamp answers again only when the time limit of the first link's attempt has passed.
    air.lamp.device.add([.device(.mute(for: .seconds(11)), when: .at(air.world.now))])
    #expect(air.timers.run(until: { found.state == .disconnected }))
    let lost = air.world.now
    #expect(air.timers.run(until: { connections == 2 }))
    #expect(air.calls("connect(_:)", since: lost) == [.seconds(1), .seconds(7)])
  }

  @Test("After a lost link, each attempt has the whole time limit before the connector gives up")
  func givesUpLostLink() throws {
    let air = try Lamp()
    let found = try air.phone.discover("Lamp")
    let connector = RetryingConnector(found, of: air.phone.manager, maximumAttempts: 3, after: air.timers.after)
    var connections = 0
    connector.onConnect = { connections += 1 }
    var end: Duration?
    connector.onGiveUp = { _ in end = air.world.now }
    air.phone.manager.delegate = connector
    connector.start()
    #expect(air.timers.run(until: { connections == 1 }))
    air.lamp.device.add([.device(.mute(), when: .at(air.world.now))])
    #expect(air.timers.run(until: { found.state == .disconnected }))
    let lost = air.world.now
    air.timers.run()
    #expect(air.calls("connect(_:)", since: lost) == [.seconds(1), .seconds(7), .seconds(14)])
    #expect(end == lost + .seconds(19))
    #expect(connections == 1)
  }
}
