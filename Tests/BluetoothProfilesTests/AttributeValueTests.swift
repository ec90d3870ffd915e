import BluetoothProfiles
import Testing

private enum Mode: UInt16, AttributeValue {
  case off = 0
  case fast = 0x0102
}

@Suite struct AttributeValueTests {
  @Test("An enum with an integer as raw value is encoded as that integer, and other integers are out of range")
  func rawValues() throws {
    #expect(Mode.fast.octets == [0x02, 0x01])
    #expect(try Mode([0x00, 0x00]) == .off)
    #expect(throws: ValueError.outOfRange(field: "Mode")) { try Mode([0x01, 0x00]) }
    #expect(throws: ValueError.tooShort) { try Mode([0x00]) }
    #expect(throws: ValueError.tooLong) { try Mode([0x00, 0x00, 0x00]) }
  }

  @Test("A clamped number is the nearest one in the range")
  func clamping() {
    #expect([-1, 0, 55, 100, 101].map { BatteryLevel(clamping: $0).rawValue } == [0, 0, 55, 100, 100])
    #expect([-128, -100, 4, 127].map { TxPowerLevel(clamping: $0).level } == [-100, -100, 4, 20])
  }
}
