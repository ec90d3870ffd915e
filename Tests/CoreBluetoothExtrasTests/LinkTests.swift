import AsyncTestSupport
import BluetoothLab
import CoreBluetooth
import CoreBluetoothExtras
import Testing

/// The properties of links: observed and requested.
@Suite struct LinkTests {
  private func parameters(of link: LinkProperties?) -> String { link.map { "\($0.connectionParameters)" } ?? "none" }

  @Test("The properties of a link are there when connecting has ended, and each change is reported in its order")
  func changes() throws {
    let meeting = Meeting()
    let (stage, peripheral) = (meeting.stage, try meeting.discover())
    #expect(peripheral.link == nil && peripheral.connectionParameters == nil)
    let seen = Box<[LinkProperties]>([])
    let watch = stage.start { for await link in peripheral.linkChanges { seen.append(link) } }
    let atOnce = try stage.perform {
      try await peripheral.connect()
      return peripheral.link
    }
    let first = try #require(atOnce)
    #expect(first.connectionParameters.interval == .milliseconds(30))
    #expect(first.connectionParameters.latency == 0)
    #expect(first.connectionParameters.supervisionTimeout == .seconds(2))
    #expect(first.maximumTransmissionUnit == 23)
    #expect(first.transmitPHY == .le1M && first.receivePHY == .le1M && !first.security.isEncrypted)
    stage.run(for: .seconds(2))
    let last = try #require(peripheral.link)
    #expect(last.maximumTransmissionUnit == 517 && peripheral.maximumTransmissionUnit == 517)
    #expect(last.transmitPHY == .le2M && last.receivePHY == .le2M)
    #expect(last.transmitDataLength.octets == 251 && last.receiveDataLength.octets == 251)
    #expect(seen.value.first == first && seen.value.last == last)
    // Each report differs from the one before.
    #expect(zip(seen.value, seen.value.dropFirst()).allSatisfy { $0 != $1 })
    // A later iteration begins with the present properties.
    #expect(try stage.perform { await peripheral.linkChanges.first { _ in true } } == last)
    try stage.perform { try await peripheral.disconnect() }
    #expect(peripheral.link == nil)
    // The iteration continues with the next link.
    let count = seen.value.count
    try stage.perform { try await peripheral.connect() }
    #expect(seen.value.count == count + 1 && seen.value.last?.maximumTransmissionUnit == 23)
    meeting.central.close()
    try stage.value(of: watch)
  }

  @Test("A request for connection parameters returns when they are in use, at least six intervals later")
  func connectionParameters() throws {
    let meeting = Meeting()
    let (stage, peripheral) = (meeting.stage, try meeting.connect())
    stage.run(for: .seconds(1))
    let begin = meeting.world.now
    let parameters = try stage.perform {
      try await peripheral.requestConnectionParameters(
        interval: .milliseconds(7.5) ... .milliseconds(15.1), latency: 4, supervisionTimeout: .milliseconds(995))
    }
    #expect(meeting.world.now - begin >= .milliseconds(180))
    #expect(meeting.world.now - begin < .seconds(1))
    #expect(parameters.interval == .milliseconds(15) && parameters.latency == 4)
    // Rounded up to a step of 10 ms.
    #expect(parameters.supervisionTimeout == .seconds(1))
    #expect(peripheral.connectionParameters == parameters && peripheral.pendingCount == 0)
    // The link is lost after the new timeout.
    meeting.sensor.device.setRadio(isOn: false)
    let lost = meeting.world.now
    #expect(stage.run(until: { peripheral.state == .disconnected }))
    #expect(.milliseconds(900)...(.milliseconds(1_100)) ~= meeting.world.now - lost)
    #expect(peripheral.lastDisconnection?.reason == .connectionTimeout)
  }

  @Test("Requests with values out of range throw an error and send nothing")
  func invalidValues() throws {
    let meeting = Meeting()
    let (stage, peripheral) = (meeting.stage, try meeting.connect())
    stage.run(for: .seconds(1))
    let before = peripheral.link
    let errors = try stage.perform { () -> [LinkRequestError?] in
      var errors: [LinkRequestError?] = []
      func note(_ body: () async throws -> Void) async {
        do { try await body() } catch { return errors.append(error as? LinkRequestError) }
        errors.append(nil)
      }
      let ms = { (value: Double) in Duration.milliseconds(value) }
      await note { try await peripheral.requestConnectionParameters(interval: ms(5)...ms(30)) }
      await note { try await peripheral.requestConnectionParameters(interval: ms(30)...ms(4_002)) }
      // No multiple of 1.25 ms is in the range.
      await note { try await peripheral.requestConnectionParameters(interval: ms(15.1)...ms(16.2)) }
      await note { try await peripheral.requestConnectionParameters(interval: ms(30)...ms(30), latency: 500) }
      await note { try await peripheral.requestConnectionParameters(interval: ms(30)...ms(30), latency: -1) }
      await note {
        try await peripheral.requestConnectionParameters(
          interval: ms(1_000)...ms(1_000), supervisionTimeout: .seconds(2))
      }
      await note {
        try await peripheral.requestConnectionParameters(
          interval: ms(30)...ms(30), supervisionTimeout: .seconds(-1))
      }
      await note { try await peripheral.requestDataLength(DataLength(octets: 26)) }
      await note { try await peripheral.requestDataLength(DataLength(octets: 27, time: .microseconds(327))) }
      await note { try await peripheral.requestDataLength(DataLength(octets: 252)) }
      return errors
    }
    #expect(errors == Array(repeating: .invalidParameters, count: 10))
    #expect(peripheral.link == before && peripheral.pendingCount == 0)
  }

  @Test("A request for PHYs returns the PHYs on which the devices agree")
  func phys() throws {
    let meeting = Meeting()
    let (stage, peripheral) = (meeting.stage, try meeting.connect())
    stage.run(for: .seconds(1))
    let slow = try stage.perform { try await peripheral.requestPHYs(transmit: [.le1M], receive: [.le1M]) }
    #expect(slow.transmitPHY == .le1M && slow.receivePHY == .le1M)
    let coded = try stage.perform {
      try await peripheral.requestPHYs(transmit: [.leCoded], receive: [.leCoded], coding: .s2)
    }
    #expect(coded == peripheral.link)
    let any = try stage.perform { try await peripheral.requestPHYs(transmit: [], receive: []) }
    #expect(any.transmitPHY == .le2M && any.receivePHY == .le2M)
  }

  @Test("A peripheral without a procedure refuses the request with the controller's error code")
  func oldPeripheral() throws {
    let world = World(seed: 1)
    var options = DeviceOptions()
    options.generation = .bluetooth40
    let meeting = Meeting(world: world, sensor: world.makeDevice(named: "old", options))
    let (stage, peripheral) = (meeting.stage, try meeting.connect())
    stage.run(for: .seconds(1))
    #expect(peripheral.link?.maximumTransmissionUnit == 23 && peripheral.link?.transmitPHY == .le1M)
    let call = stage.start { try await peripheral.requestPHYs(transmit: [.le2M], receive: [.le2M]) }
    #expect(stage.run(until: { call.result != nil }))
    #expect(call.error as? LinkRequestError == .refused(.unsupportedRemoteFeature))
    // The central of a link may choose its parameters without the peripheral's consent.
    let parameters = try stage.perform {
      try await peripheral.requestConnectionParameters(interval: .milliseconds(50) ... .milliseconds(50))
    }
    #expect(parameters.interval == .milliseconds(50))
  }

  @Test("A request for a shorter data length is reported when the devices use it")
  func dataLength() throws {
    let meeting = Meeting()
    let (stage, peripheral) = (meeting.stage, try meeting.connect())
    stage.run(for: .seconds(1))
    let change = stage.start { await peripheral.linkChanges.first { $0.transmitDataLength.octets == 100 } }
    try stage.perform { try await peripheral.requestDataLength(DataLength(octets: 100)) }
    #expect(try stage.value(of: change)?.receiveDataLength.octets == 251)
  }

  @Test("Requests of one kind wait for each other, and a cancelled one does not give its answer to the next")
  func order() throws {
    let meeting = Meeting()
    let (stage, peripheral) = (meeting.stage, try meeting.connect())
    stage.run(for: .seconds(1))
    let intervals = Box<[Duration]>([])
    let calls = [20.0, 40, 50].map { milliseconds in
      stage.start {
        let interval = Duration.milliseconds(milliseconds)
        let parameters = try await peripheral.requestConnectionParameters(interval: interval...interval)
        intervals.append(parameters.interval)
      }
    }
    stage.run(until: { peripheral.pendingCount == 3 })
    calls[0].cancel()
    #expect(outcome { try stage.value(of: calls[0]) } == .cancelled)
    for call in calls.dropFirst() { try stage.value(of: call) }
    #expect(intervals.value == [.milliseconds(40), .milliseconds(50)])
    #expect(peripheral.pendingCount == 0)
  }

  @Test("A request ends with the link, and throws at once without a link")
  func withoutLink() throws {
    let meeting = Meeting()
    let (stage, peripheral) = (meeting.stage, try meeting.connect())
    stage.run(for: .seconds(1))
    let call = stage.start {
      try await peripheral.requestConnectionParameters(
        interval: .seconds(1) ... .seconds(1), supervisionTimeout: .seconds(6))
    }
    stage.run(for: .milliseconds(50))
    meeting.phone.setPower(false)
    #expect(outcome { try stage.value(of: call) } == .core(.operationCancelled))
    #expect(peripheral.link == nil && peripheral.pendingCount == 0)
    let late = stage.start { try await peripheral.requestDataLength(.maximum) }
    #expect(outcome { try stage.value(of: late) } == .core(.notConnected))
  }

  // MARK: Identity

  @Test("A disconnection has the controller's reason, whichever side has ended the link")
  func reasons() throws {
    let meeting = Meeting()
    let (stage, peripheral) = (meeting.stage, try meeting.connect())
    #expect(peripheral.lastDisconnection == nil)
    let ends = Box<[HCIErrorCode?]>([])
    let watch = stage.start { for await end in peripheral.disconnections { ends.append(end.reason) } }
    try stage.perform { try await peripheral.disconnect() }
    #expect(peripheral.lastDisconnection?.reason == .connectionTerminatedByLocalHost)
    try stage.perform { try await peripheral.connect() }
    meeting.sensor.device.setPower(false)
    stage.run(until: { peripheral.state == .disconnected })
    meeting.sensor.device.setPower(true)
    try stage.perform { try await peripheral.connect() }
    meeting.phone.setPower(false)
    stage.run(for: .seconds(1))
    #expect(ends.value == [.connectionTerminatedByLocalHost, .remoteDeviceTerminatedPowerOff, nil])
    #expect(peripheral.lastDisconnection?.error != nil)
    watch.cancel()
    try stage.value(of: watch)
  }

  @Test("A peripheral has its address with the type, before and after connecting")
  func address() throws {
    let world = World(seed: 1)
    var options = DeviceOptions()
    options.address = DeviceAddress(0x02_00_00_00_00_07, .public)
    let meeting = Meeting(world: world, sensor: world.makeDevice(named: "public", options))
    let peripheral = try meeting.discover()
    #expect(peripheral.address == options.address)
    try meeting.stage.perform { try await peripheral.connect() }
    #expect(peripheral.address == options.address && peripheral.bond == nil)
    let other = try Meeting().discover()
    #expect(other.address?.kind == .random && other.address?.randomKind == .static)
  }

  /// An accessory with a private address whose value is for bonded devices only.
  private struct Safe: Accessory {
    static let service: BluetoothUUID = "FF20"
    static let secret = CharacteristicPath("FF21", of: service)

    var advertising: Advertising { Advertising(AdvertisingPayload(fitting: [.flags(), .name("safe")])) }
    var services: [AccessoryService<Self>] {
      var secret = AccessoryCharacteristic<Self>(octetsOf: Self.secret, .read, read: { _ in [1, 2, 3] })
      secret.protection = .encrypted
      return [AccessoryService(Self.service, [secret])]
    }
  }

  @Test("After pairing, a peripheral has a bond and its identity address, and the link is encrypted")
  func bond() throws {
    let world = World(seed: 1)
    let stage = AppStage(world)
    var options = DeviceOptions()
    options.usesPrivateAddresses = true
    world.add(Safe(), named: "safe", options)
    let user = ScriptedPrompts(.noInputNoOutput, otherwise: .yes)
    let phone = world.makeDevice(named: "phone", DeviceOptions(position: Position(x: 1)), prompts: user)
    let central = Central(adapter: phone)
    let (peripheral, secret) = try stage.perform {
      try await central.waitUntilPoweredOn()
      let peripheral = try await central.scan().first { _ in true }.orThrow().peripheral
      try await peripheral.connect()
      let service = try await peripheral.discoverServices([CBUUID(string: "FF20")]).first.orThrow()
      return (peripheral, try await service.discoverCharacteristics().first.orThrow())
    }
    #expect(peripheral.address?.randomKind == .resolvablePrivate && peripheral.bond == nil)
    let changes = Box<[LinkSecurity]>([])
    let watch = stage.start { for await link in peripheral.linkChanges { changes.append(link.security) } }
    #expect(try stage.perform { try await secret.read() } == Data([1, 2, 3]))
    let bond = try #require(peripheral.bond)
    #expect(bond.isSecureConnections && !bond.isAuthenticated && bond.keySize == 16)
    #expect(peripheral.address?.isIdentity == true)
    let security = try #require(peripheral.link?.security)
    #expect(security.isEncrypted && !security.isAuthenticated && security.keySize == 16)
    #expect(changes.value.first?.isEncrypted == false && changes.value.last == security)
    watch.cancel()
    try stage.value(of: watch)
    // The next link is encrypted with the key of the bond.
    try stage.perform {
      try await peripheral.disconnect()
      try await peripheral.connect()
    }
    stage.run(for: .seconds(1))
    #expect(peripheral.link?.security.isBonded == true)
    phone.forgetBonds()
    stage.run(for: .seconds(1))
    #expect(peripheral.bond == nil)
  }
}
