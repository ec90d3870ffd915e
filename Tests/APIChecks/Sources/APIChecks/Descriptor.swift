import CoreBluetooth

// Compile-time checks for area "Descriptor". Each line names one symbol with its exact type.
func check_Descriptor() {
  // CBDescriptor
  let _: CBAttribute.Type = CBDescriptor.self
  // CBDescriptor.characteristic
  let _: KeyPath<CBDescriptor, CBCharacteristic?> = \CBDescriptor.characteristic
  // CBDescriptor.value
  let _: KeyPath<CBDescriptor, Any?> = \CBDescriptor.value
  // CBMutableDescriptor
  let _: CBDescriptor.Type = CBMutableDescriptor.self
  // CBMutableDescriptor.init(type:value:)
  let _: (CBUUID, Any?) -> CBMutableDescriptor = CBMutableDescriptor.init(type:value:)
}
