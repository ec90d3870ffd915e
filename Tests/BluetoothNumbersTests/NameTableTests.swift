import BluetoothNumbers
import TestVectors
import Testing

@Suite struct NameTableTests {
  @Test(
    "The table gives a company's name for its code",
    arguments: [
      (0x0000, "Ericsson AB"), (0x0001, "Nokia Mobile Phones"), (0x004C, "Apple, Inc."),
      (0x0380, "LLC \"MEGA-F service\""), (0x10AE, "Raycon Inc."),
    ] as [(UInt16, String)])
  func companies(code: UInt16, name: String) {
    #expect(AssignedNumbers.companyName(code) == name)
  }

  @Test("Names at the boundaries between text blocks are found", arguments: [49, 50, 398, 400, 4249, 4250] as [UInt16])
  func blocks(code: UInt16) {
    #expect(AssignedNumbers.companyName(code)?.isEmpty == false)
  }

  @Test("The table knows every company of the advertising vectors; 0xFFFF is unassigned")
  func companyVectors() throws {
    let rows = try #require(try TestVectors.load("advertising")["company_examples"] as? [[String: Any]])
    #expect(rows.count == 9)
    for row in rows {
      let code = UInt16(try #require(row["code"] as? Int))
      #expect(AssignedNumbers.companyName(code) == (code == 0xFFFF ? nil : row["name"] as? String))
    }
  }

  @Test("4,008 company codes have names, without surrounding blanks, and other codes have none")
  func allCompanies() {
    let names = (0...0x1FFF).compactMap(AssignedNumbers.companyName)
    #expect(names.count == 4008)
    #expect(names.allSatisfy { !$0.isEmpty && $0.first != " " && $0.last != " " && !$0.contains("\n") })
    #expect(AssignedNumbers.companyName(0x0066) == nil)
    #expect(AssignedNumbers.companyName(0x10AF) == nil)
    #expect(AssignedNumbers.companyName(0xFFFF) == nil)
  }

  @Test("A unit has a name, and its symbol follows a number")
  func units() {
    #expect(BluetoothUnit.degreeCelsius.name == "Celsius temperature (degree Celsius)")
    #expect(BluetoothUnit.degreeCelsius.text("36.6") == "36.6 °C")
    #expect(BluetoothUnit.unitless.text("5") == "5")
    #expect(BluetoothUnit(rawValue: 0x27C0).text("2") == "2 lux hour")
    #expect(BluetoothUnit(rawValue: 0x27C9).name == "gravity (gₙ)")
    #expect(BluetoothUnit(rawValue: 0x26FF).name == nil)
    #expect(BluetoothUnit(rawValue: 0x26FF).description == "unit 0x26FF")
    #expect(AssignedNumbers.name(of: 0x2724) == "pressure (pascal)")
    let units = (UInt16(0x2700)...0x27FF).map(BluetoothUnit.init(rawValue:)).filter { $0.name != nil }
    #expect(units.count == 127)
  }

  @Test("An appearance has the name of its category and of its subcategory")
  func appearances() {
    #expect(Appearance(rawValue: 0x0341).name == "Heart Rate Sensor: Heart Rate Belt")
    #expect(Appearance(rawValue: 0x0340).name == "Heart Rate Sensor")
    #expect(Appearance(rawValue: 0x037F).name == "Heart Rate Sensor")
    #expect(Appearance(rawValue: 0x0000).name == "Unknown")
    #expect(Appearance(rawValue: 0xFFC0).name == nil)
    #expect(Appearance(rawValue: 0xFFC0).description == "0xFFC0")
  }

  @Test("Each UUID has one type of value, and each type has the name of its characteristic or descriptor")
  func types() {
    let uuids = CharacteristicValues.types.map { $0.uuid }
    #expect(Set(uuids).count == uuids.count)
    #expect(uuids.count >= 110)
    #expect(uuids.allSatisfy { AssignedNumbers.name(of: $0) != nil })
    #expect(CharacteristicValues.type(of: 0x2A37) == HeartRateMeasurement.self)
    #expect(CharacteristicValues.type(of: 0x2A02) == nil)
  }
}
