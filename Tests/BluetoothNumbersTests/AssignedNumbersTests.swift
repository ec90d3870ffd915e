import BluetoothNumbers
import Requirements
import Testing

@Suite struct AssignedNumbersTests {
  @Test(
    "Well-known UUIDs have the SIG's names", .requirement("A009"),
    arguments: [
      (0x180D, "Heart Rate"), (0x180F, "Battery"), (0x2A37, "Heart Rate Measurement"), (0x2A19, "Battery Level"),
      (0x2B8C, "CO₂ Concentration"), (0x2901, "Characteristic User Description"), (0x2800, "Primary Service"),
      (0xFEAA, "Eddystone"), (0x2C38, "Voice Assistant Supported Features"),
    ] as [(UInt16, String)])
  func names(uuid: UInt16, name: String) {
    #expect(AssignedNumbers.name(of: uuid) == name)
  }

  @Test(
    "An unassigned UUID has no name", arguments: [0x0000, 0x180B, 0x2A2D, 0x33FF, 0x2999, 0xFFFF] as [UInt16])
  func unknown(uuid: UInt16) {
    #expect(AssignedNumbers.name(of: uuid) == nil)
  }

  @Test("A name belongs to one kind of attribute only")
  func kinds() {
    #expect(AssignedNumbers.serviceName(0x180D) == "Heart Rate")
    #expect(AssignedNumbers.characteristicName(0x180D) == nil)
    #expect(AssignedNumbers.descriptorName(0x2A37) == nil)
    #expect(AssignedNumbers.declarationName(0x2901) == nil)
  }

  @Test("No name is empty or has blanks around it")
  func wellFormed() {
    let names = (UInt16.min...UInt16.max).compactMap(AssignedNumbers.name(of:))
    #expect(names.count > 600)
    #expect(names.allSatisfy { !$0.isEmpty && $0.first != " " && $0.last != " " })
  }
}
