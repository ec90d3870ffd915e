import BluetoothLab
import CoreBluetooth
import Testing

@Suite struct TestKitTests {
  private let level = CBUUID(string: "6F0D2A10-7C56-4D1F-9E0F-31B7A5F0C0D1")
  private let lampService = "6F0D2A10-7C56-4D1F-9E0F-31B7A5F0C0D0"

  private func makeLamp(
    in world: World, _ permissions: CBAttributePermissions = [.readable, .writeable]
  ) -> (TestPeripheral, CBMutableCharacteristic) {
    let characteristic = CBMutableCharacteristic(
      type: level, properties: [.read, .write, .notify], value: nil, permissions: permissions)
    return (TestPeripheral(on: world.makeDevice(named: "lamp")), characteristic)
  }

  @Test("The test kit's central reads, writes and gets values with one line for each")
  func centralUsesAnAccessory() throws {
    let world = World(seed: 1)
    world.add(HeartRateSensor(), named: "strap")
    let phone = TestCentral(on: world.makeDevice(named: "phone", at: Position(x: 2)))
    let strap = try phone.connect(to: "Heart Rate")
    #expect(strap.state == .connected)
    #expect(try phone.read("2A38", of: strap) == [1])
    try phone.setNotify(for: "2A37", of: strap)
    let first = try phone.nextValue(of: "2A37", of: strap)
    let second = try phone.nextValue(of: "2A37", of: strap)
    #expect(first.count == 4 && second.count == 4 && first != second)
    try phone.disconnect(from: strap)
    #expect(strap.state == .disconnected)
    #expect(phone.events.last == .disconnected("strap", nil))
  }

  @Test("The forms for await give the same events at the same times as the synchronous ones")
  func formsAgree() async throws {
    let synchronous = try Self.session()
    let asynchronous = try await Self.asynchronousSession()
    #expect(synchronous == asynchronous)
    #expect(synchronous.count > 8)
  }

  private static func session() throws -> [Recorded<RecordingCentralDelegate.Event>] {
    let world = World(seed: 3)
    world.add(HeartRateSensor(), named: "strap")
    let phone = TestCentral(on: world.makeDevice(named: "phone", at: Position(x: 2)))
    let strap = try phone.connect(to: .service(CBUUID(string: "180D")))
    _ = try phone.read("2A38", of: strap)
    try phone.setNotify(for: "2A37", of: strap)
    _ = try phone.nextValue(of: "2A37", of: strap)
    try phone.disconnect(from: strap)
    return phone.recorder.records
  }

  private static func asynchronousSession() async throws -> [Recorded<RecordingCentralDelegate.Event>] {
    let world = World(seed: 3)
    world.add(HeartRateSensor(), named: "strap")
    let phone = TestCentral(on: world.makeDevice(named: "phone", at: Position(x: 2)))
    let strap = try await phone.connect(to: .service(CBUUID(string: "180D")))
    _ = try await phone.read("2A38", of: strap)
    try await phone.setNotify(for: "2A37", of: strap)
    _ = try await phone.nextValue(of: "2A37", of: strap)
    try await phone.disconnect(from: strap)
    return phone.recorder.records
  }

  @Test("The test kit's peripheral answers reads, stores writes and sends values")
  func peripheralServesACentral() throws {
    let world = World(seed: 1)
    let (lamp, characteristic) = makeLamp(in: world)
    lamp.recorder.values[level] = [20]
    try lamp.publish(lampService, [characteristic], name: "Lamp")
    let phone = TestCentral(on: world.makeDevice(named: "phone", at: Position(x: 2)))
    let found = try phone.connect(to: "Lamp")
    #expect(try phone.read(level.uuidString, of: found) == [20])
    try phone.write([80], to: level.uuidString, of: found)
    #expect(lamp.recorder.values[level] == [80])
    try phone.setNotify(for: level.uuidString, of: found)
    try lamp.waitForSubscriber(of: level.uuidString)
    #expect(lamp.update([90], for: characteristic))
    #expect(try phone.nextValue(of: level.uuidString, of: found) == [90])
    #expect(
      Array(lamp.events.suffix(3)) == [
        .readRequested(level, offset: 0), .writeRequested(level, [80], offset: 0),
        .subscribed(phone.identifierFor(lamp), to: level),
      ])
  }

  @Test("An error of the peer is thrown as the app got it")
  func errorsAreThrown() throws {
    let world = World(seed: 1)
    let (lamp, characteristic) = makeLamp(in: world, [.readable])
    lamp.recorder.answerRead = { _ in .insufficientResources }
    try lamp.publish(lampService, [characteristic], name: "Lamp")
    let phone = TestCentral(on: world.makeDevice(named: "phone", at: Position(x: 2)))
    let found = try phone.connect(to: "Lamp")
    #expect(throws: CBATTError(.insufficientResources)) { try phone.read(level.uuidString, of: found) }
    #expect(throws: CBATTError(.writeNotPermitted)) { try phone.write([1], to: level.uuidString, of: found) }
    #expect(
      phone.events.last == .valueWritten("Lamp", level, .att(.writeNotPermitted)))
  }

  @Test("A missing peripheral is an error that shows the call and the time")
  func missingPeripheralIsAnError() throws {
    let world = World(seed: 1)
    let phone = TestCentral(on: world.makeDevice(named: "phone"), limit: .seconds(5))
    let failure = try #require(throws: ExpectationFailure.self) { try phone.connect(to: "Lamp") }
    #expect(failure.description.hasPrefix("a peripheral named \"Lamp\" is connected: not within 5.0 seconds (at 5.000"))
    #expect(failure.description.contains("call      scanForPeripherals(withServices: nil)"))
    #expect(failure.description.hasSuffix("no device sent a packet"))
  }

  @Test("A missing characteristic is an error at once that names the ones that exist")
  func missingCharacteristicIsAnError() throws {
    let world = World(seed: 1)
    world.add(HeartRateSensor(), named: "strap")
    let phone = TestCentral(on: world.makeDevice(named: "phone", at: Position(x: 2)))
    let strap = try phone.connect(to: "Heart Rate")
    let failure = try #require(throws: ExpectationFailure.self) { try phone.read("2A1C", of: strap) }
    #expect(failure.reason.contains("2A37"))
    #expect(world.now < .seconds(5))
  }

  @Test("A characteristic that the peripheral adds later is found, and all attributes are discovered again")
  func addedCharacteristicIsFound() throws {
    let world = World(seed: 1)
    let (lamp, characteristic) = makeLamp(in: world)
    lamp.recorder.values[level] = [20]
    try lamp.publish(lampService, [characteristic], name: "Lamp")
    let phone = TestCentral(on: world.makeDevice(named: "phone", at: Position(x: 2)))
    let found = try phone.connect(to: "Lamp")
    #expect(try phone.read(level.uuidString, of: found) == [20])
    // The phone has subscribed to Service Changed by then.
    world.run(for: .seconds(5))
    func changes() -> Int {
      phone.events.count { if case .servicesModified = $0 { true } else { false } }
    }
    for (index, service) in ["FF00", "FF10"].enumerated() {
      let uuid = CBUUID(string: "FF0\(index + 1)")
      let added = CBMutableService(type: CBUUID(string: service), primary: true)
      added.characteristics = [
        CBMutableCharacteristic(type: uuid, properties: .read, value: nil, permissions: .readable)
      ]
      lamp.recorder.values[uuid] = [UInt8(index)]
      let before = changes()
      try lamp.add(added)
      try world.expect("the phone learns of the service") { changes() > before }
      if index == 0 {
        #expect(try phone.read(uuid.uuidString, of: found) == [0])
      } else {
        try phone.discoverAttributes(of: found)
      }
      let services = try #require(found.services)
      #expect(services.contains { $0.uuid == added.uuid && $0.characteristics?.map(\.uuid) == [uuid] })
    }
  }

  @Test("A characteristic that the app's own discovery has left out is found")
  func filteredDiscoveryIsCompleted() throws {
    let world = World(seed: 1)
    world.add(HeartRateSensor(), named: "strap")
    let phone = TestCentral(on: world.makeDevice(named: "phone", at: Position(x: 2)))
    let strap = try phone.connect(to: "Heart Rate")
    strap.discoverServices([CBUUID(string: "180D")])
    try world.expect("the service is discovered") { strap.services?.count == 1 }
    let service = try #require(strap.services?.first)
    strap.discoverCharacteristics([CBUUID(string: "2A37")], for: service)
    try world.expect("the characteristic is discovered") { service.characteristics?.count == 1 }
    // In the service with one characteristic that the app knows.
    #expect(try phone.read("2A38", of: strap) == [1])
    let discoveries = phone.events.count { if case .servicesDiscovered = $0 { true } else { false } }
    // In a service that the app does not know, but that is known now: without another discovery.
    #expect(try phone.read("2A19", of: strap) == [100])
    #expect(phone.events.count { if case .servicesDiscovered = $0 { true } else { false } } == discoveries)
  }

  @Test("A channel that the test kit opens carries octets both ways")
  func channelOpens() throws {
    let world = World(seed: 1)
    let (lamp, characteristic) = makeLamp(in: world)
    try lamp.publish(lampService, [characteristic], name: "Lamp")
    let psm = try lamp.publishChannel()
    let phone = TestCentral(on: world.makeDevice(named: "phone", at: Position(x: 2)))
    let channel = try phone.openChannel(psm, to: phone.connect(to: "Lamp"))
    #expect(channel.psm == psm)
    #expect(lamp.recorder.channels.map(\.psm) == [psm])
  }
}

extension TestCentral {
  /// The identifier by which a peripheral knows this central: it has met no other one.
  fileprivate func identifierFor(_ peripheral: TestPeripheral) -> UUID {
    for case .subscribed(let central, to: _) in peripheral.events { return central }
    return UUID()
  }
}
