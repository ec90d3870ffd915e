import CoreBluetooth

// Compile-time checks for area "ATTRequest". Each line names one symbol with its exact type.
func check_ATTRequest() {
  // CBATTRequest
  let _: NSObject.Type = CBATTRequest.self
  // CBATTRequest.central
  let _: KeyPath<CBATTRequest, CBCentral> = \CBATTRequest.central
  // CBATTRequest.characteristic
  let _: KeyPath<CBATTRequest, CBCharacteristic> = \CBATTRequest.characteristic
  // CBATTRequest.offset
  let _: KeyPath<CBATTRequest, Int> = \CBATTRequest.offset
  // CBATTRequest.value
  let _: ReferenceWritableKeyPath<CBATTRequest, Data?> = \CBATTRequest.value
}
