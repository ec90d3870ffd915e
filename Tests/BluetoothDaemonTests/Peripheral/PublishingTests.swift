import BluetoothHost
import BluetoothWire
import Requirements
import Testing

@testable import BluetoothDaemon

/// The connection parameters that are requested for each latency.
private let latencies: [(ConnectionLatency, LinkParameters)] = [
  (.low, LinkParameters(minimumInterval: 12, maximumInterval: 12, latency: 0, supervisionTimeout: 200)),
  (.medium, LinkParameters(minimumInterval: 24, maximumInterval: 48, latency: 0, supervisionTimeout: 400)),
  (.high, LinkParameters(minimumInterval: 160, maximumInterval: 240, latency: 0, supervisionTimeout: 600)),
]

@Suite("Requesting a different latency")
struct LatencyTests {
  @Test(
    "The peripheral requests 15 ms, 30 to 60 ms, or 200 to 300 ms from the central",
    .requirement("A037", "K041", "K042"), .symbol("CBPeripheralManager.setDesiredConnectionLatency(_:for:)"),
    arguments: latencies)
  func parameters(_ latency: ConnectionLatency, _ parameters: LinkParameters) throws {
    let pair = try ConnectedPair()
    pair.phone.send(.setNotify(pair.peer, try pair.id(0x2A37), true))
    guard case .subscribed(let central, _)? = pair.sensor.recorder.take().first else {
      Issue.record("nobody has subscribed")
      return
    }
    pair.sensor.send(.setConnectionLatency(latency, central.handle))
    #expect(pair.air.devices[1].controller.parameterUpdates.isEmpty, "a new link is given 5 s · Vol 3, Part C, 9.3.12")
    pair.air.pass(.seconds(6))
    #expect(pair.air.devices[1].controller.parameterUpdates == [parameters])
  }
}

@Suite("Publishing and advertising")
struct PublishingTests {
  let air = DaemonNetwork()
  let sensor: Sensor

  init() {
    sensor = Sensor(air, air.add("Sensor"))
    _ = sensor.takeEvents()
  }

  @Test("6.1 A second start is refused")
  func alreadyAdvertising() {
    let start = PeripheralCommand.startAdvertising(localName: nil, services: [0x180D])
    #expect(sensor.send(start).map(\.text) == ["advertising ok"])
    #expect(sensor.send(start).map(\.text) == ["advertising alreadyAdvertising"])
    #expect(sensor.send(.stopAdvertising).isEmpty)
    #expect(!air.devices[0].controller.isAdvertising)
    #expect(sensor.send(start).map(\.text) == ["advertising ok"])
  }

  @Test("6.1 Every start is answered, even if its stop overtakes it")
  func overtaken() {
    sensor.session.send(.startAdvertising(localName: nil, services: []))
    sensor.session.send(.stopAdvertising)
    sensor.session.send(.startAdvertising(localName: nil, services: []))
    air.run()
    #expect(sensor.takeEvents() == ["advertising ok", "advertising ok"])
    #expect(air.devices[0].controller.isAdvertising)
  }

  @Test("6.2 The data are 28 octets and a name in the scan response")
  func data() {
    sensor.advertise("Thermostat", [BluetoothUUID(high: 1, low: 2), 0x180D])
    let controller = air.devices[0].controller
    #expect(AdvertisingFields(controller.advertisingData).services.count == 2)
    #expect(AdvertisingFields(controller.scanResponse).localName == "Thermostat")
  }

  @Test(
    "Two sessions advertise together; the end of the first keeps the other's advertising", .requirement("K035", "L014"))
  func together() {
    let other = Sensor(air, 0)
    sensor.advertise("One", [0x180D])
    other.advertise(nil, [0x1816])
    #expect(AdvertisingFields(air.devices[0].controller.advertisingData).services == [0x180D, 0x1816])
    sensor.session.close()
    air.run()
    let fields = AdvertisingFields(air.devices[0].controller.advertisingData)
    #expect(fields.services == [0x1816])
    #expect(fields.localName == nil)
    #expect(air.devices[0].controller.isAdvertising)
  }

  @Test("Advertising goes on after a central has connected")
  func goesOn() throws {
    sensor.advertise()
    _ = try Phone(air, air.add("Phone")).findAndConnect()
    #expect(air.devices[0].controller.isAdvertising)
    #expect(sensor.takeEvents().filter { $0.hasPrefix("advertising") } == [])
  }

  @Test("6.3 Services are added in order; the system's own are refused", .requirement("L039"))
  func adds() {
    #expect(sensor.add(1, 0x180D, []) == ["added 1 ok"])
    #expect(sensor.add(2, 0x180F, []) == ["added 2 uuidNotAllowed"])
    #expect(sensor.add(2, ConnectedPair.battery, []) == ["added 2 ok"])
  }

  @Test("6.3 An included service must exist first")
  func includes() {
    #expect(sensor.add(1, 0x180D, includes: [2], []) == ["added 1 invalidParameters"])
    #expect(sensor.add(2, 0x1816, []) == ["added 2 ok"])
    #expect(sensor.add(1, 0x180D, includes: [2], []) == ["added 1 ok"])
    #expect(sensor.add(1, 0x180D, []) == ["added 1 invalidParameters"])
  }

  @Test("6.3 A service and one that includes it can be removed in either order", .requirement("K044"))
  func removes() throws {
    sensor.add(2, 0x1816, [])
    sensor.add(1, 0x180D, includes: [2], [])
    sensor.send(.removeService(LocalAttributeID(number: 2)))
    sensor.send(.removeService(LocalAttributeID(number: 1)))
    sensor.advertise()
    let phone = Phone(air, air.add("Phone"))
    let peer = try phone.findAndConnect()
    #expect(try phone.services(peer).isEmpty)
  }

  @Test("6.16 Services of several sessions are in one database, and each removes its own", .requirement("K035"))
  func severalSessions() throws {
    let other = Sensor(air, 0)
    sensor.add(1, 0x180D, [])
    other.add(1, 0x1816, [.dynamic(0x2A5B, .read)])
    sensor.advertise()
    let phone = Phone(air, air.add("Phone"))
    let peer = try phone.findAndConnect()
    #expect(try phone.services(peer).map(\.uuid) == [0x180D, 0x1816])
    sensor.send(.removeAllServices)
    #expect(try phone.services(peer).map(\.uuid) == [0x1816])
    let id = try #require(try phone.discover(peer)[0x2A5B]).id
    _ = sensor.takeEvents()
    phone.send(.read(peer, id))
    #expect(sensor.takeEvents() == [])
    other.send(.respond(try other.lastRequest(), nil, value: [5]))
    #expect(phone.takeEvents().last == "read 05")
  }

  @Test("A service stands at its fixed handles, and one whose handles are taken is refused with the handle")
  func fixedHandles() throws {
    func service(_ id: UInt32, at handle: AttributeHandle?, value: AttributeHandle?) -> PeripheralCommand {
      var definition = GATTCharacteristicDefinition.dynamic(0x2A37, .read)
      definition.handle = value
      return .addServiceAt(
        LocalServiceInfo(
          id: LocalAttributeID(number: id), uuid: 0x180D, isPrimary: true, includes: [],
          characteristics: [LocalCharacteristicInfo(id: LocalAttributeID(number: id + 1), definition: definition)],
          handle: handle))
    }
    func added(_ event: PeripheralEvent) -> SessionError? {
      if case .serviceAdded(_, let error) = event { error } else { nil }
    }
    #expect(sensor.send(service(1, at: 300, value: 310)).map(\.text) == ["added 1 ok"])
    let other = Sensor(air, 0)
    _ = other.takeEvents()
    for (handle, value, refused) in [(305, nil, 305), (400, 400, 400), (0, nil, 0), (1, nil, 1)]
      as [(AttributeHandle, AttributeHandle?, AttributeHandle)]
    {
      #expect(other.send(service(1, at: handle, value: value)).compactMap(added) == [.unusableHandle(refused)])
    }
    // A service without a handle follows all others.
    other.add(1, 0x1816, [])
    sensor.advertise()
    let phone = Phone(air, air.add("Phone"))
    let peer = try phone.findAndConnect()
    #expect(try phone.services(peer).map(\.id.handle) == [300, 312])
    #expect(try #require(try phone.discover(peer)[0x2A37]).id.handle == 311)
    sensor.send(.removeService(LocalAttributeID(number: 1)))
    #expect(sensor.send(service(1, at: 300, value: 310)).map(\.text) == ["added 1 ok"])
  }

  @Test("A closed session leaves neither an unanswered request nor a service")
  func closes() throws {
    sensor.add(1, 0x180D, [.dynamic(0x2A37, .read)])
    let other = Sensor(air, 0)
    other.advertise()
    let phone = Phone(air, air.add("Phone"))
    let peer = try phone.findAndConnect()
    let id = try #require(try phone.discover(peer)[0x2A37]).id
    phone.send(.read(peer, id))
    sensor.session.close()
    air.run()
    #expect(phone.takeEvents() == ["read att 0x0E", "modified 1"])
    #expect(try phone.services(peer).isEmpty)
  }

  @Test("6.15 Removing a service unsubscribes its centrals")
  func unsubscribes() throws {
    sensor.add(1, 0x180D, [.dynamic(0x2A37, .notify)])
    sensor.advertise()
    let phone = Phone(air, air.add("Phone"))
    let peer = try phone.findAndConnect()
    phone.send(.setNotify(peer, try #require(try phone.discover(peer)[0x2A37]).id, true))
    _ = sensor.takeEvents()
    #expect(sensor.send(.removeService(LocalAttributeID(number: 1))).map(\.text) == ["unsubscribed 2"])
    #expect(phone.takeEvents() == ["modified 1"])
  }

  @Test("A session ends the link to a central, unless another session has services or uses the link")
  func endsLink() throws {
    let other = Sensor(air, 0)
    other.add(1, 0x1816, [])
    sensor.advertise()
    let phone = Phone(air, air.add("Phone"))
    _ = try phone.findAndConnect()
    _ = (sensor.takeEvents(), other.takeEvents(), phone.takeEvents())
    let central = try #require(air.devices[0].daemon.links.first).peer
    #expect(sensor.send(.disconnect(central)).map(\.text) == ["central gone"])
    #expect(air.linkCount(0) == 1 && phone.takeEvents().isEmpty && other.takeEvents().isEmpty)
    other.send(.removeService(LocalAttributeID(number: 1)))
    _ = phone.takeEvents()
    let own = Phone(air, 0)
    own.send(.connect(central, delay: .zero, reconnects: false))
    #expect(sensor.send(.disconnect(central)).map(\.text) == ["central gone"])
    #expect(air.linkCount(0) == 1)
    own.send(.cancelConnection(central))
    #expect(sensor.send(.disconnect(central)).map(\.text) == ["central gone"])
    #expect(air.linkCount(0) == 0)
    let reason = HCI.ErrorCode.remoteUserTerminatedConnection
    #expect(phone.takeEvents().last == "disconnected 0 link \(reason)")
    #expect(sensor.send(.disconnect(central)).isEmpty)
  }

  @Test("A peripheral's app can't disconnect a link that a central created", .requirement("A006"))
  func peripheralLink() throws {
    sensor.advertise()
    let phone = Phone(air, air.add("Phone"))
    _ = try phone.findAndConnect()
    let own = Phone(air, 0)
    _ = own.takeEvents()
    let central = try #require(air.devices[0].daemon.links.first).peer
    #expect(own.send(.connect(central, delay: .zero, reconnects: false)).first?.text.hasPrefix("connected") == true)
    #expect(own.send(.cancelConnection(central)).last?.text.hasPrefix("disconnected") == true)
    #expect(air.linkCount(0) == 1)
  }
}
