import AsyncTestSupport
import BluetoothLab
import BluetoothProfiles
import CoreBluetooth
import CoreBluetoothExtras
import CoreBluetoothProfiles
import Testing

@Suite("Clients of batteries and of device information") struct InformationClientTests {
  /// A device with two batteries, which their presentation formats number.
  private struct TwoBatteries: Accessory {
    var levels: [UInt8] = [80, 40]

    var advertising: Advertising { Advertising(AdvertisingPayload(fitting: [.flags(), .name("Two")])) }

    var services: [AccessoryService<Self>] {
      levels.indices.map { index -> AccessoryService<Self> in
        var level = AccessoryCharacteristic<Self>(
          BatteryPack.batteryLevel, [.read, .notify], value: { BatteryLevel(clamping: Int($0.levels[index])) })
        let number = PresentationFormat.Description(number: UInt16(index + 1))
        level.descriptors = [.presentationFormat(PresentationFormat(.uint8, unit: .percentage, details: number))]
        return AccessoryService(BatteryPack.service, [level])
      }
    }
  }

  @Test("A battery client reads the level, and gets each change as a typed value")
  func battery() throws {
    let scene = ClientScene(BatteryPack(level: 80))
    let client = try scene.client { try await BatteryClient($0) }
    #expect(try scene.stage.perform { try await client.level() }.rawValue == 80)
    #expect(try scene.stage.perform { try await client.presentationFormat() } == nil)
    let levels = try #require(client.levels)
    let received = Box<[Int]>([])
    let reading = scene.stage.start { for try await level in levels { received.append(level.rawValue) } }
    scene.stage.run(for: .seconds(1))
    for level in [79, 78] as [UInt8] {
      scene.device.update { $0.level = level }
      scene.stage.run(for: .seconds(1))
    }
    #expect(received.value == [79, 78])
    reading.cancel()
  }

  @Test("Each battery of a device has a client, and its number")
  func severalBatteries() throws {
    let scene = ClientScene(TwoBatteries())
    let peripheral = try scene.connect()
    let batteries = try scene.stage.perform { try await BatteryClient.all(of: peripheral) }
    #expect(batteries.count == 2)
    let levels = try batteries.map { battery in try scene.stage.perform { try await battery.level() }.rawValue }
    #expect(levels == [80, 40])
    let numbers = try batteries.map { battery in
      try scene.stage.perform { try await battery.presentationFormat() }?.details.name
    }
    #expect(numbers == ["number 1", "number 2"])
    let first = try scene.stage.perform { try await BatteryClient(peripheral).level() }
    #expect(first.rawValue == 80)
    let other = ClientScene(Thermometer())
    let thermometer = try other.connect()
    #expect(try other.stage.perform { try await BatteryClient.all(of: thermometer) }.count == 1)
  }

  @Test("A battery that does not notify has no changes, and a level above 100 % is a typed error")
  func malformedLevel() throws {
    let scene = ClientScene(RawSensor(0x180F, [(0x2A19, .read, [101])]))
    let client = try scene.client { try await BatteryClient($0) }
    #expect(client.levels == nil)
    let error = failure(ProfileError.self) { try scene.stage.perform { try await client.level() } }
    #expect(error == .malformedValue(of: 0x2A19, .outOfRange(field: "Battery Level")))
    let empty = ClientScene(RawSensor(0x180F, [(0x2A1A, .read, [])]))
    let peripheral = try empty.connect()
    let missing = failure(ProfileError.self) {
      try empty.stage.perform { _ = try await BatteryClient.all(of: peripheral) }
    }
    #expect(missing == .missingCharacteristic(0x2A19, of: 0x180F))
    let none = failure(ProfileError.self) {
      try empty.stage.perform { _ = try await DeviceInformationClient(peripheral) }
    }
    #expect(none == .missingService(0x180A))
  }

  @Test("A device information client reads all values in one call, as typed values")
  func information() throws {
    let values: [(BluetoothUUID, CharacteristicProperties, [UInt8])] = [
      (0x2A29, .read, Array("Acme".utf8)), (0x2A24, .read, Array("X1".utf8)), (0x2A25, .read, Array("0007".utf8)),
      (0x2A27, .read, Array("A".utf8)), (0x2A26, .read, Array("1.2".utf8)), (0x2A28, .read, Array("3.4".utf8)),
      (0x2A23, .read, [1, 0, 0, 0xFE, 0xFF, 0, 0, 2]), (0x2A2A, .read, [0, 1, 2, 3]),
      (0x2A50, .read, [1, 0xFF, 0xFF, 2, 0, 0x10, 1]),
    ]
    let scene = ClientScene(RawSensor(0x180A, values))
    let client = try scene.client { try await DeviceInformationClient($0) }
    let information = try scene.stage.perform { try await client.information() }
    #expect(information.manufacturerName == "Acme" && information.modelNumber?.text == "X1")
    #expect(information.serialNumber == "0007" && information.hardwareRevision == "A")
    #expect(information.firmwareRevision == "1.2" && information.softwareRevision == "3.4")
    let system = SystemID(manufacturerIdentifier: 0xFF_FE00_0001, organizationallyUniqueIdentifier: 0x02_0000)
    #expect(information.systemID == system)
    #expect(information.regulatoryCertificationData?.content == [0, 1, 2, 3])
    let product = PnPID(vendorIDSource: .bluetoothSIG, vendorID: 0xFFFF, productID: 2, productVersion: 0x0110)
    #expect(information.pnpID == product)
  }

  @Test("A missing value of the device information is nil, and a malformed one is a typed error")
  func incompleteInformation() throws {
    let scene = ClientScene(RawSensor(0x180A, [(0x2A24, .read, Array("X1".utf8))]))
    let client = try scene.client { try await DeviceInformationClient($0) }
    let information = try scene.stage.perform { try await client.information() }
    #expect(information.modelNumber == "X1" && information.manufacturerName == nil && information.serialNumber == nil)
    #expect(information.hardwareRevision == nil && information.firmwareRevision == nil)
    #expect(information.softwareRevision == nil && information.systemID == nil)
    #expect(information.regulatoryCertificationData == nil && information.pnpID == nil)
    let malformed: [(UInt16, [UInt8], ValueError)] = [
      (0x2A23, [1, 2, 3, 4, 5, 6, 7], .tooShort), (0x2A50, [1, 2, 3, 4, 5, 6, 7, 8], .tooLong),
    ]
    for (uuid, octets, expected) in malformed {
      let model = Array("X1".utf8)
      let scene = ClientScene(RawSensor(0x180A, [(0x2A24, .read, model), (BluetoothUUID(uuid), .read, octets)]))
      let client = try scene.client { try await DeviceInformationClient($0) }
      #expect(try scene.stage.perform { try await client.modelNumber() } == "X1")
      let error = failure(ProfileError.self) { try scene.stage.perform { try await client.information() } }
      #expect(error == .malformedValue(of: uuid, expected))
    }
  }
}
