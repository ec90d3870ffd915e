import CoreBluetooth

// Compile-time checks for area "Delegates". Each line names one symbol with its exact type.
func check_Delegates() {
  // CBCentralManagerDelegate
  let _: (any CBCentralManagerDelegate)? = nil
  // CBPeripheralDelegate
  let _: (any CBPeripheralDelegate)? = nil
  // CBPeripheralManagerDelegate
  let _: (any CBPeripheralManagerDelegate)? = nil
}
