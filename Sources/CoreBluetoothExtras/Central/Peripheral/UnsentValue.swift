import CoreBluetooth

/// A value that waits for room to be sent without response.
struct UnsentValue {
  let operation: PendingOperation<Void>
  let characteristic: CBCharacteristic
  let value: Data
}
