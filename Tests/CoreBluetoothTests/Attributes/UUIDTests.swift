import CoreBluetooth
import Requirements
import Testing

@Suite struct UUIDTests {
  @Test(
    "8 The short and the long form of one UUID are equal and have the same hash", .requirement("L011"),
    .symbol("CBUUID"))
  func equality() {
    let short = CBUUID(string: "180d")
    let long = CBUUID(string: "0000180D-0000-1000-8000-00805F9B34FB")
    #expect(short == long)
    #expect(short.hash == long.hash)
    #expect(Set([short]).contains(long))
    #expect(CBUUID(string: "12345678") == CBUUID(string: "12345678-0000-1000-8000-00805F9B34FB"))
    #expect(CBUUID(string: "1234") == CBUUID(data: Data([0x12, 0x34])))
    #expect(CBUUID(string: "1234") != CBUUID(string: "12345678"))
  }

  @Test(
    "8 A UUID keeps its original length, in uppercase with the most significant octet first",
    .requirement("A008", "A051", "K017"),
    .symbol("CBUUID.data", "CBUUID.uuidString", "CBUUID.init(string:)", "CBUUID.init(data:)", "CBUUID.init(nsuuid:)"))
  func forms() {
    #expect(CBUUID(string: "2a37").data == Data([0x2A, 0x37]))
    #expect(CBUUID(string: "2a37").uuidString == "2A37")
    #expect(CBUUID(data: Data([1, 2, 3, 4])).uuidString == "01020304")
    let long = "12345678-90AB-CDEF-CAFE-C80C20443D0B"
    #expect(CBUUID(string: long.lowercased()).uuidString == long)
    #expect(
      CBUUID(string: long).data.map { $0 } == [0x12, 0x34, 0x56, 0x78, 0x90, 0xAB, 0xCD, 0xEF] + [
        0xCA, 0xFE, 0xC8, 0x0C, 0x20, 0x44, 0x3D, 0x0B,
      ])
    #expect(CBUUID(nsuuid: UUID(uuidString: long)!).uuidString == long)
    // A slice of a Data does not start at index 0.
    #expect(CBUUID(data: Data([9, 9, 0x18, 0x0F]).dropFirst(2)).uuidString == "180F")
  }

  @Test("8 The uuidString of a descriptor's UUID equals the constant from which it was made", .requirement("G033"))
  func constants() {
    for constant in [
      CBUUIDCharacteristicExtendedPropertiesString, CBUUIDCharacteristicUserDescriptionString,
      CBUUIDClientCharacteristicConfigurationString, CBUUIDCharacteristicFormatString,
      CBUUIDCharacteristicAggregateFormatString, CBUUIDL2CAPPSMCharacteristicString,
    ] {
      #expect(CBUUID(string: constant).uuidString == constant)
    }
    #expect(CBUUID(data: Data([0x29, 0x01])).uuidString == CBUUIDCharacteristicUserDescriptionString)
  }

  @Test(
    "8 A string that is not a UUID stops the program with Apple's reason", .requirement("K017"),
    .symbol("CBUUID.init(string:)"))
  func wrongString() async {
    for text in [
      "180", "180G", "+80D", "1234567890ABCDEFCAFEC80C20443D0B", "", "12345678-90AB-CDEF-CAFE-C80C20443D0", "４３２１",
      "-000", "-0000000", "000-", "12345678-90AB-CDEF-CAFE-C80C20443D-B", "1234567-890AB-CDEF-CAFE-C80C20443D0B",
      "12345678-90AB-CDEF-CAFE-C80C20443DGB", "12345678+90AB-CDEF-CAFE-C80C20443D0B",
    ] {
      #expect(CBUUIDText.isValid(text) == false, "\(text)")
    }
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = CBUUID(string: "1234567890ABCDEFCAFEC80C20443D0B")
    }
    #expect(result?.reason.contains("String 1234567890ABCDEFCAFEC80C20443D0B does not represent a valid UUID") == true)
  }

  @Test("8 Data of a length other than 2, 4 or 16 octets stops the program", .symbol("CBUUID.init(data:)"))
  func wrongData() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = CBUUID(data: Data([1, 2, 3]))
    }
    #expect(result?.reason.contains("does not represent a valid UUID") == true)
  }

  @Test("8 The description of a well-known UUID is its name, that of any other is its uuidString")
  func description() {
    #expect(CBUUID(string: "180F").description == "Battery")
    #expect(CBUUID(string: "0000180F-0000-1000-8000-00805F9B34FB").description == "Battery")
    #expect(CBUUID(string: "FFF0").description == "FFF0")
    #expect(
      CBUUID(string: "12345678-90AB-CDEF-CAFE-C80C20443D0B").description == "12345678-90AB-CDEF-CAFE-C80C20443D0B")
  }

  @Test("Copying a UUID returns the same UUID")
  func copying() {
    let uuid = CBUUID(string: "180D")
    #expect(uuid.copy() as? CBUUID === uuid)
    #expect(CBUUID().uuidString == "00000000-0000-0000-0000-000000000000")
  }
}
