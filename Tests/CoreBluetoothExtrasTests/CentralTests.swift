import AsyncTestSupport
import BluetoothLab
import CoreBluetooth
import CoreBluetoothExtras
import Testing

@Suite struct CentralTests {
  @Test("The states of a central begin with the present one and follow the power of the device")
  func states() throws {
    let meeting = Meeting()
    let seen = Box<[CBManagerState]>([])
    let watch = meeting.stage.start { [central = meeting.central] in
      for await state in central.states { seen.append(state) }
    }
    meeting.stage.run(for: .seconds(1))
    meeting.phone.setPower(false)
    meeting.stage.run(for: .seconds(1))
    meeting.phone.setPower(true)
    meeting.stage.run(for: .seconds(1))
    #expect(seen.value == [.unknown, .poweredOn, .poweredOff, .poweredOn])
    watch.cancel()
    try meeting.stage.value(of: watch)
    // A later iteration begins with the present state.
    let first = try meeting.stage.perform { [central = meeting.central] in await central.states.first { _ in true } }
    #expect(first == .poweredOn)
  }

  @Test("A task can wait until Bluetooth is on, and can stop waiting")
  func power() throws {
    let meeting = Meeting()
    meeting.phone.setPower(false)
    meeting.stage.run(for: .seconds(1))
    let first = meeting.stage.start { [central = meeting.central] in try await central.waitUntilPoweredOn() }
    let second = meeting.stage.start { [central = meeting.central] in try await central.waitUntilPoweredOn() }
    meeting.stage.run(for: .seconds(1))
    #expect(first.result == nil)
    second.cancel()
    #expect(outcome { try meeting.stage.value(of: second) } == .cancelled)
    meeting.phone.setPower(true)
    try meeting.stage.value(of: first)
    let third = meeting.stage.start { [central = meeting.central, clock = meeting.world.clock] in
      try await central.waitUntilPoweredOn(within: TimeLimit(.seconds(1), on: clock))
    }
    try meeting.stage.value(of: third)
  }

  @Test("Without an adapter, waiting for Bluetooth and scanning throw errors")
  func unsupported() async {
    let central = Central(adapter: "no such adapter")
    #expect(await asyncOutcome { try await central.waitUntilPoweredOn() } == .core(.operationNotSupported))
    #expect(central.state == .unsupported)
    #expect(await asyncOutcome { for try await _ in central.scan() {} } == .core(.operationNotSupported))
  }

  @Test("Without permission, waiting for Bluetooth throws an error as soon as the user has denied it")
  func denied() throws {
    let world = World(seed: 1)
    let (stage, user) = (AppStage(world), ScriptedPrompts())
    user.answer(.no, to: .useBluetooth, after: .seconds(2))
    var options = DeviceOptions()
    options.asksBeforeUse = true
    let central = Central(adapter: world.makeDevice(named: "phone", options, prompts: user))
    let wait = stage.start { try await central.waitUntilPoweredOn() }
    stage.run(for: .seconds(1))
    #expect(wait.result == nil)
    #expect(outcome { try stage.value(of: wait) } == .core(.operationNotSupported))
    #expect(central.state == .unauthorized && central.pendingCount == 0)
  }

  @Test("After a reset of the controller, a peripheral must be discovered again")
  func reset() throws {
    let meeting = Meeting()
    let (stage, characteristic) = (meeting.stage, try meeting.characteristic())
    let former = characteristic.service.peripheral
    let ends = stage.start { await former.disconnections.first { _ in true } }
    meeting.sensor.answersReads = false
    let read = stage.start { try await characteristic.read() }
    stage.run(for: .seconds(1))
    meeting.phone.add([.device(.resetController, when: .at(meeting.world.now))])
    // Apple's API reports the failed read before the state.
    #expect(outcome { try stage.value(of: read) } == .core(.unknown))
    #expect(try stage.value(of: ends) != nil)
    stage.run(for: .seconds(1))
    #expect(meeting.central.state == .poweredOn)
    #expect(outcome { try stage.perform { try await former.connect() } } == .core(.unknownDevice))
    let peripheral = try meeting.connect()
    #expect(peripheral !== former && peripheral.id == former.id)
  }

  @Test("A scan reports an advertisement with its values, and ends with the loop")
  func scan() throws {
    let world = World(seed: 1)
    let stage = AppStage(world)
    world.add(HeartRateSensor(name: "Strap"), named: "strap")
    world.add(Flashlight(), named: "flashlight")
    let central = Central(adapter: world.makeDevice(named: "phone", at: Position(x: 2)))
    let discovery = try stage.perform {
      try await central.waitUntilPoweredOn()
      for try await discovery in central.scan(for: [CBUUID(string: "180D")]) { return discovery }
      throw IsMissing()
    }
    #expect(discovery.advertisement.localName == "Strap")
    #expect(discovery.advertisement.services == [CBUUID(string: "180D")])
    #expect(discovery.advertisement.isConnectable)
    #expect(discovery.peripheral.name == "Strap")
    #expect((-90..<0).contains(try #require(discovery.rssi)))
    #expect(!central.isScanning)
    // Each peripheral once, or each packet.
    let names = Box<[String]>([])
    let all = stage.start {
      for try await discovery in central.scan() { names.append(discovery.peripheral.name ?? "") }
    }
    stage.run(for: .seconds(3))
    #expect(Set(names.value) == ["Strap", "Flashlight"] && names.value.filter { $0 == "Strap" }.count == 1)
    all.cancel()
    #expect(outcome { try stage.value(of: all) } == .cancelled)
    #expect(!central.isScanning)
    names.value = []
    let duplicates = stage.start {
      for try await discovery in central.scan(allowsDuplicates: true) { names.append(discovery.peripheral.name ?? "") }
    }
    stage.run(for: .seconds(3))
    #expect(names.value.filter { $0 == "Strap" }.count > 10)
    duplicates.cancel()
    #expect(outcome { try stage.value(of: duplicates) } == .cancelled)
  }

  @Test("A scan ends with an error when another one begins, and when Bluetooth is turned off or is off")
  func scanEnds() throws {
    let meeting = Meeting()
    _ = try meeting.discover()
    let (stage, central) = (meeting.stage, meeting.central)
    let first = stage.start { for try await _ in central.scan(for: [CBUUID(string: "FFFF")]) {} }
    stage.run(for: .seconds(1))
    let second = stage.start { for try await _ in central.scan(for: [CBUUID(string: "FFFF")]) {} }
    #expect(outcome { try stage.value(of: first) } == .core(.operationCancelled))
    #expect(central.isScanning && second.result == nil)
    meeting.phone.setPower(false)
    #expect(outcome { try stage.value(of: second) } == .core(.operationCancelled))
    #expect(!central.isScanning)
    #expect(
      outcome { try stage.perform { for try await _ in central.scan() {} } } == .core(.operationCancelled))
  }

  @Test("Known and connected peripherals are found by identifier and by service, as one object each")
  func retrieval() throws {
    let meeting = Meeting()
    let peripheral = try meeting.connect()
    _ = try meeting.stage.perform { try await peripheral.discoverServices() }
    #expect(meeting.central.peripherals(withIdentifiers: [UUID(), peripheral.id]).map { $0 === peripheral } == [true])
    #expect(meeting.central.connectedPeripherals(withServices: [Sensor.service]) == [peripheral])
    #expect(meeting.central.peripheralCount == 1)
  }

  @Test("Closing a central ends all that waits, and nothing can be begun afterwards")
  func close() throws {
    let meeting = Meeting()
    let (stage, central) = (meeting.stage, meeting.central)
    let characteristic = try meeting.characteristic()
    let peripheral = characteristic.service.peripheral
    meeting.sensor.answersReads = false
    let read = stage.start { try await characteristic.read() }
    let values = stage.start { for try await _ in characteristic.notifications {} }
    let ends = stage.start { for await _ in peripheral.disconnections {} }
    let states = stage.start { for await _ in central.states {} }
    let scan = stage.start { for try await _ in central.scan() {} }
    stage.run(for: .seconds(1))
    central.close()
    #expect(outcome { try stage.value(of: read) } == .core(.operationCancelled))
    #expect(outcome { try stage.value(of: values) } == .core(.operationCancelled))
    #expect(outcome { try stage.value(of: scan) } == .core(.operationCancelled))
    try stage.value(of: ends)
    try stage.value(of: states)
    #expect(peripheral.pendingCount == 0)
    #expect(outcome { try stage.perform { try await peripheral.connect() } } == .core(.operationCancelled))
    #expect(outcome { try stage.perform { try await central.waitUntilPoweredOn() } } == .core(.operationCancelled))
    #expect(outcome { try stage.perform { for try await _ in central.scan() {} } } == .core(.operationCancelled))
    #expect(outcome { try stage.perform { for try await _ in central.packets() {} } } == .core(.operationCancelled))
    #expect(central.state == .unsupported)
    central.close()
  }
  @Test("The states of a closed central or peripheral are the state unsupported, and then the end")
  func statesAfterClosing() throws {
    let meeting = LocalMeeting()
    let (stage, central, local) = (meeting.stage, meeting.central, meeting.local)
    try stage.perform {
      try await central.waitUntilPoweredOn()
      try await local.waitUntilPoweredOn()
    }
    central.close()
    local.close()
    let states = try stage.perform { () -> [[CBManagerState]] in
      var all: [[CBManagerState]] = [[], []]
      for await state in central.states { all[0].append(state) }
      for await state in local.states { all[1].append(state) }
      return all
    }
    #expect(states == [[.unsupported], [.unsupported]])
    #expect(central.state == .unsupported && local.state == .unsupported)
  }
}
