import BluetoothLab
import BluetoothProfiles
import CoreBluetooth
import Requirements
import TestSupport
import Testing

@Suite("Descriptors of accessories")
struct AccessoryDescriptorTests {
  @Test("A central discovers an accessory's descriptors and included services, and reads the descriptors")
  func descriptors() async throws {
    let meeting = Encounter(Station())
    #expect(await meeting.prepare())
    let peripheral = try #require(meeting.app.peripheral)
    let reader = DescriptorReader()
    peripheral.delegate = reader
    let temperature = try #require(meeting.app.characteristic("2A6E"))
    let both = try #require(meeting.app.characteristic("2A9F"))
    peripheral.discoverDescriptors(for: temperature)
    peripheral.discoverDescriptors(for: both)
    let service = try #require(peripheral.services?.first { $0.uuid == CBUUID(string: "181A") })
    peripheral.discoverIncludedServices(nil, for: service)
    await meeting.world.run(for: .seconds(1))
    #expect(service.includedServices?.map(\.uuid) == [CBUUID(string: "180F")])
    #expect(Set(temperature.descriptors?.map(\.uuid.uuidString) ?? []) == ["2900", "2901", "2903", "2904"])
    #expect(both.descriptors?.map(\.uuid.uuidString) == ["2905"])
    for descriptor in (temperature.descriptors ?? []) + (both.descriptors ?? []) {
      peripheral.readValue(for: descriptor)
    }
    await meeting.world.run(for: .seconds(1))
    #expect(reader.values["2900"] as? NSNumber == 3)
    #expect(reader.values["2901"] as? String == "Roof")
    #expect(reader.values["2904"] as? Data == Data([0x0E, 0xFE, 0x2F, 0x27, 1, 0, 0]))
    // The handles of the two formats; the last one is the second characteristic's.
    #expect((reader.values["2905"] as? Data)?.count == 4)
  }

  @Test("A client with permission writes the user description and reads the new text")
  func userDescription() async throws {
    let meeting = Encounter(Station())
    #expect(await meeting.prepare())
    let peripheral = try #require(meeting.app.peripheral)
    let reader = DescriptorReader()
    peripheral.delegate = reader
    let temperature = try #require(meeting.app.characteristic("2A6E"))
    peripheral.discoverDescriptors(for: temperature)
    await meeting.world.run(for: .seconds(1))
    let description = try #require(temperature.descriptors?.first { $0.uuid.uuidString == "2901" })
    peripheral.writeValue(Data("Cellar".utf8), for: description)
    peripheral.readValue(for: description)
    await meeting.world.run(for: .seconds(1))
    #expect(reader.values["2901"] as? String == "Cellar")
    #expect(reader.errors.isEmpty)
  }

  @Test(
    "A value that a client has configured for broadcast is advertised to all devices, with every change",
    .requirement("L018"))
  func broadcast() async throws {
    let meeting = Encounter(Station())
    let listener = PhoneApp(on: meeting.world.makeDevice(named: "listener", at: Position(x: -2)), .listen)
    #expect(await meeting.prepare())
    #expect(listener.serviceData("181A") == nil)
    let peripheral = try #require(meeting.app.peripheral)
    let temperature = try #require(meeting.app.characteristic("2A6E"))
    let reader = DescriptorReader()
    peripheral.delegate = reader
    peripheral.discoverDescriptors(for: temperature)
    await meeting.world.run(for: .seconds(1))
    let configuration = try #require(temperature.descriptors?.first { $0.uuid.uuidString == "2903" })
    peripheral.writeValue(Data([1, 0]), for: configuration)
    await meeting.world.run(for: .seconds(1))
    meeting.app.manager.cancelPeripheralConnection(peripheral)
    await meeting.world.run(for: .seconds(3))
    #expect(listener.serviceData("181A") == Data([0x34, 0x08]))
    meeting.accessory.update { $0.hundredths = 2_101 }
    await meeting.world.run(for: .seconds(3))
    #expect(listener.serviceData("181A") == Data([0x35, 0x08]))
  }
}

/// A weather station on a roof.
private struct Station: Accessory {
  var hundredths: Int16 = 2_100

  var advertising: Advertising { Advertising(AdvertisingPayload(fitting: [.flags(), .name("Station")])) }

  private static let service: BluetoothUUID = 0x181A

  /// The temperature, and both values, one after the other.
  private struct Both: AttributeValue {
    var temperature: Temperature
    var humidity: Humidity

    init(_ temperature: Temperature, _ humidity: Humidity) {
      self.temperature = temperature
      self.humidity = humidity
    }

    init(from reader: inout ValueReader) throws(ValueError) {
      temperature = try Temperature(from: &reader)
      humidity = try Humidity(from: &reader)
    }

    func write(to writer: inout ValueWriter) {
      temperature.write(to: &writer)
      humidity.write(to: &writer)
    }
  }

  private var temperature: Temperature { Temperature(clamping: Int(hundredths)) }
  private var humidity: Humidity { Humidity(clamping: 10_000) }

  var services: [AccessoryService<Self>] {
    var temperature = AccessoryCharacteristic<Self>(
      Characteristic<Temperature>(of: Self.service), [.read, .broadcast], value: \.temperature)
    temperature.hasReliableWrite = true
    temperature.descriptors = [
      .userDescription("Roof", isWritable: true),
      .presentationFormat(PresentationFormat(.sint16, exponent: -2, unit: .degreeCelsius)),
    ]
    var humidity = AccessoryCharacteristic<Self>(
      Characteristic<Humidity>(of: Self.service), .read, value: \.humidity)
    humidity.descriptors = [.presentationFormat(PresentationFormat(.uint16, exponent: -2, unit: .percentage))]
    var both = AccessoryCharacteristic<Self>(
      Characteristic<Both>("2A9F", of: Self.service), .read, value: { Both($0.temperature, $0.humidity) })
    both.descriptors = [.aggregateFormat(["2A6E", "2A6F"])]
    var sensing = AccessoryService(Self.service, [temperature, humidity, both])
    sensing.includes = ["180F"]
    let battery = AccessoryCharacteristic<Self>(
      BatteryPack.batteryLevel, .read, value: { _ in BatteryLevel(clamping: 77) })
    return [AccessoryService(BatteryPack.service, [battery]), sensing]
  }
}

/// A delegate that records the values of descriptors.
private final class DescriptorReader: NSObject, CBPeripheralDelegate {
  private(set) var values: [String: Any] = [:]
  private(set) var errors: [any Error] = []

  func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor descriptor: CBDescriptor, error: (any Error)?) {
    if let error { errors.append(error) }
    values[descriptor.uuid.uuidString] = descriptor.value
  }

  func peripheral(_ peripheral: CBPeripheral, didWriteValueFor descriptor: CBDescriptor, error: (any Error)?) {
    if let error { errors.append(error) }
  }
}

extension PhoneApp {
  /// The service data of the last advertisement.
  fileprivate func serviceData(_ uuid: String) -> Data? {
    (advertisement[CBAdvertisementDataServiceDataKey] as? [CBUUID: Data])?[CBUUID(string: uuid)]
  }
}
