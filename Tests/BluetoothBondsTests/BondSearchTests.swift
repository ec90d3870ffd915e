import BluetoothBonds
import BluetoothWire
import Testing

@testable import BluetoothDaemon

/// The search for the device that a user's input denotes.
struct BondSearchTests {
  private static let one = DeviceAddress(0xC0_00_00_00_00_01, .random)
  private static let other = DeviceAddress(0xC0_00_00_00_00_02, .random)

  private func record(_ address: DeviceAddress, _ identifier: UInt64, name: String?) -> BondRecord {
    var record = Bonds.simple(address, name: name)
    record.identifier = PeerIdentifier(high: identifier, low: 1)
    return record
  }

  @Test("A device is found by its identifier, its address or its name; hexadecimal digits may be lowercase")
  func ways() {
    let records = [record(Self.one, 0xAB, name: "Strap"), record(Self.other, 2, name: nil)]
    for text in ["Strap", "C0:00:00:00:00:01", "c0:00:00:00:00:01", records[0].identifier.digits.lowercased()] {
      #expect(records.named(text) == [records[0]], "\(text)")
    }
    #expect(records.named("strap").isEmpty && records.named("").isEmpty)
  }

  @Test("A name that looks like another device's address or identifier does not hide that device")
  func disguised() {
    let honest = record(Self.one, 1, name: "Strap")
    let address = record(Self.other, 2, name: "C0:00:00:00:00:01")
    let identifier = record(Self.other, 3, name: honest.identifier.digits)
    #expect([address, honest].named("C0:00:00:00:00:01") == [honest])
    #expect([identifier, honest].named(honest.identifier.digits) == [honest])
    // Without that device the text is an ordinary name.
    #expect([address].named("C0:00:00:00:00:01") == [address])
  }

  @Test("Devices with the same name are all found")
  func namesakes() {
    let records = [record(Self.one, 1, name: "Strap"), record(Self.other, 2, name: "Strap")]
    #expect(records.named("Strap") == records)
  }
}
