import BluetoothTypes
import Testing

@Suite("AD structures")
struct ADStructureTests {
  @Test("A structure has its length, its type and its data")
  func octets() {
    #expect(ADStructure.flags().octets == [0x02, 0x01, 0x06])
    #expect(ADStructure.name("Fob").octets == [0x04, 0x09, 0x46, 0x6F, 0x62])
    #expect(ADStructure.transmitPower(-8).octets == [0x02, 0x0A, 0xF8])
    #expect(ADStructure.appearance(0x0341).octets == [0x03, 0x19, 0x41, 0x03])
    #expect(ADStructure.manufacturerData(company: 0x004C, [0x02]).octets == [0x04, 0xFF, 0x4C, 0x00, 0x02])
  }

  @Test("Service UUIDs are listed by their widths, in their shortest forms")
  func serviceLists() {
    let lists = ADStructure.serviceLists([
      "6F0D2A10-7C56-4D1F-9E0F-31B7A5F0C001", 0x180D, "0000180F", "12345678",
    ])
    #expect(lists.map(\.type) == [.completeServices16, .completeServices32, .completeServices128])
    #expect(lists[0].data == [0x0D, 0x18, 0x0F, 0x18])
    #expect(lists[1].data == [0x78, 0x56, 0x34, 0x12])
    #expect(lists[2].data.prefix(2) == [0x01, 0xC0] && lists[2].data.suffix(2) == [0x0D, 0x6F])
  }

  @Test("A list of service UUIDs has the width that all of them have")
  func services() {
    #expect(ADStructure.services([0x180D, 0x180F]).octets == [0x05, 0x03, 0x0D, 0x18, 0x0F, 0x18])
    #expect(ADStructure.services([0x180D, "12345678"]).octets == [9, 5, 0x0D, 0x18, 0, 0, 0x78, 0x56, 0x34, 0x12])
    let long = ADStructure.services([0x180D, "6F0D2A10-7C56-4D1F-9E0F-31B7A5F0C001"])
    #expect(long.type == .completeServices128)
    #expect(
      long.data.prefix(16).map { $0 } == [0xFB, 0x34, 0x9B, 0x5F, 0x80, 0, 0, 0x80, 0, 0x10, 0, 0, 0x0D, 0x18, 0, 0])
    #expect(long.data.suffix(2) == [0x0D, 0x6F])
    #expect(ADStructure.services([]).octets == [0x01, 0x03])
  }

  @Test("Service Data begins with the UUID in its shortest form")
  func serviceData() {
    #expect(ADStructure.serviceData(of: "0000181A", [0x34]).octets == [0x04, 0x16, 0x1A, 0x18, 0x34])
    #expect(ADStructure.serviceData(of: "12345678", []).type == .serviceData32)
  }
}
