import BluetoothNumbers
import BluetoothProfiles
import Requirements
import Testing

@Suite struct NamedValueTests {
  @Test("A unit has a name, and its symbol follows a number", .requirement("L162"))
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
