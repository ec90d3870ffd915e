import Requirements
import TestSupport
import Testing

@testable import BluetoothDaemon
@testable import BluetoothHost
@testable import BluetoothWire
@testable import CoreBluetooth

@Suite struct GATTClientTests {
  @Test("4.1 Calls on a peripheral that is not connected are logged and dropped")
  func notConnected() {
    let bench = CentralHarness(CentralApp())
    let peripheral = bench.discover(41)
    peripheral.discoverServices(nil)
    peripheral.readRSSI()
    _ = bench.commands
    #expect(bench.app.events.isEmpty)
    let lines = bench.log.lines(containing: "can only accept commands while in the connected state").filter {
      $0.hasPrefix("API MISUSE") && $0.contains("\(peripheral.identifier)")
    }
    #expect(lines.count >= 2)
  }

  @Test("A peer's name can neither control a terminal nor forge a log line")
  func nameInLog() {
    let bench = CentralHarness(CentralApp())
    let peripheral = bench.connect()
    bench.adapter.tell(.nameChanged(peripheral.handle, "red\u{1B}[31m\nAPI MISUSE: all is lost"))
    let foreign = CBMutableService(type: CBUUID(string: "180D"), primary: true)
    #expect(peripheral.name?.contains("\n") == true)
    peripheral.discoverCharacteristics(nil, for: foreign)
    bench.manager.cancelPeripheralConnection(peripheral)
    _ = bench.commands
    peripheral.readRSSI()
    let lines = bench.log.lines(containing: "\(peripheral.identifier)")
    #expect(!lines.isEmpty)
    #expect(lines.contains { $0.contains(#"red\u{1B}[31m\nAPI MISUSE: all is lost"#) })
    #expect(lines.allSatisfy { line in line.unicodeScalars.allSatisfy { $0.value >= 0x20 } })
  }

  @Test("4.2 Attributes of another link are refused in the callback", .requirement("K026"))
  func staleAttributes() {
    let bench = CentralHarness(CentralApp())
    let sensor = bench.connectToSensor()
    let local = CBMutableCharacteristic(
      type: CBUUID(string: "2A37"), properties: .read, value: nil, permissions: .readable)
    let service = CBMutableService(type: CBUUID(string: "180D"), primary: true)
    let descriptor = CBMutableDescriptor(type: CBUUID(string: "2901"), value: "x")
    sensor.peripheral.readValue(for: local)
    sensor.peripheral.writeValue(Data(), for: local, type: .withResponse)
    sensor.peripheral.setNotifyValue(true, for: local)
    sensor.peripheral.discoverDescriptors(for: local)
    sensor.peripheral.discoverCharacteristics(nil, for: service)
    sensor.peripheral.discoverIncludedServices(nil, for: service)
    sensor.peripheral.readValue(for: descriptor)
    sensor.peripheral.writeValue(Data(), for: descriptor)
    #expect(bench.app.events.isEmpty, "answers come later")
    #expect(bench.commands.isEmpty)
    #expect(
      bench.app.events == [
        "value [] failed", "written failed", "notifying false failed", "descriptors failed", "characteristics failed",
        "included failed", "descriptor value failed", "descriptor written failed",
      ])
    #expect(bench.app.lastError?.code == .uuidNotAllowed)
  }

  @Test(
    "4.3 Discovered services are added to the earlier ones, and objects keep their identity",
    .requirement("G029", "K025"),
    .symbol(
      "CBPeripheral.services", "CBService", "CBService.peripheral", "CBService.characteristics",
      "CBCharacteristic.service"))
  func incremental() {
    let bench = CentralHarness(CentralApp())
    let sensor = bench.connectToSensor()
    sensor.peripheral.discoverServices([CBUUID(string: "180F")])
    sensor.peripheral.discoverServices([])
    sensor.peripheral.discoverServices(nil)
    #expect(bench.commands == ["discover services [180F]", "discover services []", "discover services all"])
    let heartRate = RemoteServiceInfo(id: .init(1), uuid: 0x180D, isPrimary: true)
    let battery = RemoteServiceInfo(id: .init(9), uuid: 0x180F, isPrimary: true)
    bench.adapter.tell(.servicesDiscovered(sensor.handle, .success([battery])))
    bench.adapter.tell(.servicesDiscovered(sensor.handle, .success([heartRate, battery])))
    #expect(sensor.peripheral.services?.map(\.uuid.uuidString) == ["180D", "180F"])
    #expect(sensor.peripheral.services?.first === sensor.service)
    #expect(sensor.service.characteristics?.first === sensor.characteristic)
    #expect(sensor.service.peripheral === sensor.peripheral)
    #expect(sensor.characteristic.service === sensor.service)
  }

  @Test(
    "4.4 Undiscovered attributes are nil, and an empty result is an empty list", .requirement("G028"),
    .symbol("CBService.includedServices", "CBCharacteristic.descriptors"))
  func nilAndEmpty() {
    let bench = CentralHarness(CentralApp())
    let sensor = bench.connectToSensor()
    #expect(sensor.characteristic.descriptors == nil)
    #expect(sensor.service.includedServices == nil)
    bench.adapter.tell(.descriptorsDiscovered(sensor.handle, sensor.characteristicID, .success([])))
    bench.adapter.tell(.includedServicesDiscovered(sensor.handle, .init(1), .success([])))
    #expect(sensor.characteristic.descriptors?.isEmpty == true)
    #expect(sensor.service.includedServices?.isEmpty == true)
  }

  @Test(
    "4.5 Services that are not found give no error, and services is empty",
    .symbol("CBPeripheralDelegate.peripheral(_:didDiscoverServices:)"))
  func noMatch() {
    let bench = CentralHarness(CentralApp())
    let peripheral = bench.connect()
    bench.adapter.tell(.servicesDiscovered(peripheral.handle, .success([])))
    #expect(bench.app.events == ["services"])
    #expect(peripheral.services?.isEmpty == true)
  }

  @Test("A server whose handles can't be, such as an end before its start, causes CBError.invalidHandle")
  func impossibleHandles() {
    let bench = CentralHarness(CentralApp())
    let peripheral = bench.connect()
    bench.adapter.tell(.servicesDiscovered(peripheral.handle, .failure(.invalidHandle)))
    #expect(bench.app.events == ["services failed"])
    #expect(bench.app.lastError?.code == .invalidHandle)
  }

  @Test("Included services are the same objects as the discovered services", .symbol("CBService.isPrimary"))
  func includedServices() {
    let bench = CentralHarness(CentralApp())
    let sensor = bench.connectToSensor()
    let battery = RemoteServiceInfo(id: .init(9), uuid: 0x180F, isPrimary: false)
    bench.adapter.tell(.includedServicesDiscovered(sensor.handle, .init(1), .success([battery])))
    bench.adapter.tell(.servicesDiscovered(sensor.handle, .success([battery])))
    #expect(sensor.service.includedServices?.first === sensor.peripheral.services?.last)
    #expect(sensor.service.includedServices?.first?.isPrimary == false)
  }

  @Test(
    "4.6 A read sets the value before its callback; an error leaves the value unchanged", .requirement("K026"),
    .symbol("CBCharacteristic", "CBCharacteristic.value", "CBPeripheralDelegate.peripheral(_:didUpdateValueFor:error:)")
  )
  func reading() {
    let bench = CentralHarness(CentralApp())
    let sensor = bench.connectToSensor()
    sensor.peripheral.readValue(for: sensor.characteristic)
    #expect(bench.commands == ["read 3"])
    bench.adapter.tell(.valueRead(sensor.handle, sensor.characteristicID, .success([1, 2])))
    bench.adapter.tell(.valueChanged(sensor.handle, sensor.characteristicID, [3]))
    bench.adapter.tell(
      .valueRead(sensor.handle, sensor.characteristicID, .failure(.att(.insufficientAuthorization))))
    #expect(bench.app.events == ["value [1, 2]", "value [3]", "value [3] failed"])
    #expect(bench.app.lastATTError?.code == .insufficientAuthorization)
  }

  @Test(
    "4.8 Each write with response is answered in order and leaves the value property unchanged",
    .symbol("CBCharacteristicProperties.write", "CBPeripheralDelegate.peripheral(_:didWriteValueFor:error:)"))
  func writing() {
    let bench = CentralHarness(CentralApp())
    let sensor = bench.connectToSensor()
    sensor.peripheral.writeValue(Data([1]), for: sensor.characteristic, type: .withResponse)
    sensor.peripheral.writeValue(Data(repeating: 7, count: 512), for: sensor.characteristic, type: .withResponse)
    #expect(bench.commands == ["write 3 01", "write 3 " + String(repeating: "07", count: 512)])
    bench.adapter.tell(.written(sensor.handle, sensor.characteristicID, nil))
    bench.adapter.tell(.written(sensor.handle, sensor.characteristicID, .att(.writeNotPermitted)))
    #expect(bench.app.events == ["written", "written failed"])
    #expect(sensor.characteristic.value == nil)
  }

  @Test("4.9 A write with response of more than 512 octets is refused", .requirement("A063", "A066"))
  func tooLongForAnything() {
    let bench = CentralHarness(CentralApp())
    let sensor = bench.connectToSensor()
    sensor.peripheral.writeValue(Data(count: 513), for: sensor.characteristic, type: .withResponse)
    #expect(bench.commands.isEmpty)
    #expect(bench.app.events == ["written failed"])
    #expect(bench.app.lastATTError?.code == .invalidAttributeValueLength)
  }

  @Test(
    "4.9 A write command longer than the maximum is not sent, and a log line reports it", .requirement("G041", "L031"))
  func tooLongCommand() {
    let bench = CentralHarness(CentralApp())
    let sensor = bench.connectToSensor()
    sensor.peripheral.writeValue(Data(count: 20), for: sensor.characteristic, type: .withoutResponse)
    #expect(bench.commands.count == 1)
    sensor.peripheral.writeValue(Data(count: 21), for: sensor.characteristic, type: .withoutResponse)
    #expect(bench.commands.isEmpty)
    #expect(bench.app.events.isEmpty)
    #expect(bench.log.lines(containing: "21 octets exceed maximumWriteValueLength, 20").count == 1)
  }

  @Test(
    "4.9 Without room a write command is dropped, and new room is reported once", .requirement("A042", "A056", "A057"),
    .symbol("CBPeripheral.canSendWriteWithoutResponse"))
  func backPressure() {
    let bench = CentralHarness(CentralApp())
    let sensor = bench.connectToSensor()
    #expect(sensor.peripheral.canSendWriteWithoutResponse)
    var sent = 0
    while sensor.peripheral.canSendWriteWithoutResponse, sent < 1000 {
      sensor.peripheral.writeValue(Data([UInt8(sent)]), for: sensor.characteristic, type: .withoutResponse)
      sent += 1
    }
    #expect(sent == 20)
    sensor.peripheral.writeValue(Data([0xFF]), for: sensor.characteristic, type: .withoutResponse)
    #expect(bench.commands.count == sent)
    #expect(bench.app.events.isEmpty)
    #expect(bench.adapter.writeCredits(for: sensor.handle)?.put() == true)
    bench.adapter.tell(.readyToWriteWithoutResponse(sensor.handle))
    #expect(bench.app.events == ["ready"])
    #expect(sensor.peripheral.canSendWriteWithoutResponse)
    #expect(bench.adapter.writeCredits(for: sensor.handle)?.put() == false)
  }

  @Test(
    "4.10 A write command without the property is not sent; a write request is left to the peer",
    .symbol("CBCharacteristicProperties.writeWithoutResponse"))
  func propertyBits() {
    let bench = CentralHarness(CentralApp())
    let sensor = bench.connectToSensor(properties: [.read])
    sensor.peripheral.writeValue(Data([1]), for: sensor.characteristic, type: .withoutResponse)
    #expect(bench.commands.isEmpty)
    sensor.peripheral.writeValue(Data([1]), for: sensor.characteristic, type: .withResponse)
    #expect(bench.commands == ["write 3 01"])
  }

  @Test(
    "4.11 The maximum write length is 512 with response; without response it is the link's, 20 at first",
    .symbol("CBPeripheral.maximumWriteValueLength(for:)"))
  func maximumLengths() {
    let bench = CentralHarness(CentralApp())
    let peripheral = bench.discover()
    #expect(peripheral.maximumWriteValueLength(for: .withoutResponse) == 20)
    bench.manager.connect(peripheral)
    bench.adapter.tell(.connected(peripheral.handle, maximumWriteLength: 20))
    bench.adapter.tell(.maximumWriteLengthChanged(peripheral.handle, 182))
    #expect(peripheral.maximumWriteValueLength(for: .withoutResponse) == 182)
    #expect(peripheral.maximumWriteValueLength(for: .withResponse) == 512)
  }

  @Test(
    "4.12 isNotifying is set before its callback", .requirement("G036"),
    .symbol("CBCharacteristic.isNotifying", "CBPeripheralDelegate.peripheral(_:didUpdateNotificationStateFor:error:)"))
  func notifying() {
    let bench = CentralHarness(CentralApp())
    let sensor = bench.connectToSensor()
    sensor.peripheral.setNotifyValue(true, for: sensor.characteristic)
    sensor.peripheral.setNotifyValue(false, for: sensor.characteristic)
    #expect(bench.commands == ["notify 3 true", "notify 3 false"])
    bench.adapter.tell(.notifyStateChanged(sensor.handle, sensor.characteristicID, isNotifying: true, nil))
    bench.adapter.tell(
      .notifyStateChanged(
        sensor.handle, sensor.characteristicID, isNotifying: false, .att(.requestNotSupported)))
    #expect(bench.app.events == ["notifying true", "notifying false failed"])
  }

  @Test("4.14 Writing the client configuration stops the program with Apple's reason", .requirement("G034"))
  func clientConfiguration() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let bench = CentralHarness(CentralApp())
      let sensor = bench.connectToSensor()
      let descriptor = bench.discoverDescriptors([0x2902], of: sensor)[0]
      sensor.peripheral.writeValue(Data([1, 0]), for: descriptor)
    }
    #expect(
      result?.reason.contains(
        "Client Characteristic Configuration descriptors must be configured using setNotifyValue:forCharacteristic:")
        == true)
  }

  @Test(
    "4.15 A descriptor's value has the type of its UUID", .requirement("G032", "K015"),
    .symbol(
      "CBPeripheral.readValue(for:) (descriptor)", "CBDescriptor", "CBDescriptor.characteristic", "CBDescriptor.value",
      "CBUUIDCharacteristicExtendedPropertiesString", "CBUUIDCharacteristicUserDescriptionString",
      "CBUUIDClientCharacteristicConfigurationString", "CBUUIDServerCharacteristicConfigurationString",
      "CBUUIDCharacteristicFormatString", "CBUUIDCharacteristicAggregateFormatString",
      "CBUUIDCharacteristicValidRangeString", "CBPeripheralDelegate.peripheral(_:didUpdateValueFor:error:) (descriptor)"
    ))
  func descriptorTypes() {
    let bench = CentralHarness(CentralApp())
    let sensor = bench.connectToSensor()
    let uuids: [BluetoothUUID] = [0x2900, 0x2901, 0x2902, 0x2903, 0x2904, 0x2905, 0x2906, 0x1234]
    let descriptors = bench.discoverDescriptors(uuids, of: sensor)
    #expect(descriptors.allSatisfy { $0.value == nil && $0.characteristic === sensor.characteristic })
    for index in uuids.indices {
      bench.adapter.tell(.valueRead(sensor.handle, .init(UInt16(4 + index)), .success([0x41, 0x01])))
    }
    let data = Data([0x41, 0x01])
    #expect(descriptors[0].value as? NSNumber == 0x0141)
    #expect(descriptors[1].value as? String == "A\u{1}")
    #expect(descriptors[2].value as? NSNumber == 0x0141)
    #expect(descriptors[3].value as? NSNumber == 0x0141)
    for index in 4...7 { #expect(descriptors[index].value as? Data == data) }
    #expect(bench.app.events.allSatisfy { $0 == "descriptor value" })
  }

  @Test(
    "A writable descriptor is written, and the result is reported",
    .symbol(
      "CBPeripheral.writeValue(_:for:)", "CBPeripheralDelegate.peripheral(_:didWriteValueFor:error:) (descriptor)"))
  func writingDescriptors() {
    let bench = CentralHarness(CentralApp())
    let sensor = bench.connectToSensor()
    let descriptor = bench.discoverDescriptors([0x2903], of: sensor)[0]
    sensor.peripheral.writeValue(Data([1, 0]), for: descriptor)
    #expect(bench.commands == ["write 4 0100"])
    bench.adapter.tell(.written(sensor.handle, .init(4), nil))
    #expect(bench.app.events == ["descriptor written"])
  }

  @Test("4.15 Octets that are not valid text or numbers still give a value of the right type")
  func oddDescriptors() {
    let bench = CentralHarness(CentralApp())
    let sensor = bench.connectToSensor()
    let descriptors = bench.discoverDescriptors([0x2901, 0x2902, 0x2902], of: sensor)
    bench.adapter.tell(.valueRead(sensor.handle, .init(4), .success([0xFF, 0x41, 0, 0])))
    bench.adapter.tell(.valueRead(sensor.handle, .init(5), .success([])))
    bench.adapter.tell(.valueRead(sensor.handle, .init(6), .success([1, 2, 3])))
    #expect(descriptors[0].value as? String == "\u{FFFD}A")
    #expect(descriptors[1].value as? NSNumber == 0)
    #expect(descriptors[2].value as? NSNumber == 0x0201)
  }

  @Test(
    "4.16 Changed services are removed from services, invalidated, and reported if the app had discovered them",
    .requirement("A045"))
  func modifiedServices() {
    let bench = CentralHarness(CentralApp())
    let sensor = bench.connectToSensor()
    bench.adapter.tell(.servicesModified(sensor.handle, [.init(77)]))
    #expect(bench.app.events.isEmpty)
    bench.adapter.tell(.servicesModified(sensor.handle, [.init(1), .init(77)]))
    #expect(bench.app.take() == ["modified [\"180D\"]"])
    #expect(bench.app.invalidated.first === sensor.service)
    #expect(sensor.peripheral.services?.isEmpty == true)
    sensor.peripheral.readValue(for: sensor.characteristic)
    #expect(bench.commands.isEmpty)
    #expect(bench.app.events == ["value [] failed"])
  }

  @Test("4.16 Added services are reported with an empty list of invalidated services")
  func addedServices() {
    let bench = CentralHarness(CentralApp())
    let sensor = bench.connectToSensor()
    bench.adapter.tell(.servicesModified(sensor.handle, []))
    #expect(bench.app.take() == ["modified []"])
    #expect(sensor.peripheral.services?.first === sensor.service)
    sensor.peripheral.readValue(for: sensor.characteristic)
    #expect(bench.commands.count == 1, "what was there is there")
  }

  @Test("4.17 A changed name and an RSSI reading are reported; the old RSSI callback is not used")
  func nameAndRSSI() {
    let bench = CentralHarness(CentralApp())
    let peripheral = bench.connect()
    peripheral.readRSSI()
    #expect(bench.commands == ["read RSSI"])
    bench.adapter.tell(.rssiRead(peripheral.handle, .success(-61)))
    bench.adapter.tell(.nameChanged(peripheral.handle, "new"))
    #expect(bench.app.events == ["RSSI -61", "name new"])
    #expect(peripheral.name == "new")
  }

  @Test(
    "A channel sounding session ends with operationNotSupported after the answers to earlier calls, on the queue",
    .symbol(
      "CBPeripheral.startChannelSoundingSession(_:)", "CBPeripheral.cancelChannelSoundingSession()",
      "CBPeripheralDelegate.peripheral(_:didCompleteChannelSoundingSession:)"))
  func channelSounding() {
    let bench = CentralHarness(CentralApp())
    let peripheral = bench.connect()
    let configuration = CBChannelSoundingSessionConfiguration(role: .initiator)
    bench.app.onEvent = { [queue = bench.queue] _ in dispatchPrecondition(condition: .onQueue(queue)) }
    peripheral.readRSSI()
    peripheral.startChannelSoundingSession(configuration)
    peripheral.cancelChannelSoundingSession()
    #expect(bench.app.events.isEmpty, "the answer comes later")
    bench.adapter.tell(.rssiRead(peripheral.handle, .success(-61)))
    #expect(bench.app.take() == ["RSSI -61"])
    #expect(bench.commands == ["read RSSI"])
    #expect(bench.app.take() == ["sounding failed"])
    #expect(bench.app.lastError?.code == .operationNotSupported)
    peripheral.startChannelSoundingSession(configuration)
    #expect(bench.commands.isEmpty)
    #expect(bench.app.take() == ["sounding failed"])
    #expect(bench.log.lines(containing: "\(peripheral): no channel sounding session was started").count == 1)
    peripheral.startChannelSoundingSession(configuration)
    bench.manager.cancelPeripheralConnection(peripheral)
    _ = bench.commands
    #expect(bench.app.take() == [], "the link ends before the answer")
    peripheral.startChannelSoundingSession(configuration)
    #expect(bench.commands.isEmpty && bench.app.events.isEmpty, "the peripheral is not connected")
  }

  @Test("5.1 Opening a channel is passed on to the daemon, whose error is reported")
  func channel() {
    let bench = CentralHarness(CentralApp())
    let peripheral = bench.connect()
    peripheral.openL2CAPChannel(0x80)
    #expect(bench.commands == ["open channel 128"])
    bench.adapter.tell(.channelOpened(peripheral.handle, .failure(.refused)))
    #expect(bench.app.events == ["channel nil failed"])
    #expect(bench.app.lastError?.code == .unknown)
  }

  @Test("5.1 The result of opening a channel is not reported after the app has cancelled the connection")
  func lateChannel() {
    let bench = CentralHarness(CentralApp())
    let peripheral = bench.connect()
    peripheral.openL2CAPChannel(0x80)
    bench.manager.cancelPeripheralConnection(peripheral)
    bench.adapter.tell(.channelOpened(peripheral.handle, .failure(.refused)))
    #expect(bench.app.events.isEmpty)
  }
}
