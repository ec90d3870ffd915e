import BluetoothHost
import BluetoothWire
import Requirements
import Testing

@testable import BluetoothDaemon

@Suite("Notifications and indications")
struct SubscriptionTests {
  let pair: ConnectedPair
  let phone: Phone
  let sensor: Sensor
  let peer: PeerHandle
  /// The sensor's number for 0x2A37.
  let measurement = LocalAttributeID(number: 2)

  init() throws {
    pair = try ConnectedPair()
    (phone, sensor, peer) = (pair.phone, pair.sensor, pair.peer)
  }

  func update(_ value: ByteSlice, _ centrals: [PeerHandle]? = nil) -> Bool {
    guard sensor.session.updateCredits.take() else { return false }
    sensor.session.send(.update(measurement, value, centrals))
    return true
  }

  @Test("4.12, 6.12 Subscribing needs no discovery of descriptors by the app", .requirement("G035"))
  func subscribes() throws {
    let id = try pair.id(0x2A37)
    #expect(phone.send(.setNotify(peer, id, true)).map(\.text) == ["notifying true ok"])
    #expect(sensor.takeEvents() == ["subscribed 2"])
    #expect(update([0, 60]))
    pair.air.run()
    #expect(phone.takeEvents() == ["value 003C"])
    #expect(phone.send(.setNotify(peer, id, false)).map(\.text) == ["notifying false ok"])
    #expect(sensor.takeEvents() == ["unsubscribed 2"])
  }

  @Test("Indications are delivered like notifications", .requirement("G035"))
  func indications() throws {
    #expect(phone.send(.setNotify(peer, try pair.id(0x2A3A), true)).map(\.text) == ["notifying true ok"])
    #expect(sensor.takeEvents() == ["subscribed 5"])
    #expect(sensor.session.updateCredits.take())
    sensor.send(.update(LocalAttributeID(number: 5), [7], nil))
    #expect(phone.takeEvents() == ["value 07"])
  }

  @Test("A session that observes links gets the confirmations of its indications, and none of notifications")
  func confirmations() throws {
    phone.send(.setNotify(peer, try pair.id(0x2A3A), true))
    phone.send(.setNotify(peer, try pair.id(0x2A37), true))
    for isObserving in [false, true] {
      if isObserving { sensor.send(.observeLinks) }
      _ = sensor.takeEvents()
      #expect(sensor.session.updateCredits.take())
      let events = sensor.send(.update(LocalAttributeID(number: 5), [7], nil)).map(\.text)
      #expect(events == (isObserving ? ["confirmed 5"] : []))
    }
    #expect(update([0, 60]))
    pair.air.run()
    #expect(sensor.takeEvents().isEmpty)
  }

  @Test(
    "4.12 If both notifications and indications are offered, notifications are enabled", .requirement("K023"),
    .symbol("CBPeripheral.setNotifyValue(_:for:)"),
    arguments: [
      (CharacteristicProperties([.notify, .indicate]), "read 0100"), (.notify, "read 0100"), (.indicate, "read 0200"),
    ])
  func preference(_ properties: CharacteristicProperties, _ configuration: String) throws {
    sensor.add(20, 0x1816, [.dynamic(0x2A5B, properties)])
    _ = phone.takeEvents()
    let id = try pair.id(0x2A5B)
    #expect(phone.send(.setNotify(peer, id, true)).map(\.text) == ["notifying true ok"])
    guard
      case .descriptorsDiscovered(_, _, .success(let descriptors))? = phone.send(.discoverDescriptors(peer, id)).last
    else {
      Issue.record("no descriptors")
      return
    }
    #expect(descriptors.map(\.uuid) == [0x2902])
    let descriptor = try #require(descriptors.first).id
    #expect(phone.send(.read(peer, descriptor)).map(\.text) == [configuration])
  }

  @Test("4.12 Subscribing to a characteristic that can't notify gives an error")
  func unable() throws {
    let events = phone.send(.setNotify(peer, try pair.id(0x2A38), true))
    #expect(events.map(\.text) == ["notifying false att 0x06"])
  }

  @Test("Two sessions share one subscription of the device", .requirement("L071"))
  func shared() throws {
    let id = try pair.id(0x2A37)
    let other = Phone(pair.air, 1)
    other.send(.connect(peer, delay: .zero, reconnects: false))
    phone.send(.setNotify(peer, id, true))
    #expect(other.send(.setNotify(peer, id, true)).map(\.text) == ["notifying true ok"])
    #expect(sensor.takeEvents() == ["subscribed 2"])
    #expect(update([1]))
    pair.air.run()
    #expect(phone.takeEvents() == ["value 01"])
    #expect(other.takeEvents() == ["value 01"])
    phone.send(.setNotify(peer, id, false))
    #expect(sensor.takeEvents() == [])
    #expect(update([2]))
    pair.air.run()
    #expect(phone.takeEvents() == [])
    #expect(other.takeEvents() == ["value 02"])
    other.send(.cancelConnection(peer))
    #expect(sensor.takeEvents() == ["unsubscribed 2"])
  }

  @Test("6.13 An update without subscribers returns its credit at once")
  func nobody() {
    for _ in 0..<100 {
      #expect(update([1]))
      pair.air.run()
    }
    #expect(sensor.takeEvents() == [])
  }

  @Test("6.13 When the controller is full the credits run out, and new room is reported once")
  func backPressure() throws {
    phone.send(.setNotify(peer, try pair.id(0x2A37), true))
    _ = sensor.takeEvents()
    pair.air.setCongested(true, 0)
    var count: UInt8 = 0
    while update([count]) {
      pair.air.run()
      count += 1
    }
    // 8 are in the controller, the others wait in the host.
    #expect(count == UInt8(8 + SessionLimits.updates))
    #expect(sensor.takeEvents() == [])
    pair.air.setCongested(false, 0)
    #expect(sensor.takeEvents() == ["ready to update"])
    #expect(phone.takeEvents() == (0..<count).map { "value \($0.hexadecimal)" })
  }

  @Test("6.13 Only the listed centrals get the value")
  func named() throws {
    phone.send(.setNotify(peer, try pair.id(0x2A37), true))
    guard case .subscribed(let central, _)? = sensor.recorder.take().first else {
      Issue.record("nobody subscribed")
      return
    }
    #expect(update([1], [PeerHandle(index: 99)]))
    #expect(update([2], [central.handle]))
    pair.air.run()
    #expect(phone.takeEvents() == ["value 02"])
  }

  @Test("6.13, 6.14 A value is truncated to the central's MTU")
  func cut() throws {
    phone.send(.setNotify(peer, try pair.id(0x2A37), true))
    guard case .subscribed(let central, _)? = sensor.recorder.take().first else {
      Issue.record("nobody subscribed")
      return
    }
    #expect(central.maximumUpdateLength == 512)
    #expect(update(ByteSlice([UInt8](repeating: 9, count: 600))))
    pair.air.run()
    #expect(phone.takeEvents().map(\.count) == ["value ".count + 2 * 512])
  }

  @Test("6.12 A disconnected central counts as unsubscribed")
  func gone() throws {
    phone.send(.setNotify(peer, try pair.id(0x2A37), true))
    _ = sensor.takeEvents()
    pair.air.carryAway(1)
    #expect(sensor.takeEvents() == ["unsubscribed 2", "central gone"])
    #expect(update([1]))
  }

  @Test("6.13 Updates left unsent by a lost link return their credits, and new room is reported")
  func creditsAfterDisconnect() throws {
    phone.send(.setNotify(peer, try pair.id(0x2A37), true))
    _ = sensor.takeEvents()
    pair.air.setCongested(true, 0)
    while update([0]) { pair.air.run() }
    pair.air.carryAway(1)
    #expect(sensor.takeEvents() == ["unsubscribed 2", "central gone", "ready to update"])
  }

  @Test("3.9 Subscriptions end with the link", .requirement("L030"))
  func afterReconnecting() throws {
    phone.send(.setNotify(peer, try pair.id(0x2A37), true))
    pair.air.carryAway(1)
    pair.air.bringBack(1)
    phone.send(.connect(peer, delay: .zero, reconnects: false))
    pair.air.advance()
    _ = phone.takeEvents()
    #expect(update([1]))
    pair.air.run()
    #expect(phone.takeEvents() == [])
  }
}
