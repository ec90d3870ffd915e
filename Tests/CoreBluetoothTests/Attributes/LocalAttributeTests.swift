import CoreBluetooth
import Requirements
import TestSupport
import Testing

@Suite struct LocalAttributeTests {
  @Test(
    "6.5 A descriptor that apps may not create stops the program", .symbol("CBMutableDescriptor.init(type:value:)"),
    arguments: ["2902", "2900", "2905"])
  func forbiddenDescriptors(uuid: String) async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [uuid] in
      _ = CBMutableDescriptor(type: CBUUID(string: uuid), value: Data([1, 0]))
    }
    #expect(result?.reason.contains("Descriptors with UUID \(uuid) are not supported") == true)
  }

  @Test("6.5 A presentation format that is not a Data stops the program")
  func wrongFormat() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = CBMutableDescriptor(type: CBUUID(string: CBUUIDCharacteristicFormatString), value: "text")
    }
    #expect(result?.reason.contains("Expecting NSData value type for Format descriptor") == true)
  }

  @Test("6.5 A user description without a text stops the program")
  func missingDescription() async {
    await #expect(processExitsWith: .failure) {
      _ = CBMutableDescriptor(type: CBUUID(string: CBUUIDCharacteristicUserDescriptionString), value: nil)
    }
  }

  @Test(
    "6.5 User descriptions and presentation formats can be created",
    .symbol("CBMutableDescriptor", "CBMutableDescriptor.init(type:value:)"))
  func allowedDescriptors() {
    #expect(CBMutableDescriptor(type: CBUUID(string: "2901"), value: "Level").value as? String == "Level")
    let format = Data([4, 0, 0xAD, 0x27, 1, 0, 0])
    #expect(CBMutableDescriptor(type: CBUUID(string: "2904"), value: format).value as? Data == format)
  }

  @Test(
    "6.7 Attributes refer to their owners, and a local service has no peripheral", .requirement("A047"),
    .symbol("CBMutableService.characteristics"))
  func owners() {
    let service = CBMutableService(type: CBUUID(string: "180D"), primary: true)
    let characteristic = CBMutableCharacteristic(
      type: CBUUID(string: "2A37"), properties: .notify, value: nil, permissions: .readable)
    let descriptor = CBMutableDescriptor(type: CBUUID(string: "2901"), value: "x")
    characteristic.descriptors = [descriptor]
    service.characteristics = [characteristic]
    #expect(characteristic.service === service)
    #expect(descriptor.characteristic === characteristic)
    #expect(service.peripheral == nil)
  }

  @Test(
    "Key-value coding returns an attribute's properties, and nil for unknown keys",
    .symbol("CBAttribute", "CBAttribute.uuid"))
  func keyValueCoding() {
    let log = LogRecorder()
    let characteristic = CBMutableCharacteristic(
      type: CBUUID(string: "2A37"), properties: .read, value: Data([1]), permissions: .readable)
    #expect(characteristic.value(forKey: "uuid") as? CBUUID == CBUUID(string: "2A37"))
    #expect(characteristic.value(forKey: "value") as? Data == Data([1]))
    #expect(characteristic.value(forKey: "nothing like it 17") == nil)
    #expect(log.lines(containing: "nothing like it 17").count == 1)
  }
}
