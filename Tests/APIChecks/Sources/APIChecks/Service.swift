import CoreBluetooth

// Compile-time checks for area "Service". Each line names one symbol with its exact type.
func check_Service() {
  // CBAttribute
  let _: NSObject.Type = CBAttribute.self
  // CBAttribute.uuid
  let _: KeyPath<CBAttribute, CBUUID> = \CBAttribute.uuid
  // CBService
  let _: CBAttribute.Type = CBService.self
  // CBService.peripheral
  let _: KeyPath<CBService, CBPeripheral?> = \CBService.peripheral
  // CBService.isPrimary
  let _: KeyPath<CBService, Bool> = \CBService.isPrimary
  // CBService.includedServices
  let _: KeyPath<CBService, [CBService]?> = \CBService.includedServices
  // CBService.characteristics
  let _: KeyPath<CBService, [CBCharacteristic]?> = \CBService.characteristics
  // CBMutableService
  let _: CBService.Type = CBMutableService.self
  // CBMutableService.includedServices
  let _: ReferenceWritableKeyPath<CBMutableService, [CBService]?> = \CBMutableService.includedServices
  // CBMutableService.characteristics
  let _: ReferenceWritableKeyPath<CBMutableService, [CBCharacteristic]?> = \CBMutableService.characteristics
  // CBMutableService.init(type:primary:)
  let _: (CBUUID, Bool) -> CBMutableService = CBMutableService.init(type:primary:)
}
