import BluetoothHost
import BluetoothWire
import Requirements
import Testing

@testable import BluetoothDaemon

/// A phone that is connected to a sensor with a heart rate service and an included one.
struct ConnectedPair {
  let air = DaemonNetwork()
  let sensor: Sensor
  let phone: Phone
  let peer: PeerHandle

  static let battery = BluetoothUUID(high: 0x0000_180F_0000_1000, low: 0x8000_0080_5F9B_34FB)

  init(maximumMTU: Int = 517) throws {
    sensor = Sensor(air, air.add("Sensor", maximumMTU: maximumMTU))
    phone = Phone(air, air.add("Phone"))
    sensor.add(10, Self.battery, [.dynamic(0x2A19, .read)])
    sensor.add(
      1, 0x180D, includes: [10],
      [
        .dynamic(0x2A37, [.notify, .read]), .cached(0x2A38, [1]), .dynamic(0x2A39, [.write, .writeWithoutResponse]),
        .dynamic(0x2A3A, .indicate),
      ])
    sensor.advertise()
    peer = try phone.findAndConnect()
    _ = sensor.takeEvents()
  }

  func id(_ uuid: BluetoothUUID) throws -> RemoteAttributeID {
    try #require(try phone.discover(peer)[uuid]).id
  }
}

@Suite("Discovery and use of a peer's attributes")
struct AttributeTests {
  let pair: ConnectedPair
  let phone: Phone
  let sensor: Sensor
  let peer: PeerHandle

  init() throws {
    pair = try ConnectedPair()
    (phone, sensor, peer) = (pair.phone, pair.sensor, pair.peer)
  }

  @Test("4.18 The GAP and GATT services are hidden; 4.3 a filter omits other services")
  func services() throws {
    #expect(try phone.services(peer).map(\.uuid) == [0x180F, 0x180D])
    #expect(try phone.services(peer, [0x180D, 0x1816]).map(\.uuid) == [0x180D])
    #expect(try phone.services(peer, [0x1800]).isEmpty)
  }

  @Test("4.3 An empty filter finds all services, like no filter", .requirement("G029"))
  func emptyFilter() throws {
    #expect(try phone.services(peer, []).map(\.uuid) == [0x180F, 0x180D])
    #expect(try phone.services(peer, nil).map(\.uuid) == [0x180F, 0x180D])
  }

  @Test("4.5 A filter without a match gives no error", .requirement("G031"))
  func noMatch() throws {
    let service = try #require(try phone.services(peer, [0x180D]).first)
    #expect(
      phone.send(.discoverCharacteristics(peer, service.id, [0x2A00])).map(\.text) == ["characteristics []"])
  }

  @Test("Included services are found and identical to the services themselves")
  func includes() throws {
    let all = try phone.services(peer)
    let service = try #require(all.last)
    let events = phone.send(.discoverIncludedServices(peer, service.id, nil))
    guard case .includedServicesDiscovered(_, _, .success(let included))? = events.first else {
      Issue.record("no answer")
      return
    }
    #expect(included == [all[0]])
  }

  @Test(
    "4.3 A filter omits included services of other types; a filter without a match gives no error",
    .requirement("G030"), .symbol("CBPeripheral.discoverIncludedServices(_:for:)"))
  func filteredIncludes() throws {
    sensor.add(20, 0x1816, [])
    sensor.add(30, 0x1818, includes: [10, 20], [])
    let service = try #require(try phone.services(peer, [0x1818]).first).id
    func includes(_ filter: [BluetoothUUID]?) -> [String] {
      phone.send(.discoverIncludedServices(peer, service, filter)).map(\.text)
    }
    #expect(includes([0x1816]) == ["includes [1816]"])
    // Every spelling of a UUID gives the same filter.
    #expect(includes([ConnectedPair.battery]) == ["includes [180F]"])
    #expect(includes([0x1816, 0x180F, 0x180D]) == ["includes [180F, 1816]"])
    #expect(includes([0x180D]) == ["includes []"])
    #expect(includes([]) == includes(nil))
  }

  @Test("Characteristics are discovered with their properties and descriptors, including the system's own")
  func characteristics() throws {
    let found = try phone.discover(peer)
    #expect(found[0x2A37]?.properties == [.notify, .read])
    let id = try #require(found[0x2A37]).id
    #expect(phone.send(.discoverDescriptors(peer, id)).map(\.text) == ["descriptors [2902]"])
    let plain = try #require(found[0x2A38]).id
    #expect(phone.send(.discoverDescriptors(peer, plain)).map(\.text) == ["descriptors []"])
  }

  @Test("The results of one session's discovery serve another session without a new request to the peer")
  func sharedDiscovery() throws {
    let id = try pair.id(0x2A38)
    let other = Phone(pair.air, 1)
    other.send(.connect(peer, delay: .zero, reconnects: false))
    #expect(try other.services(peer).count == 2)
    #expect(other.send(.read(peer, id)).map(\.text) == ["read 01"])
  }

  @Test("6.4 A cached value is served without asking the app")
  func cached() throws {
    #expect(phone.send(.read(peer, try pair.id(0x2A38))).map(\.text) == ["read 01"])
    #expect(sensor.takeEvents() == [])
  }

  @Test("4.6, 6.8 A dynamic value is requested from the app", .requirement("K030"))
  func dynamic() throws {
    phone.send(.read(peer, try pair.id(0x2A37)))
    let request = try sensor.lastRequest()
    sensor.send(.respond(request, nil, value: [0, 60]))
    #expect(phone.takeEvents() == ["read 003C"])
  }

  @Test("6.11 The app's error code arrives unchanged")
  func applicationError() throws {
    phone.send(.read(peer, try pair.id(0x2A37)))
    sensor.send(.respond(try sensor.lastRequest(), ATT.ErrorCode(rawValue: 0x81), value: []))
    #expect(phone.takeEvents() == ["read att 0x81"])
  }

  @Test("6.8 A second answer to a request is ignored")
  func secondAnswer() throws {
    let id = try pair.id(0x2A37)
    phone.send(.read(peer, id))
    let first = try sensor.lastRequest()
    sensor.send(.respond(first, nil, value: [1]))
    #expect(phone.takeEvents() == ["read 01"])
    phone.send(.read(peer, id))
    sensor.session.send(.respond(first, nil, value: [2]))
    sensor.air.run()
    #expect(phone.takeEvents() == [])
    sensor.send(.respond(try sensor.lastRequest(), nil, value: [3]))
    #expect(phone.takeEvents() == ["read 03"])
  }

  @Test("4.7 A long value is read completely")
  func longRead() throws {
    phone.send(.read(peer, try pair.id(0x2A37)))
    let value = (0..<600).map { UInt8(truncatingIfNeeded: $0) }
    // With MTU 517 the first response holds 516 octets, but no value has more than 512.
    sensor.send(.respond(try sensor.lastRequest(), nil, value: ByteSlice(value.prefix(512))))
    let events = phone.takeEvents()
    #expect(events == ["read \(ByteSlice(value.prefix(512)))"])
  }

  @Test("4.8 Writes are answered one by one, in order")
  func writes() throws {
    let id = try pair.id(0x2A39)
    phone.session.send(.write(peer, id, [1]))
    phone.send(.write(peer, id, [2]))
    #expect(sensor.recorder.take().map(\.text) == ["write 4 at 0: 01"])
    #expect(phone.takeEvents() == [])
  }

  @Test("4.8 A written value is acknowledged by the app")
  func acknowledged() throws {
    let id = try pair.id(0x2A39)
    phone.send(.write(peer, id, [1]))
    sensor.send(.respond(try sensor.lastRequest(), nil, value: []))
    #expect(phone.takeEvents() == ["written ok"])
    phone.send(.write(peer, id, [1]))
    sensor.send(.respond(try sensor.lastRequest(), .writeNotPermitted, value: []))
    #expect(phone.takeEvents() == ["written att 0x03"])
  }

  @Test("4.9 A write beyond 512 octets is refused")
  func tooLong() throws {
    let id = try pair.id(0x2A39)
    let events = phone.send(.write(peer, id, ByteSlice([UInt8](repeating: 0, count: 513))))
    #expect(events.map(\.text) == ["written att 0x0D"])
  }

  @Test("6.10 A request that the permissions do not allow is refused without asking the app")
  func permissions() throws {
    #expect(phone.send(.write(peer, try pair.id(0x2A38), [1])).map(\.text) == ["written att 0x03"])
    #expect(sensor.takeEvents() == [])
  }

  @Test("4.9 Writes without response use credits, which return when the controller has sent them")
  func writesWithoutResponse() throws {
    let id = try pair.id(0x2A39)
    let credits = phone.session.writeCredits(for: peer)
    pair.air.setCongested(true, 1)
    var count = 0
    while credits.take() {
      phone.session.send(.writeWithoutResponse(peer, id, [UInt8(count)]))
      count += 1
    }
    pair.air.run()
    #expect(count == SessionLimits.writesWithoutResponse)
    // The controller has 8 buffers.
    #expect(credits.isAvailable)
    while credits.take() { phone.session.send(.writeWithoutResponse(peer, id, [0])) }
    pair.air.run()
    #expect(phone.takeEvents() == ["ready to write"])
    while credits.take() { phone.session.send(.writeWithoutResponse(peer, id, [0])) }
    #expect(!credits.isAvailable)
    pair.air.run()
    _ = phone.takeEvents()
    pair.air.setCongested(false, 1)
    #expect(phone.takeEvents().first == "ready to write")
    #expect(phone.takeEvents() == [])
    #expect(sensor.takeEvents().first == "command 4 at 0: 00")
  }

  @Test("4.9 All credits return at the end of the link")
  func creditsAfterDisconnect() throws {
    let id = try pair.id(0x2A39)
    let credits = phone.session.writeCredits(for: peer)
    pair.air.setCongested(true, 1)
    while credits.take() { phone.session.send(.writeWithoutResponse(peer, id, [0])) }
    pair.air.carryAway(0)
    var count = 0
    while credits.take() { count += 1 }
    #expect(count == SessionLimits.writesWithoutResponse)
  }

  @Test("4.1 Requests to a peer that is not connected are dropped, and the credit returns")
  func notConnected() throws {
    let id = try pair.id(0x2A39)
    phone.send(.cancelConnection(peer))
    let credits = phone.session.writeCredits(for: peer)
    #expect(credits.take())
    #expect(phone.send(.writeWithoutResponse(peer, id, [0])).isEmpty)
    #expect(phone.send(.discoverServices(peer, nil)).isEmpty)
    var count = 0
    while credits.take() { count += 1 }
    #expect(count == SessionLimits.writesWithoutResponse)
  }

  @Test("4.16 A removed service is reported to the apps that discovered it, and is not found again")
  func servicesModified() throws {
    _ = try phone.discover(peer)
    let other = Phone(pair.air, 1)
    other.send(.connect(peer, delay: .zero, reconnects: false))
    #expect(sensor.send(.removeService(LocalAttributeID(number: 1))).isEmpty)
    #expect(phone.takeEvents() == ["modified 1"])
    #expect(other.takeEvents() == [])
    #expect(try phone.services(peer).map(\.uuid) == [0x180F])
  }

  @Test(
    "A call for an attribute that the peer has removed meanwhile gives invalidHandle, without a request to the peer",
    .symbol("CBError.Code.invalidHandle"))
  func callAfterRemoval() throws {
    let service = try #require(try phone.services(peer, [0x180D]).first).id
    let characteristic = try pair.id(0x2A37)
    sensor.send(.removeService(LocalAttributeID(number: 1)))
    #expect(phone.takeEvents() == ["modified 1"])
    // The app's calls cross the report.
    #expect(
      phone.send(.discoverCharacteristics(peer, service, nil)).map(\.text) == ["characteristics invalidHandle"])
    #expect(phone.send(.setNotify(peer, characteristic, true)).map(\.text) == ["notifying false invalidHandle"])
  }

  @Test(
    "4.16 A change inside a service invalidates the whole service for the apps that discovered it",
    .requirement("A045"), .symbol("CBPeripheralDelegate.peripheral(_:didModifyServices:)"))
  func partialChange() throws {
    let id = try pair.id(0x2A37)
    let heartRate = try #require(try phone.services(peer, [0x180D]).first).id
    #expect(id.handle > heartRate.handle)
    pair.air.indicateChange(id.handle...id.handle + 1, by: 0)
    guard case .servicesModified(peer, let modified)? = phone.recorder.take().first else {
      Issue.record("nobody is told")
      return
    }
    #expect(modified == [heartRate])
    #expect(try phone.services(peer).map(\.uuid) == [0x180F, 0x180D])
    #expect(try pair.id(0x2A37) == id)
  }

  @Test("4.16 A changed range that overlaps the end of one service and the start of the next invalidates both")
  func changeAcrossServices() throws {
    let services = try phone.services(peer)
    try #require(services.map(\.uuid) == [0x180F, 0x180D])
    let start = services[1].id.handle
    pair.air.indicateChange(start - 1...start, by: 0)
    guard case .servicesModified(peer, let modified)? = phone.recorder.take().first else {
      Issue.record("nobody is told")
      return
    }
    #expect(modified == services.map(\.id))
  }

  @Test("4.16 A change inside a service ends its subscriptions, and apps can subscribe again")
  func subscriptionsEnd() throws {
    let id = try pair.id(0x2A37)
    phone.send(.setNotify(peer, id, true))
    _ = sensor.takeEvents()
    // The declaration of the last characteristic: no attribute of the subscribed one.
    let last = try pair.id(0x2A3A)
    pair.air.indicateChange(last.handle - 1...last.handle - 1, by: 0)
    #expect(phone.takeEvents() == ["modified 1"])
    let update = PeripheralCommand.update(LocalAttributeID(number: 2), [1], nil)
    sensor.send(update)
    #expect(phone.takeEvents() == [], "the app has no characteristic for it")
    #expect(phone.send(.setNotify(peer, try pair.id(0x2A37), true)).map(\.text) == ["notifying true ok"])
    sensor.send(update)
    #expect(phone.takeEvents() == ["value 01"])
  }

  @Test("Discovering characteristics of a service that does not exist is an error")
  func unknownService() {
    let events = phone.send(.discoverCharacteristics(peer, RemoteAttributeID(0x7777), nil))
    #expect(events.map(\.text) == ["characteristics invalidHandle"])
  }
}
