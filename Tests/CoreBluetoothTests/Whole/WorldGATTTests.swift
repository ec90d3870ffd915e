import BluetoothLab
import CoreBluetooth
import Requirements
import Testing

@Suite struct WorldGATTTests {
  @Test(
    "4.3 Services, included services, characteristics and descriptors are discovered, with and without filters",
    .requirement("G030", "G031", "G048"),
    .symbol(
      "CBPeripheral.discoverServices(_:)", "CBPeripheral.discoverIncludedServices(_:for:)",
      "CBPeripheral.discoverCharacteristics(_:for:)", "CBPeripheral.discoverDescriptors(for:)",
      "CBPeripheral.readValue(for:) (descriptor)", "CBService.isPrimary", "CBCharacteristic.properties",
      "CBCharacteristicProperties.read", "CBPeripheralDelegate.peripheral(_:didDiscoverServices:)",
      "CBPeripheralDelegate.peripheral(_:didDiscoverIncludedServicesFor:error:)",
      "CBPeripheralDelegate.peripheral(_:didDiscoverCharacteristicsFor:error:)",
      "CBPeripheralDelegate.peripheral(_:didDiscoverDescriptorsFor:error:)"))
  func discovery() {
    let air = TwoDeviceFixture()
    let battery = CBMutableService(type: CBUUID(string: "FFF8"), primary: false)
    battery.characteristics = [
      CBMutableCharacteristic(
        type: CBUUID(string: "2A19"), properties: .read, value: Data([87]), permissions: .readable)
    ]
    air.value.descriptors = [CBMutableDescriptor(type: CBUUID(string: "2901"), value: "greeting")]
    air.localService.includedServices = [battery]
    air.localService.characteristics = [
      air.value,
      CBMutableCharacteristic(
        type: CBUUID(string: "FFF2"), properties: [.read, .indicate], value: nil, permissions: .readable),
    ]
    air.add([battery])
    let peripheral = air.connect()
    peripheral.discoverServices([CBUUID(string: "180D")])
    air.expect("services")
    #expect(peripheral.services?.isEmpty == true)
    peripheral.discoverServices(nil)
    air.expect("services")
    let service = peripheral.services!.first { $0.uuid == TwoDeviceFixture.service }!
    #expect(service.isPrimary)
    peripheral.discoverIncludedServices(nil, for: service)
    air.expect("included")
    #expect(service.includedServices?.map(\.uuid.uuidString) == ["FFF8"])
    peripheral.discoverCharacteristics([CBUUID(string: "FFF2")], for: service)
    air.expect("characteristics")
    #expect(service.characteristics?.map(\.uuid.uuidString) == ["FFF2"])
    peripheral.discoverCharacteristics(nil, for: service)
    air.expect("characteristics")
    #expect(Set(service.characteristics!.map(\.uuid.uuidString)) == ["FFF1", "FFF2"])
    #expect(service.characteristics?.first { $0.uuid.uuidString == "FFF2" }?.properties == [.read, .indicate])
    let value = service.characteristics!.first { $0.uuid.uuidString == "FFF1" }!
    peripheral.discoverDescriptors(for: value)
    air.expect("descriptors")
    #expect(Set(value.descriptors!.map(\.uuid.uuidString)) == ["2901", "2902"])
    for descriptor in value.descriptors! {
      peripheral.readValue(for: descriptor)
      air.expect("descriptor value")
    }
    #expect(value.descriptors?.first { $0.uuid.uuidString == "2901" }?.value as? String == "greeting")
    #expect(value.descriptors?.first { $0.uuid.uuidString == "2902" }?.value as? NSNumber == 0)
    let included = service.includedServices![0]
    peripheral.discoverCharacteristics(nil, for: included)
    air.expect("characteristics")
    peripheral.readValue(for: included.characteristics![0])
    air.expect("value [87]")
  }

  @Test("4.18 The GAP and GATT services are hidden")
  func hiddenServices() {
    let air = TwoDeviceFixture()
    let peripheral = air.connect()
    peripheral.discoverServices(nil)
    air.expect("services")
    #expect(peripheral.services?.map(\.uuid) == [TwoDeviceFixture.service])
    peripheral.discoverServices([CBUUID(string: "1800"), CBUUID(string: "1801")])
    air.expect("services")
    #expect(peripheral.services?.map(\.uuid) == [TwoDeviceFixture.service])
  }

  @Test(
    "4.7 A long value is read completely in one callback, with a request to the sensor's app for each part",
    .requirement("K030"), .symbol("CBPeripheral.readValue(for:)"),
    arguments: [
      (DeviceOptions.Generation.bluetooth54, [0]), (.bluetooth40, Array(stride(from: 0, to: 512, by: 22))),
    ])
  func longRead(generation: DeviceOptions.Generation, offsets: [Int]) {
    let air = TwoDeviceFixture(generation: generation)
    air.stored = Data((0..<512).map { UInt8(truncatingIfNeeded: $0) })
    let (peripheral, characteristic) = air.ready()
    _ = air.accessory.take()
    var callbacks = 0
    air.app.onEvent = { _ in callbacks += 1 }
    peripheral.readValue(for: characteristic)
    air.expect("value")
    #expect(characteristic.value == air.stored)
    #expect(callbacks == 1)
    #expect(air.accessory.requests.map(\.offset) == offsets)
  }

  @Test(
    "4.8 A value longer than the MTU allows is written in prepared parts, all or none", .requirement("L034"),
    .symbol("CBPeripheral.writeValue(_:for:type:)"))
  func longWrite() {
    let air = TwoDeviceFixture()
    let (peripheral, characteristic) = air.ready()
    let long = Data((0..<512).map { UInt8(truncatingIfNeeded: $0 * 7) })
    peripheral.writeValue(long, for: characteristic, type: .withResponse)
    air.expect("written")
    #expect(air.stored == long)
    #expect(characteristic.value == nil, "a write does not change the value")
  }

  @Test(
    "4.9 Write commands arrive in order, as many as the app is allowed to write",
    .requirement("A056", "G037", "L033", "L034"),
    .symbol(
      "CBPeripheral.writeValue(_:for:type:)", "CBPeripheralDelegate.peripheralIsReady(toSendWriteWithoutResponse:)"))
  func writeCommands() {
    let air = TwoDeviceFixture()
    let (peripheral, characteristic) = air.ready()
    air.accessory.onRequests = { _ in }
    let total = 200
    var sent = 0
    func sendMore() {
      while sent < total, peripheral.canSendWriteWithoutResponse {
        peripheral.writeValue(Data([UInt8(sent)]), for: characteristic, type: .withoutResponse)
        sent += 1
      }
    }
    air.app.onEvent = { if $0 == "ready" { sendMore() } }
    sendMore()
    #expect(sent < total, "the buffer has an end")
    air.world.run(until: { air.accessory.requests.count >= total })
    #expect(air.accessory.requests.map { $0.value } == (0..<total).map { Data([UInt8($0)]) })
    #expect(air.app.events.allSatisfy { $0 == "ready" })
  }

  @Test(
    "4.11 The maximum write command length grows after the MTU exchange, and values of that length arrive",
    .requirement("A052"), .symbol("CBPeripheral.maximumWriteValueLength(for:)"))
  func mtu() {
    let air = TwoDeviceFixture()
    let (peripheral, characteristic) = air.ready()
    air.world.run(for: .seconds(1))
    let maximum = peripheral.maximumWriteValueLength(for: .withoutResponse)
    #expect(maximum > 20)
    peripheral.writeValue(Data(repeating: 5, count: maximum), for: characteristic, type: .withoutResponse)
    air.expectOfAccessory("write FFF1@0")
    #expect(air.stored == Data(repeating: 5, count: maximum))
    #expect(air.accessory.requests[0].central.maximumUpdateValueLength == maximum, "both ends have one MTU (6.14)")
  }

  @Test(
    "4.12 Notifications start after setNotifyValue(true) and end with setNotifyValue(false)", .requirement("G036"),
    .symbol("CBPeripheral.setNotifyValue(_:for:)", "CBCharacteristicProperties.notify"))
  func notifications() {
    let air = TwoDeviceFixture()
    let (peripheral, characteristic) = air.ready()
    peripheral.setNotifyValue(true, for: characteristic)
    air.expect("notifying true")
    #expect(air.value.subscribedCentrals?.count == 1)
    air.peripheralManager.updateValue(Data([1, 2]), for: air.value, onSubscribedCentrals: nil)
    air.expect("value [1, 2]")
    peripheral.setNotifyValue(false, for: characteristic)
    air.expect("notifying false")
    #expect(air.value.subscribedCentrals?.isEmpty == true)
    #expect(air.peripheralManager.updateValue(Data([3]), for: air.value, onSubscribedCentrals: nil))
    air.world.run(for: .seconds(1))
    #expect(air.app.events.isEmpty)
  }

  @Test("4.12 A characteristic that can't notify gives an error", .requirement("L028", "L029"))
  func noNotifications() {
    let air = TwoDeviceFixture()
    air.value.properties = .read
    let (peripheral, characteristic) = air.ready()
    peripheral.setNotifyValue(true, for: characteristic)
    air.expect("notifying false failed")
  }

  @Test("6.13 Indications are confirmed one by one, and all arrive", .symbol("CBCharacteristicProperties.indicate"))
  func indications() {
    let air = TwoDeviceFixture()
    air.value.properties = .indicate
    let (peripheral, characteristic) = air.ready()
    peripheral.setNotifyValue(true, for: characteristic)
    air.expect("notifying true")
    for index in 0..<5 {
      #expect(air.peripheralManager.updateValue(Data([UInt8(index)]), for: air.value, onSubscribedCentrals: nil))
    }
    air.world.run(until: { air.app.events.count == 5 }, limit: .seconds(5))
    #expect(air.app.take() == (0..<5).map { "value [\($0)]" })
  }

  @Test(
    "6.13 A full queue refuses updates until isReady, and no accepted update is lost",
    .symbol(
      "CBPeripheralManager.updateValue(_:for:onSubscribedCentrals:)",
      "CBPeripheralManagerDelegate.peripheralManagerIsReady(toUpdateSubscribers:)"))
  func updateQueue() {
    let air = TwoDeviceFixture()
    let (peripheral, characteristic) = air.ready()
    peripheral.setNotifyValue(true, for: characteristic)
    air.expect("notifying true")
    let total = 100
    var sent = 0
    var refusals = 0
    func sendMore() {
      while sent < total {
        guard air.peripheralManager.updateValue(Data([UInt8(sent)]), for: air.value, onSubscribedCentrals: nil) else {
          refusals += 1
          return
        }
        sent += 1
      }
    }
    air.accessory.onReady = sendMore
    sendMore()
    air.world.run(until: { air.app.events.count == total })
    #expect(air.app.take() == (0..<total).map { "value [\($0)]" })
    #expect(refusals > 0)
    #expect(air.accessory.events.filter { $0 == "ready" }.count == refusals)
  }

  @Test("6.13 An update longer than the MTU allows is truncated")
  func cutUpdate() {
    let air = TwoDeviceFixture()
    let (peripheral, characteristic) = air.ready()
    peripheral.setNotifyValue(true, for: characteristic)
    air.expect("notifying true")
    air.world.run(for: .seconds(1))
    let maximum = air.value.subscribedCentrals![0].maximumUpdateValueLength
    air.peripheralManager.updateValue(Data(count: 600), for: air.value, onSubscribedCentrals: nil)
    air.expect("value")
    #expect(characteristic.value?.count == maximum)
  }

  @Test(
    "6.10 Accesses that the permissions forbid are refused without asking the app", .requirement("A063", "K031"),
    .symbol(
      "CBMutableCharacteristic.permissions", "CBAttributePermissions.readable", "CBAttributePermissions.writeable"))
  func permissions() {
    let air = TwoDeviceFixture()
    air.value.permissions = []
    let (peripheral, characteristic) = air.ready()
    _ = air.accessory.take()
    peripheral.readValue(for: characteristic)
    air.expect("value [] failed")
    #expect(air.app.lastATTError?.code == .readNotPermitted)
    peripheral.writeValue(Data([1]), for: characteristic, type: .withResponse)
    air.expect("written failed")
    #expect(air.app.lastATTError?.code == .writeNotPermitted)
    #expect(air.accessory.events.isEmpty)
  }

  @Test("6.7 Centrals see the descriptors as they were when their service was added", .requirement("K034"))
  func frozenDescriptors() throws {
    let air = TwoDeviceFixture()
    air.value.descriptors = [CBMutableDescriptor(type: CBUUID(string: "2901"), value: "first")]
    let (peripheral, characteristic) = air.ready()
    air.value.descriptors = [CBMutableDescriptor(type: CBUUID(string: "2901"), value: "second")]
    peripheral.discoverDescriptors(for: characteristic)
    air.expect("descriptors")
    let descriptor = try #require(characteristic.descriptors?.first { $0.uuid == CBUUID(string: "2901") })
    peripheral.readValue(for: descriptor)
    air.expect("descriptor value")
    #expect(descriptor.value as? String == "first")
  }

  @Test("6.10 A characteristic that needs encryption is refused on an unencrypted link", .requirement("A049", "K031"))
  func encryption() {
    let air = TwoDeviceFixture(phone: ScriptedPrompts(otherwise: .no))
    air.value.permissions = [.readEncryptionRequired, .writeEncryptionRequired]
    let (peripheral, characteristic) = air.ready()
    peripheral.readValue(for: characteristic)
    air.expect("value [] failed")
    #expect(air.app.lastATTError?.code == .insufficientAuthentication)
    #expect(!air.accessory.events.contains { $0.hasPrefix("read") }, "the app is not asked")
  }

  @Test("6.11 The sensor's application error reaches the phone", .symbol("CBATTError.errorCode"))
  func applicationError() {
    let air = TwoDeviceFixture()
    air.accessory.onRequests = { requests in
      air.peripheralManager.respond(to: requests[0], withResult: CBATTError.Code(rawValue: 0x81)!)
    }
    let (peripheral, characteristic) = air.ready()
    peripheral.writeValue(Data([1]), for: characteristic, type: .withResponse)
    air.expect("written failed")
    #expect(air.app.lastATTError?.errorCode == 0x81)
  }

  @Test("6.8 A request without an answer times out at the peer and ends the link")
  func unanswered() {
    let air = TwoDeviceFixture()
    let (peripheral, characteristic) = air.ready()
    air.accessory.onRequests = { _ in }
    peripheral.readValue(for: characteristic)
    air.world.run(for: .seconds(20))
    air.expect("disconnected")
    #expect(air.app.errors.suffix(2).map { ($0 as? CBError)?.code } == [.connectionTimeout, .connectionTimeout])
  }

  @Test(
    "6.4 A static value is read without asking the app", .requirement("L035"), .symbol("CBMutableCharacteristic.value"))
  func staticValue() {
    let air = TwoDeviceFixture()
    air.localService.characteristics = [
      CBMutableCharacteristic(
        type: CBUUID(string: "FFF1"), properties: .read, value: Data("fixed".utf8), permissions: .readable)
    ]
    let (peripheral, characteristic) = air.ready()
    _ = air.accessory.take()
    peripheral.readValue(for: characteristic)
    air.expect("value")
    #expect(characteristic.value == Data("fixed".utf8))
    #expect(air.accessory.events.isEmpty)
  }

  @Test(
    "6.3 The 16-bit UUIDs of the system's services are refused; their 128-bit forms are accepted",
    .symbol("CBPeripheralManagerDelegate.peripheralManager(_:didAdd:error:)"))
  func systemServices() {
    let air = TwoDeviceFixture()
    air.add([CBMutableService(type: CBUUID(string: "180F"), primary: true)])
    #expect(air.accessory.take() == ["added 180F failed"])
    #expect(air.accessory.lastError?.code == .uuidNotAllowed)
    air.add([CBMutableService(type: CBUUID(string: "0000180F-0000-1000-8000-00805F9B34FB"), primary: true)])
    #expect(air.accessory.take() == ["added 0000180F-0000-1000-8000-00805F9B34FB"])
  }

  @Test(
    "6.1 A second start while advertising fails, and advertising goes on",
    .symbol("CBPeripheralManagerDelegate.peripheralManagerDidStartAdvertising(_:error:)"))
  func alreadyAdvertising() {
    let air = TwoDeviceFixture()
    air.advertise()
    _ = air.accessory.take()
    air.peripheralManager.startAdvertising(nil)
    air.expectOfAccessory("advertising true failed")
    #expect(air.accessory.lastError?.code == .alreadyAdvertising)
  }

  @Test(
    "6.12 A disconnected central is unsubscribed", .requirement("K049"),
    .symbol("CBPeripheralManagerDelegate.peripheralManager(_:central:didUnsubscribeFrom:)"))
  func unsubscription() {
    let air = TwoDeviceFixture()
    let (peripheral, characteristic) = air.ready()
    peripheral.setNotifyValue(true, for: characteristic)
    air.expect("notifying true")
    air.central.cancelPeripheralConnection(peripheral)
    air.expectOfAccessory("unsubscribed FFF1, 0 left")
  }

  @Test(
    "6.15 Removing a service is reported to the phone", .requirement("A045"),
    .symbol("CBPeripheralManager.remove(_:)", "CBPeripheralDelegate.peripheral(_:didModifyServices:)"))
  func serviceChanged() {
    let air = TwoDeviceFixture()
    let (peripheral, _) = air.ready()
    air.world.run(for: .seconds(2))
    air.peripheralManager.remove(air.localService)
    air.expect("modified [\"\(TwoDeviceFixture.service.uuidString)\"]")
    #expect(peripheral.services?.isEmpty == true)
  }

  @Test(
    "2.6, 4.17 The GAP device name replaces the advertised name, and the change is reported",
    .requirement("A044", "L114"), .symbol("CBPeripheral.name", "CBPeripheralDelegate.peripheralDidUpdateName(_:)"))
  func name() {
    let air = TwoDeviceFixture()
    air.add([air.localService])
    air.advertise([
      CBAdvertisementDataServiceUUIDsKey: [TwoDeviceFixture.service], CBAdvertisementDataLocalNameKey: "Ad",
    ])
    air.central.scanForPeripherals(withServices: nil)
    air.expect("found Ad")
    let peripheral = air.app.found[0]
    peripheral.delegate = air.app
    air.central.connect(peripheral)
    air.expect("connected")
    air.expect("name sensor")
    #expect(peripheral.name == "sensor")
  }

  @Test(
    "4.17 The RSSI corresponds to the distance", .requirement("A046", "L020"),
    .symbol("CBPeripheral.readRSSI()", "CBPeripheralDelegate.peripheral(_:didReadRSSI:error:)"))
  func rssi() {
    let air = TwoDeviceFixture()
    let peripheral = air.connect()
    peripheral.readRSSI()
    air.world.run(until: { !air.app.events.isEmpty })
    // 40 + 25·log10(2) dB of loss from 0 dBm.
    #expect(air.app.take() == ["RSSI -48"])
  }
}
