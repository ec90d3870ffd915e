import BluetoothTypes
import Testing

@Suite("UUIDs")
struct BluetoothUUIDTests {
  @Test(
    "Text of 4, 8 or 36 characters gives a UUID, which has that text in upper case",
    arguments: ["180D", "0000180d", "12345678", "6F0D2A10-7C56-4D1F-9E0F-31B7A5F0C001"])
  func text(_ text: String) throws {
    let uuid = try #require(BluetoothUUID(text))
    #expect(uuid.description == text.uppercased())
  }

  @Test(
    "Other text gives no UUID",
    arguments: [
      "", "180", "180D0", "18 D", "+80D", "180G", "１８０Ｄ", "6F0D2A107C564D1F9E0F31B7A5F0C001",
      "6F0D2A10-7C56-4D1F-9E0F-31B7A5F0C00", "6F0D2A107-C56-4D1F-9E0F-31B7A5F0C001",
      "6F0D2A10-7C56-4D1F-9E0F-31B7A5F0C-01",
    ])
  func otherText(_ text: String) {
    #expect(BluetoothUUID(text) == nil)
  }

  @Test("The forms of one UUID are equal, and have the same hash and the same short value")
  func forms() {
    let forms: [BluetoothUUID] = [0x180D, "180D", "0000180D", "0000180D-0000-1000-8000-00805F9B34FB"]
    #expect(Set(forms).count == 1)
    for form in forms { #expect(form.shortValue == 0x180D && form.value32 == 0x180D) }
    #expect(forms.map(\.width) == [.bits16, .bits16, .bits32, .bits128])
    #expect(forms.allSatisfy { $0.attributeForm.width == .bits16 })
  }

  @Test("A UUID of 32 bits without a short form has 128 bits in ATT")
  func longForm() {
    let uuid: BluetoothUUID = "12345678"
    #expect(uuid.shortValue == nil && uuid.value32 == 0x1234_5678)
    #expect(uuid.attributeForm.description == "12345678-0000-1000-8000-00805F9B34FB")
  }

  @Test("A malformed literal stops the program")
  func malformedLiteral() async {
    await #expect(processExitsWith: .failure) {
      let uuid: BluetoothUUID = "180"
      print(uuid)
    }
  }
}
