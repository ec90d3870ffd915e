import Requirements
import TestVectors
import Testing

@testable import BluetoothWire

private typealias Field = AdvertisingData.Field

private func fields(_ text: String) throws -> [Field?] {
  AdvertisingData(try octets(text)).map(\.field)
}

@Suite("Fields of advertising data")
struct AdvertisingFieldTests {
  /// A test of this target, of `BluetoothCryptoTests` (rpa) or of `BluetoothNumbersTests` (company_examples) reads each
  /// section.
  @Test("The number of rows in each section of the advertising vectors is known")
  func rows() throws {
    let vectors = try TestVectors.load("advertising")
    let counts = vectors.compactMapValues { ($0 as? [Any])?.count }
    #expect(
      counts == [
        "ad": 37, "malformed": 16, "beacons": 11, "rpa": 8, "address_types": 11, "company_examples": 9,
      ])
  }

  @Test("Every vector's typed values are found, and encode to the same octets", .requirement("L203"))
  func typedVectors() throws {
    var checked = 0
    for vector in try #require(try TestVectors.load("advertising")["ad"] as? [[String: Any]]) {
      let name = vector["id"] as? String ?? ""
      let parsed = try #require(vector["parsed"] as? [String: Any])
      let data = AdvertisingData(try octets(try #require(vector["data"] as? String)))
      for structure in data {
        let field = try #require(structure.field, "\(name)")
        if case .other = field { Issue.record("\(name) has a structure that was not understood") }
        // A trailing zero octet is not written, nor a zero in a name and the octets after it.
        if !["flags-two-octets", "le-features", "utf16-name-not-utf8"].contains(name) {
          #expect(field.structure == structure, "\(name)")
        }
        #expect(field.structure.field == field, "\(name)")
        for (key, value) in described(field) {
          checked += 1
          let expected = parsed[key] as? [Int]
          #expect(expected.map { "\($0)" } ?? "\(parsed[key] ?? "none")" == value, "\(name) \(key)")
        }
      }
    }
    #expect(checked == 9)
  }

  /// Returns the values that `AdvertisingFields` does not collect, under the vectors' names.
  private func described(_ field: Field) -> [String: String] {
    switch field {
    case .classOfDevice(let value): ["class_of_device": "\(value)"]
    case .connectionIntervalRange(let range):
      ["conn_interval_range": "\([range.minimum, range.maximum].compactMap { $0 })"]
    case .appearance(let value): ["appearance": "\(value)"]
    case .advertisingInterval(let value): ["advertising_interval": "\(value)"]
    case .leDeviceAddress(let address): ["le_address_random": "\(address.kind.rawValue)"]
    case .leRole(let role): ["le_role": "\(role.rawValue)"]
    case .uri(let uri): ["uri": uri]
    case .leSupportedFeatures(let features): ["le_supported_features": "\(features.rawValue)"]
    default: [:]
    }
  }

  @Test("Every beacon of the vectors is decoded")
  func beacons() throws {
    for vector in try #require(try TestVectors.load("advertising")["beacons"] as? [[String: Any]]) {
      let name = try #require(vector["id"] as? String)
      let beacon = Beacon(AdvertisingData(try octets(try #require(vector["data"] as? String))))
      let decoded = try #require(vector["decoded"] as? [String: Any])
      func number(_ key: String) -> Int? { decoded[key] as? Int }
      func text(_ key: String) -> String? { decoded[key] as? String }
      func hexadecimal(_ slice: ByteSlice) -> String { slice.description.lowercased() }
      switch beacon {
      case nil: #expect(decoded["error"] != nil, "\(name)")
      case .iBeacon(let uuid, let major, let minor, let power)?:
        #expect(uuid.description.lowercased() == text("uuid"), "\(name)")
        #expect([Int(major), Int(minor), Int(power)] == [number("major"), number("minor"), number("measured_power")])
      case .altBeacon(let company, let identifier, let level, let reserved)?:
        #expect(company.hexadecimal == text("company_id"), "\(name)")
        #expect(hexadecimal(identifier) == text("beacon_id"), "\(name)")
        #expect([Int(level), Int(reserved)] == [number("reference_rssi"), number("mfg_reserved")], "\(name)")
      case .eddystoneUID(let power, let namespace, let instance)?:
        #expect(Int(power) == number("tx_power_0m"), "\(name)")
        #expect([hexadecimal(namespace), hexadecimal(instance)] == [text("namespace"), text("instance")], "\(name)")
      case .eddystoneURL(let power, let url)?:
        #expect(Int(power) == number("tx_power_0m"), "\(name)")
        #expect(url == text("url"), "\(name)")
      case .eddystoneEID(let power, let identifier)?:
        #expect(Int(power) == number("tx_power_0m"), "\(name)")
        #expect(hexadecimal(identifier) == text("eid"), "\(name)")
      case .eddystoneTelemetry(let telemetry)?:
        #expect(Int(telemetry.battery) == number("battery_mv"), "\(name)")
        #expect(Double(telemetry.temperature) / 256 == decoded["temperature_c"] as? Double, "\(name)")
        #expect(Int(telemetry.advertisements) == number("adv_count"), "\(name)")
        #expect(Double(telemetry.uptime) / 10 == decoded["uptime_s"] as? Double, "\(name)")
      }
    }
  }

  @Test(
    "G1 A structure that violates the format of its type has no field",
    arguments: [
      "010a", "030a0405", "021941", "0419410300", "02160f", "02ff4c", "021c04", "051280000600", "0112", "05120500800c",
      "05120600810c", "011a", "041aa00000", "032fa000", "062fa000000000", "0124", "0131", "09310102030405060708",
      "0728010203040506", "09280102030405060708", "0722010203040506", "0430414243", "06170102030405", "0101",
      "042e010203", "083201020304050607", "02030d", "020541", "0207aa", "0111", "0310ffff",
    ])
  func broken(text: String) throws {
    let structures = Array(AdvertisingData(try octets("0409414243" + text + "020a04")))
    #expect(structures.count == 3)
    #expect(structures.map(\.field) == [.localName("ABC", isComplete: true), nil, .txPowerLevel(4)])
  }

  @Test("G1 The maximum number of structures, the longest structure, and duplicates of each type are parsed")
  func large() throws {
    let chain = ByteSlice((0..<825).flatMap { _ in [UInt8(1), 0x0A] })
    #expect(chain.count == 1650)
    #expect(AdvertisingFields(chain) == AdvertisingFields())
    #expect(Array(AdvertisingData(chain)).count == 825)
    var builder = AdvertisingDataBuilder(capacity: 1650)
    let long = [UInt8](repeating: 0x42, count: 254)
    while builder.append(.manufacturerData, long) {}
    #expect(builder.octets.count == 1536)
    let fitted = [builder.appendLocalName(String(repeating: "n", count: 300)), builder.appendFlags()]
    #expect(fitted == [true, false])
    #expect(builder.octets.count == 1650)
    let fields = AdvertisingFields(builder.data)
    // Six structures of 254 octets, of one company
    #expect(fields.manufacturerData?.count == 254 + 5 * 252)
    #expect(fields.localName?.utf8.count == 112)
    #expect(!fields.isLocalNameComplete)
    var twice = AdvertisingFields(try octets("02010602010503030d1803030d18020a04020afc04094142430309"))
    #expect(twice.flags == 5)
    #expect(twice.services == [0x180D])
    #expect(twice.txPowerLevel == -4)
    twice.merge(AdvertisingFields(try octets("030958590302e4")))
    #expect(twice.localName == "XY")
  }

  @Test("G2 Manufacturer data and service data of any length are kept whole", arguments: [0, 27, 31, 229, 250])
  func anyLength(count: Int) {
    let data = [UInt8](repeating: 0xA5, count: count)
    var builder = AdvertisingDataBuilder(capacity: 1650)
    let custom = BluetoothUUID(high: 0x6E40_0001_B5A3_F393, low: 0xE0A9_E50E_24DC_CA9E)
    let fitted = [
      builder.appendManufacturerData(company: 0x0059, data), builder.appendServiceData(0x180D, data),
      builder.appendServiceData(custom, data),
    ]
    #expect(fitted == [true, true, count <= 238])
    let fields = AdvertisingFields(builder.data)
    #expect(fields.manufacturerData == ByteSlice([0x59, 0x00] + data))
    #expect(fields.serviceData.first?.data == ByteSlice(data))
  }

  @Test("Every field is encoded to a structure that decodes to the same field", .requirement("L021", "L203"))
  func roundTrip() throws {
    var generator = RandomStream(seed: 0x2A)
    var kinds: Set<UInt8> = []
    for _ in 0..<4_000 {
      let field = Field.sample(using: &generator)
      kinds.insert(field.type.rawValue)
      var builder = AdvertisingDataBuilder(capacity: 1650)
      let fits = builder.append(field)
      #expect(fits)
      #expect(AdvertisingData(builder.data).map(\.field) == [field])
    }
    // All types, except for the five UUID lists of the widths that were not drawn.
    #expect(kinds.count == 50)
  }

  @Test("An unknown URI scheme stays unchanged, and a scheme without a number is spelled out")
  func schemes() throws {
    #expect(try fields("0324c386") == [.other(.uri, [0xC3, 0x86])])
    #expect(Field.uri("mqtt://host").structure.data.bytes == [0x01] + Array("mqtt://host".utf8))
    #expect(try fields("0724c2ba2f2f6161") == [.uri("ms-settings-cloudstorage://aa")])
    #expect(Field.uri("example:a").structure.data.bytes == [0xC2, 0xB9, 0x61])
    #expect(try fields("0424016100") == [.uri("a")])
  }

  @Test("Flags are changed in place, and added if there are none")
  func discoverable() throws {
    let data = AdvertisingData(try octets("020a040201060303 0d18"))
    #expect(data.discoverable(.limitedDiscoverable) == (try octets("020a0402010503030d18")))
    #expect(data.discoverable(.generalDiscoverable) == data.octets)
    #expect(AdvertisingData(try octets("020a04")).discoverable(.limitedDiscoverable) == (try octets("020105020a04")))
    #expect(AdvertisingData(ByteSlice([UInt8](repeating: 0, count: 29))).discoverable(.limitedDiscoverable) == nil)
  }

  @Test("6.2 In the background all services are in the overflow area of the scan response, without a name")
  func background() throws {
    let advertisement = PeripheralAdvertisement(localName: nil, services: [], overflowServices: [0x180D, 0x180F])
    #expect(advertisement.advertisingData == [2, 1, 6])
    let fields = AdvertisingFields(advertisement.scanResponse)
    #expect(fields.services.isEmpty)
    #expect(fields.localName == nil)
    let area = try #require(fields.overflowArea)
    #expect([0x180D, 0x180F, 0x1812].map { area.mayContain($0) } == [true, true, false])
    #expect(PeripheralAdvertisement(localName: nil, services: []).scanResponse.isEmpty)
  }
}
