import Requirements
import TestVectors
import Testing

@testable import BluetoothWire

private func cases(_ name: String) throws -> [[String: Any]] {
  try #require(try TestVectors.load("advertising")[name] as? [[String: Any]])
}

private func structures(_ vector: [String: Any], _ key: String) throws -> [[String]] {
  let list = try #require(vector[key] as? [[String: String]])
  return list.map { [$0["type"] ?? "", $0["data"] ?? ""] }
}

private func text(_ slice: ByteSlice) -> String { slice.description.lowercased() }

private func split(_ data: ByteSlice) -> [[String]] {
  AdvertisingData(data).map { [$0.type.rawValue.hexadecimal.lowercased(), text($0.data)] }
}

@Suite("Advertising data")
struct AdvertisingDataTests {
  @Test("Every vector splits into its structures, which build the same data again", .requirement("L021"))
  func vectors() throws {
    for vector in try cases("ad") {
      let name = vector["id"] as? String ?? ""
      let data = try octets(try #require(vector["data"] as? String))
      #expect(split(data) == (try structures(vector, "structures")), "\(name)")
      var builder = AdvertisingDataBuilder(capacity: 255)
      for structure in AdvertisingData(data) { builder.append(structure.type, structure.data.bytes) }
      #expect(data.bytes.starts(with: builder.octets), "\(name)")
      #expect(data.bytes.dropFirst(builder.octets.count).allSatisfy { $0 == 0 }, "\(name)")
    }
  }

  @Test("Every vector's names, services, levels and data are found", .requirement("L024", "L116", "L203"))
  func parsedVectors() throws {
    for vector in try cases("ad") {
      let name = vector["id"] as? String ?? ""
      let parsed = try #require(vector["parsed"] as? [String: Any])
      let fields = AdvertisingFields(try octets(try #require(vector["data"] as? String)))
      // A name ends before the first zero.
      #expect(fields.localName == (parsed["name"] as? String).map { String($0.prefix { $0 != "\0" }) }, "\(name)")
      #expect(fields.isLocalNameComplete == (parsed["name_complete"] as? Bool ?? false), "\(name)")
      #expect(fields.flags.map(Int.init) == parsed["flags"] as? Int, "\(name)")
      #expect(fields.txPowerLevel.map(Int.init) == parsed["tx_power"] as? Int, "\(name)")
      let services = ["uuids16", "uuids32", "uuids128"].flatMap { parsed[$0] as? [String] ?? [] }
      #expect(Set(fields.services.map { $0.description.lowercased() }) == Set(services), "\(name)")
      let solicited = ["solicit16", "solicit32", "solicit128"].flatMap { parsed[$0] as? [String] ?? [] }
      #expect(fields.solicitedServices.map { $0.description.lowercased() } == solicited, "\(name)")
      var data: [String: String] = [:]
      for element in fields.serviceData { data[element.service.description.lowercased()] = text(element.data) }
      var expected: [String: String] = [:]
      for key in ["service_data16", "service_data32", "service_data128"] {
        expected.merge(parsed[key] as? [String: String] ?? [:]) { $1 }
      }
      #expect(data == expected, "\(name)")
      if let company = parsed["company_id"] as? String {
        let manufacturerData = try #require(fields.manufacturerData)
        // The vectors have the last structure, which is joined to the earlier ones, with its company if it is another.
        let data = parsed["manufacturer_data"] as? String ?? "-"
        let isFirst = manufacturerData.littleEndian16(at: 0).hexadecimal.lowercased() == company
        let ending = isFirst ? data : company.suffix(2) + company.prefix(2) + data
        #expect(text(manufacturerData).hasSuffix(ending), "\(name)")
      } else {
        #expect(fields.manufacturerData == nil, "\(name)")
      }
    }
  }

  @Test("G1 The structures before a fault in malformed data are kept")
  func malformedVectors() throws {
    for vector in try cases("malformed") {
      let data = try octets(try #require(vector["data"] as? String))
      #expect(split(data) == (try structures(vector, "structures_before_error")), "\(vector["id"] ?? "")")
    }
  }

  @Test(
    "G1 A malformed field is left out, and the fields around it are kept",
    arguments: ["02160f", "02ff4c", "020300", "010a", "0101", "0220aa", "0321aabb", "0214aa", "021fbb", "0215cc"])
  func malformedField(text: String) throws {
    let fields = AdvertisingFields(try octets("03030d18" + text + "020afc"))
    var expected = AdvertisingFields(try octets("03030d18"))
    expected.merge(AdvertisingFields(try octets("020afc")))
    #expect(fields == expected)
    #expect(fields.services == [0x180D])
    #expect(fields.txPowerLevel == -4)
  }

  @Test("G1 A list of UUIDs with octets left over keeps the complete UUIDs")
  func oddList() throws {
    #expect(AdvertisingFields(try octets("04030f181a")).services == [0x180F])
  }

  @Test("G1 In a name that is not UTF-8, only the invalid octets are replaced")
  func invalidName() throws {
    let vector = try #require(try cases("malformed").first { $0["id"] as? String == "invalid-utf8-name" })
    let fields = AdvertisingFields(try octets(try #require(vector["data"] as? String)))
    #expect(fields.localName == "test \u{92A}\u{930}\u{940}\u{FFFD}\u{94D}\u{937}\u{93E} invalid")
    // The first octet of a two-octet character.
    #expect(AdvertisingFields(try octets("040841c3a4")).localName == "A\u{E4}")
    #expect(AdvertisingFields(try octets("030841c3")).localName == "A")
  }

  @Test("G1 Any octets are parsed without a trap, and structures stay within the data")
  func anyOctets() {
    var generator = RandomStream(seed: 0xAD)
    for _ in 0..<20_000 {
      let bytes = (0..<Int.random(in: 0...64, using: &generator)).map { _ in
        Bool.random(using: &generator)
          ? UInt8.random(in: 0...40, using: &generator) : UInt8.random(in: 0...255, using: &generator)
      }
      let total = AdvertisingData(ByteSlice(bytes)).reduce(0) { $0 + 2 + $1.data.count }
      #expect(total <= bytes.count)
      let fields = AdvertisingFields(ByteSlice(bytes))
      #expect(fields.services.count <= bytes.count / 2)
    }
  }

  @Test("The complete name replaces the shortened one, in any order", .requirement("L022"))
  func names() throws {
    for (first, second) in [("03084142", "0409414243"), ("0409414243", "03084142")] {
      var fields = AdvertisingFields(try octets(first))
      fields.merge(AdvertisingFields(try octets(second)))
      #expect(fields.localName == "ABC")
      #expect(fields.isLocalNameComplete)
    }
  }

  @Test("Advertisement and scan response are merged, with each service once")
  func merge() throws {
    var fields = AdvertisingFields(try octets("05030d180f18"))
    fields.merge(AdvertisingFields(try octets("05020f180a18020a04")))
    #expect(fields.services == [0x180D, 0x180F, 0x180A])
    #expect(fields.txPowerLevel == 4)
  }

  @Test("Values of one type in two packets: the later packet's replace those of the earlier one, in its place")
  func mergedValues() throws {
    let (first, second) = ("04ff544401 0416d2fc01 041695fe09 020a04", "04ff5900ee 0416d2fc02 020a08")
    var fields = AdvertisingFields(try octets(first))
    fields.merge(AdvertisingFields(try octets(second)))
    #expect(fields.manufacturerData == [0x59, 0x00, 0xEE])
    #expect(fields.serviceData.map(\.service) == [0xFCD2, 0xFE95])
    #expect(fields.serviceData.map(\.data) == [[2], [9]])
    #expect(fields.txPowerLevel == 8)
    fields.merge(AdvertisingFields(try octets(first)))
    #expect(fields == AdvertisingFields(try octets(first)))
  }

  @Test(
    "Several structures with manufacturer data, or with data of a service, in one packet are joined",
    arguments: [("04ff544401 05ff54440203", "5444010203"), ("04ff544401 04ff590002", "544401590002")])
  func joined(packet: String, data: String) throws {
    #expect(AdvertisingFields(try octets(packet)).manufacturerData == ByteSlice(try octets(data).bytes))
    let services = AdvertisingFields(try octets("0416d2fc01 0416d2fc02"))
    #expect(services.serviceData.map(\.data) == [[1, 2]])
  }

  @Test("A service is found in a list of any width without parsing the other fields", .requirement("L116"))
  func contains() throws {
    let (long, short) = (BluetoothUUID(high: 0x6E40_0001_B5A3_F393, low: 0xE0A9_E50E_24DC_CA9E), BluetoothUUID(0x180F))
    let middle = BluetoothUUID(UInt32(0x1234_5678))
    // Incomplete and complete lists of each width.
    for (list16, list32, list128) in [("02", "04", "06"), ("03", "05", "07")] {
      let data = AdvertisingData(
        try octets(
          "020106" + "05\(list16)0d180f18" + "09\(list32)0100000078563412"
            + "11\(list128)9ecadc240ee5a9e093f3a3b50100406e"))
      for service in [short, middle, long] { #expect(data.contains(service: service), "\(service)") }
      for service in [BluetoothUUID(0x1810), BluetoothUUID(UInt32(0x1234_5679)), BluetoothUUID(high: 1, low: 2)] {
        #expect(!data.contains(service: service), "\(service)")
      }
    }
  }

  @Test("Fields that were built are parsed again")
  func builder() {
    let long = BluetoothUUID(high: 0x6E40_0001_B5A3_F393, low: 0xE0A9_E50E_24DC_CA9E)
    let middle = BluetoothUUID(UInt32(0x1234_5678))
    var builder = AdvertisingDataBuilder(capacity: 251)
    let fitted = [
      builder.appendFlags(),
      builder.appendLocalName("Sensor"),
      builder.appendTxPowerLevel(-20),
      builder.appendServices([long, 0x180D, middle]),
      builder.appendSolicitedServices([0x1805, long, middle]),
      builder.appendServiceData(0x180F, [100]),
      builder.appendServiceData(middle, [1]),
      builder.appendServiceData(long, []),
      builder.appendManufacturerData(company: 0x0059, [1, 2]),
    ]
    #expect(fitted == Array(repeating: true, count: 9))
    let fields = AdvertisingFields(builder.data)
    #expect(fields.flags == 6)
    #expect(fields.localName == "Sensor")
    #expect(fields.txPowerLevel == -20)
    #expect(fields.services == [0x180D, middle, long])
    #expect(fields.solicitedServices == [0x1805, middle, long])
    #expect(fields.serviceData.map(\.service) == [0x180F, middle, long])
    #expect(fields.serviceData.map(\.data) == [[100], [1], []])
    #expect(fields.manufacturerData == [0x59, 0x00, 1, 2])
  }

  @Test("A structure that does not fit leaves the data unchanged")
  func noRoom() {
    var builder = AdvertisingDataBuilder()
    let fitted = [
      builder.append(.manufacturerData, [UInt8](repeating: 0, count: 27)), builder.appendTxPowerLevel(0),
      builder.appendServices([0x180D]), builder.appendLocalName("A"),
    ]
    #expect(fitted == [true, false, false, false])
    #expect(builder.octets.count == 29)
    let last = [builder.append(.appearance, []), builder.append(.appearance, [])]
    #expect(last == [true, false])
    #expect(builder.octets.count == 31)
  }
}
