import Requirements
import Testing

@testable import BluetoothWire

private func custom(_ number: UInt64) -> BluetoothUUID {
  BluetoothUUID(high: 0x6E40_0000_B5A3_F393 | number << 32, low: 0xE0A9_E50E_24DC_CA9E)
}

@Suite("Overflow area")
struct OverflowAreaTests {
  @Test("A service in the overflow area is found in either form of its UUID")
  func membership() throws {
    var area = OverflowArea()
    #expect(area.isEmpty)
    area.insert(0x180D)
    area.insert(custom(1))
    var builder = AdvertisingDataBuilder()
    builder.appendOverflowArea(area)
    #expect(builder.octets.count == OverflowArea.structureLength)
    #expect(builder.octets.starts(with: [0x14, 0xFF, 0x4C, 0x00, 0x01]))
    let fields = AdvertisingFields(builder.data)
    #expect(fields.overflowArea == area)
    #expect(fields.manufacturerData == nil)
    #expect(area.mayContain(0x180D))
    #expect(area.mayContain(BluetoothUUID(high: 0x0000_180D_0000_1000, low: 0x8000_0080_5F9B_34FB)))
    #expect(area.mayContain(custom(1)))
    #expect(!area.mayContain(custom(2)))
  }

  @Test("A UUID's bit never changes, since other machines rely on it")
  func bits() {
    #expect([0x180D, 0x180F, 0x1812].map { OverflowArea.bit(for: BluetoothUUID(UInt16($0))) } == [51, 91, 58])
  }

  @Test("The bits are spread over the whole mask")
  func spread() {
    let bits = Set((0..<4096).map { OverflowArea.bit(for: custom($0)) })
    #expect(bits.count == 128)
    #expect(bits.allSatisfy { (0..<128).contains($0) })
  }

  @Test("Two UUIDs can share a bit, so the area may report a service that it does not contain", .requirement("K014"))
  func sharedBits() throws {
    let bit = OverflowArea.bit(for: 0x180D)
    let other = try #require((0..<4096).lazy.map { custom($0) }.first { OverflowArea.bit(for: $0) == bit })
    var area = OverflowArea()
    area.insert(0x180D)
    #expect(area.mayContain(other))
  }

  @Test("Manufacturer data of another company, type or length is not an overflow area")
  func others() throws {
    let mask = [UInt8](repeating: 0xFF, count: 16)
    #expect(OverflowArea(manufacturerData: ByteSlice([0x4C, 0x00, 0x01] + mask)) != nil)
    #expect(OverflowArea(manufacturerData: ByteSlice([0x4D, 0x00, 0x01] + mask)) == nil)
    #expect(OverflowArea(manufacturerData: ByteSlice([0x4C, 0x00, 0x02] + mask)) == nil)
    #expect(OverflowArea(manufacturerData: ByteSlice([0x4C, 0x00, 0x01, 0xFF] + mask)) == nil)
    #expect(OverflowArea(manufacturerData: ByteSlice([0x4C, 0x00, 0x01] + mask.dropLast())) == nil)
    #expect(OverflowArea(manufacturerData: [0x4C]) == nil)
  }
}

@Suite("Advertisements of startAdvertising")
struct PeripheralAdvertisementTests {
  @Test("6.2 A name and a service that fit are in the advertisement, and the scan response is empty")
  func fits() {
    let advertisement = PeripheralAdvertisement(localName: "Sensor", services: [0x180D])
    #expect(
      advertisement.advertisingData == [
        0x02, 0x01, 0x06, 0x03, 0x03, 0x0D, 0x18, 0x07, 0x09, 0x53, 0x65, 0x6E, 0x73, 0x6F, 0x72,
      ])
    #expect(advertisement.scanResponse.isEmpty)
  }

  @Test("6.2 An advertisement without name and services has only the Flags", .requirement("A012", "L113"))
  func nothing() {
    let advertisement = PeripheralAdvertisement(localName: nil, services: [])
    #expect(advertisement.advertisingData == [0x02, 0x01, 0x06])
    #expect(advertisement.scanResponse.isEmpty)
  }

  @Test(
    "6.2 Name and header have 28 octets: a name of 26 octets is complete, one of 27 is shortened",
    .requirement("K036", "L114"))
  func nameAlone() {
    let whole = PeripheralAdvertisement(localName: String(repeating: "n", count: 26), services: [])
    #expect(whole.advertisingData.count == 31)
    #expect(AdvertisingFields(whole.advertisingData).isLocalNameComplete)
    let cut = PeripheralAdvertisement(localName: String(repeating: "n", count: 27), services: [])
    let fields = AdvertisingFields(cut.advertisingData)
    #expect(fields.localName?.utf8.count == 26)
    #expect(!fields.isLocalNameComplete)
    #expect(cut.scanResponse.isEmpty)
  }

  @Test(
    "6.2 If the services leave no room for it, the name has 10 octets in the scan response", .requirement("K037"),
    arguments: [
      ("SensorName", true), ("SensorName1", false),
    ])
  func nameInScanResponse(name: String, isComplete: Bool) {
    let advertisement = PeripheralAdvertisement(localName: name, services: [custom(1)])
    #expect(AdvertisingFields(advertisement.advertisingData).services == [custom(1)])
    #expect(AdvertisingFields(advertisement.advertisingData).localName == nil)
    let response = AdvertisingFields(advertisement.scanResponse)
    #expect(response.localName == "SensorName")
    #expect(response.isLocalNameComplete == isComplete)
  }

  @Test(
    "6.2 A service that does not fit goes into the overflow area, and its list is incomplete",
    .requirement("K039", "L023", "L027"))
  func overflow() {
    let advertisement = PeripheralAdvertisement(localName: "SensorName", services: [custom(1), custom(2), 0x180D])
    #expect(
      Array(AdvertisingData(advertisement.advertisingData)).map(\.type) == [
        .flags, .completeServices16, .incompleteServices128,
      ])
    let response = AdvertisingFields(advertisement.scanResponse)
    #expect(response.overflowArea?.mayContain(custom(2)) == true)
    #expect(response.localName == "SensorNa")
    #expect(!response.isLocalNameComplete)
    #expect(advertisement.scanResponse.count == 31)
  }

  @Test("6.2 A name is never truncated within a character")
  func wholeCharacters() {
    let advertisement = PeripheralAdvertisement(localName: "Fühler-Größe", services: [custom(1)])
    #expect(AdvertisingFields(advertisement.scanResponse).localName == "Fühler-Gr")
  }

  @Test("6.2 For any name and services, both parts fit and no service is lost", .requirement("A010"))
  func property() {
    var generator = RandomStream(seed: 28)
    for _ in 0..<2_000 {
      let services = (0..<Int.random(in: 0...12, using: &generator)).map { _ -> BluetoothUUID in
        let number = UInt64.random(in: 0...99, using: &generator)
        switch Int.random(in: 0...2, using: &generator) {
        case 0: return BluetoothUUID(UInt16(0x1800 + number))
        case 1: return BluetoothUUID(UInt32(0x1234_0000 + number))
        default: return custom(number)
        }
      }
      let name =
        Bool.random(using: &generator)
        ? String(
          (0..<Int.random(in: 0...40, using: &generator)).map { _ in "aé€😀".randomElement(using: &generator) ?? "a" })
        : nil
      let advertisement = PeripheralAdvertisement(localName: name, services: services)
      #expect(advertisement.advertisingData.count <= 31)
      #expect(advertisement.scanResponse.count <= 31)
      var fields = AdvertisingFields(advertisement.advertisingData)
      fields.merge(AdvertisingFields(advertisement.scanResponse))
      #expect(services.allSatisfy { fields.services.contains($0) || fields.overflowArea?.mayContain($0) == true })
      #expect((fields.localName == nil) == (name == nil))
      #expect(name?.hasPrefix(fields.localName ?? "") ?? true)
      #expect(fields.isLocalNameComplete == (name != nil && fields.localName == name))
    }
  }
}
