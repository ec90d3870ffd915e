import CoreBluetooth

// Compile-time checks for area "Central". Each line names one symbol with its exact type.
func check_Central() {
  // CBCentral
  let _: CBPeer.Type = CBCentral.self
  // CBCentral.maximumUpdateValueLength
  let _: KeyPath<CBCentral, Int> = \CBCentral.maximumUpdateValueLength
}
