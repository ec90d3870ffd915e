import BluetoothHost
import BluetoothLab
import BluetoothRadio
import BluetoothSimulation
import BluetoothWire
import CoreBluetooth
import Requirements
import TestSupport
import Testing

/// Protected characteristics, from app to app over the simulated air · Vol 3, Part C, 10.3.
@Suite struct WorldSecurityTests {
  private static let secret = CBUUID(string: "FFF3")

  /// Publishes one value at the sensor that needs an encrypted link.
  private func protect(_ air: TwoDeviceFixture) {
    air.localService.characteristics = [
      CBMutableCharacteristic(
        type: Self.secret, properties: [.read, .write, .notify, .notifyEncryptionRequired], value: nil,
        permissions: [.readEncryptionRequired, .writeEncryptionRequired])
    ]
  }

  @Test(
    "4.13 The first read of a protected value asks the user, pairs the devices and returns the value",
    .requirement("A064", "G043", "G044"), .symbol("CBAttributePermissions.readEncryptionRequired"))
  func firstRead() {
    let (phone, sensor) = (ScriptedPrompts(otherwise: .yes), ScriptedPrompts(.displayOnly, otherwise: .yes))
    phone.answer(.passkeyShown(by: sensor), to: .enterPasskey)
    let air = TwoDeviceFixture(phone: phone, sensor: sensor)
    protect(air)
    let (peripheral, characteristic) = air.ready()
    #expect(phone.questions.isEmpty)
    peripheral.readValue(for: characteristic)
    air.expect("value [104, 101, 108, 108, 111]")
    #expect(phone.questions.map(\.kind) == [.enterPasskey])
    #expect(phone.questions.first?.isLocallyInitiated == true)
    #expect(sensor.questions.map(\.kind) == [.showPasskey])
  }

  @Test(
    "Writing and subscribing start pairing as reading does", .requirement("G044"),
    .symbol("CBAttributePermissions.writeEncryptionRequired"), arguments: ["written", "notifying"])
  func otherAccess(_ access: String) {
    let user = ScriptedPrompts(.noInputNoOutput, otherwise: .yes)
    let air = TwoDeviceFixture(phone: user)
    protect(air)
    let (peripheral, characteristic) = air.ready()
    if access == "written" {
      peripheral.writeValue(Data("new".utf8), for: characteristic, type: .withResponse)
      air.expect("written")
      #expect(air.stored == Data("new".utf8))
    } else {
      peripheral.setNotifyValue(true, for: characteristic)
      air.expect("notifying true")
    }
    #expect(user.questions.map(\.kind) == [.allowPairing])
  }

  @Test("On the next connection no user is asked, and the value is read")
  func nextConnection() {
    let user = ScriptedPrompts(.noInputNoOutput, otherwise: .yes)
    let air = TwoDeviceFixture(phone: user)
    protect(air)
    let (peripheral, characteristic) = air.ready()
    peripheral.readValue(for: characteristic)
    air.expect("value")
    let identifier = peripheral.identifier
    air.central.cancelPeripheralConnection(peripheral)
    air.expect("disconnected")
    air.central.connect(peripheral)
    air.expect("connected")
    peripheral.discoverServices([TwoDeviceFixture.service])
    air.expect("services")
    peripheral.discoverCharacteristics(nil, for: peripheral.services![0])
    air.expect("characteristics")
    peripheral.readValue(for: peripheral.services![0].characteristics![0])
    air.expect("value [104")
    #expect(user.questions.count == 1)
    #expect(peripheral.identifier == identifier)
  }

  @Test(
    "4.13 If the user refuses, the app gets Insufficient Authentication, and unprotected accesses go on",
    .requirement("A063"))
  func refusal() {
    let user = ScriptedPrompts(.noInputNoOutput, otherwise: .no)
    let air = TwoDeviceFixture(phone: user)
    protect(air)
    air.localService.characteristics?.append(air.value)
    let (peripheral, characteristic) = air.ready()
    peripheral.readValue(for: characteristic)
    air.expect("value [] failed")
    #expect((air.app.errors.last as? CBATTError)?.code == .insufficientAuthentication)
    #expect(peripheral.state == .connected)
    peripheral.readValue(for: peripheral.services![0].characteristics![1])
    air.expect("value [104")
  }

  @Test("Pairing without the key of a bond that exists is refused, and logged at warning with the device's name")
  func takeover() throws {
    let log = LogRecorder()
    let world = World(seed: 7)
    let name = "sensor that a stranger visits"
    let sensor = TestPeripheral(on: world.makeDevice(named: name))
    let phone = world.makeDevice(named: "phone", at: Position(x: 2))
    let central = TestCentral(on: phone)
    let secret = CBMutableCharacteristic(
      type: Self.secret, properties: .read, value: nil, permissions: .readEncryptionRequired)
    sensor.recorder.values[secret.uuid] = [1]
    try sensor.publish("180D", [secret])
    let peripheral = try central.connect(to: .service(CBUUID(string: "180D")))
    #expect(try central.read("FFF3", of: peripheral) == [1])
    #expect(log.lines(containing: name).isEmpty)
    // A device that has the address of the phone, but not its key.
    try central.disconnect(from: peripheral)
    phone.forgetBonds()
    try central.connect(to: peripheral)
    #expect(throws: (any Error).self) { try central.read("FFF3", of: peripheral) }
    #expect(log.levels(ofLinesContaining: "\(name): ") == ["warning"])
    #expect(
      log.lines(containing: "without the key of its bond requests pairing; refused").contains {
        $0.hasPrefix(name)
      })
  }

  /// An accessory whose value is for bonded devices only.
  private struct Safe: Accessory {
    static let service = BluetoothUUID(0x180D)
    static let secret = CharacteristicPath(0xFFF3, of: service)

    var advertising: Advertising { Advertising(AdvertisingPayload(fitting: [.flags(), .name("safe")])) }
    var services: [AccessoryService<Self>] {
      var secret = AccessoryCharacteristic<Self>(octetsOf: Self.secret, .read, read: { _ in [1] })
      secret.protection = .encrypted
      return [AccessoryService(Self.service, [secret])]
    }
  }

  @Test("An accessory refuses to pair with a stranger that has the address of its bonded phone, until it is reset")
  func accessoryTakeover() throws {
    let log = LogRecorder()
    let world = World(seed: 8)
    let name = "safe that a stranger visits"
    let safe = world.add(Safe(), named: name)
    let phone = world.makeDevice(named: "phone", at: Position(x: 2))
    let central = TestCentral(on: phone)
    let peripheral = try central.connect(to: .named("safe"))
    #expect(try central.read("FFF3", of: peripheral) == [1])
    #expect(log.lines(containing: name).isEmpty)
    // A device that has the address of the phone, but not its key.
    try central.disconnect(from: peripheral)
    phone.forgetBonds()
    try central.connect(to: peripheral)
    #expect(throws: (any Error).self) { try central.read("FFF3", of: peripheral) }
    #expect(phone.bonds.isEmpty)
    #expect(log.levels(ofLinesContaining: "\(name): ") == ["warning"])
    #expect(
      log.lines(containing: "without the key of its bond requests pairing; refused").contains {
        $0.hasPrefix(name)
      })
    // The owner resets the accessory, which ends the link.
    safe.forgetBonds()
    world.run(for: .seconds(60))
    try central.connect(to: peripheral)
    #expect(try central.read("FFF3", of: peripheral) == [1])
    #expect(phone.bonds.count == 1)
  }

  @Test(
    "3.8 If the peer has forgotten the bond, the app gets an error, and the bond stays", .requirement("A074"),
    .symbol("CBError.Code.peerRemovedPairingInformation", "CBError.peerRemovedPairingInformation"))
  func forgotten() {
    let user = ScriptedPrompts(.noInputNoOutput, otherwise: .yes)
    let air = TwoDeviceFixture(phone: user)
    protect(air)
    let (peripheral, characteristic) = air.ready()
    peripheral.readValue(for: characteristic)
    air.expect("value")
    air.central.cancelPeripheralConnection(peripheral)
    air.expect("disconnected")
    air.sensor.forgetBonds()
    air.central.connect(peripheral)
    let came = air.world.run(until: { air.app.events.contains { $0.hasPrefix("disconnected") } }, limit: .seconds(30))
    #expect(came)
    #expect((air.app.errors.last as? CBError)?.code == .peerRemovedPairingInformation)
    #expect(user.questions.count == 1)
  }

  @Test("3.9 If the peer has forgotten the bond, a request that waits for encryption gets no answer")
  func forgottenWhileWaiting() {
    let user = ScriptedPrompts(.noInputNoOutput, otherwise: .yes)
    let air = TwoDeviceFixture(phone: user)
    protect(air)
    let (peripheral, characteristic) = air.ready()
    peripheral.readValue(for: characteristic)
    air.expect("value")
    air.central.cancelPeripheralConnection(peripheral)
    air.expect("disconnected")
    air.sensor.forgetBonds()
    air.central.connect(peripheral)
    air.expect("connected")
    peripheral.discoverServices(nil)
    let came = air.world.run(until: { !air.app.events.isEmpty }, limit: .seconds(30))
    #expect(came)
    #expect(air.app.events.allSatisfy { $0.hasPrefix("disconnected") }, "\(air.app.events)")
    #expect((air.app.errors.last as? CBError)?.code == .peerRemovedPairingInformation)
  }

  @Test("Bonds on disk outlive the world: in the next one no user is asked, and the peer is the same")
  func onDisk() throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    var identifiers: Set<UUID> = []
    for seed: UInt64 in [7, 8] {
      let user = ScriptedPrompts(.noInputNoOutput, otherwise: .yes)
      let air = TwoDeviceFixture(phone: user, bonds: folder.path, seed: seed)
      protect(air)
      let (peripheral, characteristic) = air.ready()
      peripheral.readValue(for: characteristic)
      air.expect("value [104")
      #expect(user.questions.count == (seed == 7 ? 1 : 0))
      identifiers.insert(peripheral.identifier)
      air.central.cancelPeripheralConnection(peripheral)
      air.expect("disconnected")
    }
    #expect(identifiers.count == 1)
  }

  @Test(
    "If the link can't be encrypted in time, the app gets encryptionTimedOut",
    .symbol("CBError.Code.encryptionTimedOut", "CBError.encryptionTimedOut"))
  func timedOut() {
    // The sensor's user never answers, and the Security Manager waits for 30 s.
    let air = TwoDeviceFixture(
      phone: ScriptedPrompts(.noInputNoOutput, otherwise: .yes),
      sensor: ScriptedPrompts(.noInputNoOutput, otherwise: .noAnswer))
    protect(air)
    let (peripheral, characteristic) = air.ready()
    peripheral.readValue(for: characteristic)
    let came = air.world.run(until: { air.app.events.contains { $0.hasPrefix("disconnected") } }, limit: .seconds(60))
    #expect(came)
    #expect((air.app.errors.last as? CBError)?.code == .encryptionTimedOut)
  }

  @Test(
    "A bond beyond the limit is reported as tooManyLEPairedDevices and is not stored", .requirement("A071"),
    .symbol("CBError.Code.tooManyLEPairedDevices", "CBError.tooManyLEPairedDevices"))
  func tooMany() {
    var options = DeviceOptions()
    options.bondLimit = 0
    let air = TwoDeviceFixture(phone: ScriptedPrompts(.noInputNoOutput, otherwise: .yes), phoneOptions: options)
    protect(air)
    let (peripheral, characteristic) = air.ready()
    peripheral.readValue(for: characteristic)
    let came = air.world.run(until: { air.app.events.contains { $0.hasPrefix("disconnected") } }, limit: .seconds(60))
    #expect(came)
    #expect((air.app.errors.last as? CBError)?.code == .tooManyLEPairedDevices)
    #expect(air.phone.bonds.isEmpty)
  }

  @Test("Out of band data replace the comparison of numbers", arguments: [true, false])
  func outOfBand(_ isMutual: Bool) {
    let (phone, sensor) = (ScriptedPrompts(otherwise: .yes), ScriptedPrompts(otherwise: .yes))
    let air = TwoDeviceFixture(phone: phone, sensor: sensor)
    if isMutual {
      air.phone.exchangeOutOfBandData(with: air.sensor)
    } else {
      air.phone.readOutOfBandData(of: air.sensor)
    }
    protect(air)
    let (peripheral, characteristic) = air.ready()
    peripheral.readValue(for: characteristic)
    air.expect("value [104")
    #expect(phone.questions.map(\.kind) == [.allowPairing])
    #expect(sensor.questions.map(\.kind) == [.allowPairing])
  }

  @Test(
    "A write without response to a characteristic with only signed writes starts pairing, and is sent encrypted",
    .symbol("CBCharacteristicProperties.authenticatedSignedWrites")
  )
  func signedOnly() {
    let user = ScriptedPrompts(.noInputNoOutput, otherwise: .yes)
    let air = TwoDeviceFixture(phone: user)
    protect(air)
    air.localService.characteristics?.append(
      CBMutableCharacteristic(
        type: CBUUID(string: "FFF4"), properties: .authenticatedSignedWrites, value: nil, permissions: .writeable))
    let (peripheral, _) = air.ready()
    let signed = peripheral.services![0].characteristics![1]
    #expect(user.questions.isEmpty)
    for text in ["one", "two"] {
      peripheral.writeValue(Data(text.utf8), for: signed, type: .withoutResponse)
      air.world.run(for: .seconds(2))
      #expect(air.stored == Data(text.utf8))
    }
    #expect(user.questions.map(\.kind) == [.allowPairing])
  }

  @Test(
    "Subscribing to a characteristic whose notifications or indications need encryption starts pairing",
    .requirement("K033"),
    .symbol(
      "CBCharacteristicProperties.notifyEncryptionRequired", "CBCharacteristicProperties.indicateEncryptionRequired"),
    arguments: [true, false])
  func protectedUpdates(_ isNotification: Bool) {
    let user = ScriptedPrompts(.noInputNoOutput, otherwise: .yes)
    let air = TwoDeviceFixture(phone: user)
    let local = protectUpdates(air, isNotification)
    let (peripheral, characteristic) = air.ready()
    #expect(user.questions.isEmpty)
    peripheral.setNotifyValue(true, for: characteristic)
    air.expect("notifying true")
    #expect(user.questions.map(\.kind) == [.allowPairing])
    #expect(air.phone.bonds.count == 1)
    #expect(air.peripheralManager.updateValue(Data([7]), for: local, onSubscribedCentrals: nil))
    air.expect("value [7]")
  }

  /// Publishes one value at the sensor whose updates need an encrypted link.
  private func protectUpdates(_ air: TwoDeviceFixture, _ isNotification: Bool) -> CBMutableCharacteristic {
    let properties: CBCharacteristicProperties =
      isNotification ? [.notify, .notifyEncryptionRequired] : [.indicate, .indicateEncryptionRequired]
    let local = CBMutableCharacteristic(type: Self.secret, properties: properties, value: nil, permissions: [])
    air.localService.characteristics = [local]
    return local
  }

  @Test(
    "Updates that need encryption are refused to a device whose user refuses pairing", .requirement("K033"),
    .symbol(
      "CBCharacteristicProperties.notifyEncryptionRequired", "CBCharacteristicProperties.indicateEncryptionRequired"),
    arguments: [true, false])
  func refusedUpdates(_ isNotification: Bool) {
    let user = ScriptedPrompts(.noInputNoOutput, otherwise: .no)
    let air = TwoDeviceFixture(phone: user)
    let local = protectUpdates(air, isNotification)
    let (peripheral, characteristic) = air.ready()
    peripheral.setNotifyValue(true, for: characteristic)
    air.expect("notifying false failed")
    #expect((air.app.errors.last as? CBATTError)?.code == .insufficientAuthentication)
    #expect(user.questions.map(\.kind) == [.allowPairing])
    #expect(local.subscribedCentrals?.isEmpty == true)
    #expect(air.accessory.events.filter { $0.hasPrefix("subscribed") }.isEmpty)
  }

  @Test(
    "Updates that need no encryption are subscribed to without pairing", .requirement("K033"), arguments: [true, false])
  func openUpdates(_ isNotification: Bool) {
    let user = ScriptedPrompts(.noInputNoOutput, otherwise: .yes)
    let air = TwoDeviceFixture(phone: user)
    let local = protectUpdates(air, isNotification)
    local.properties = isNotification ? .notify : .indicate
    let (peripheral, characteristic) = air.ready()
    peripheral.setNotifyValue(true, for: characteristic)
    air.expect("notifying true")
    #expect(user.questions.isEmpty)
  }

  @Test(
    "A security refusal of the peer's app is reported once pairing can't help", .requirement("A063", "A065"),
    arguments: [
      CBATTError.insufficientAuthentication, .insufficientAuthorization, .insufficientEncryptionKeySize,
      .insufficientEncryption,
    ])
  func refusedByApp(_ code: CBATTError.Code) {
    let user = ScriptedPrompts(.noInputNoOutput, otherwise: .yes)
    let air = TwoDeviceFixture(phone: user)
    let (peripheral, characteristic) = air.ready()
    var count = 0
    air.accessory.onRequests = { requests in
      count += 1
      air.peripheralManager.respond(to: requests[0], withResult: code)
    }
    peripheral.readValue(for: characteristic)
    air.expect("value [] failed")
    #expect((air.app.errors.last as? CBATTError)?.code == code)
    // Pairing can't give authorization. For the other errors the devices pair, and the read is repeated.
    #expect(count == (code == .insufficientAuthorization ? 1 : 2))
    #expect(user.questions.count == (code == .insufficientAuthorization ? 0 : 1))
    #expect(peripheral.state == .connected)
  }

  @Test("didConnect comes before any prompt", .requirement("G022"))
  func connectedFirst() {
    let user = ScriptedPrompts(.noInputNoOutput, otherwise: .yes)
    let air = TwoDeviceFixture(phone: user)
    protect(air)
    let peripheral = air.discover()
    var asked: Int?
    air.app.onEvent = { event in if event.hasPrefix("connected") { asked = user.questions.count } }
    let sensor = air.sensor.radio
    air.world.requestQueue.perform { Self.demandEncryption(of: sensor, in: $0) }
    air.central.connect(peripheral)
    air.world.run(until: { !user.questions.isEmpty && asked != nil }, limit: .seconds(10))
    #expect(asked == 0)
    #expect(user.questions.map(\.kind) == [.allowPairing])
  }

  /// Makes a device send a Security Request as the first packet on its next link.
  private static func demandEncryption(of device: RadioID, in engine: WorldEngine) {
    let now = engine.now
    var hasLink = false
    engine.withDevice(device) { device in
      _ = device.withHost(at: now) { host in
        guard let link = host.links.first else { return }
        host.secure(link.handle, .encrypted, at: now)
        hasLink = true
      }
    }
    if !hasLink { engine.schedule(at: now + .milliseconds(1)) { demandEncryption(of: device, in: $0) } }
  }

  @Test("A bonded device's subscription outlives the world: in the next one it is restored")
  func restoredSubscription() throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    for seed: UInt64 in [7, 8] {
      let air = TwoDeviceFixture(
        phone: ScriptedPrompts(.noInputNoOutput, otherwise: .yes), bonds: folder.path, seed: seed)
      protect(air)
      let (peripheral, characteristic) = air.ready()
      let local = try #require(air.localService.characteristics?.first as? CBMutableCharacteristic)
      if seed == 7 {
        #expect(local.subscribedCentrals?.isEmpty != false)
        peripheral.setNotifyValue(true, for: characteristic)
        air.expect("notifying true")
      }
      #expect(local.subscribedCentrals?.count == 1)
      air.central.cancelPeripheralConnection(peripheral)
      air.expect("disconnected")
      air.world.run(for: .seconds(1))
    }
  }
}
