import BluetoothHost
import BluetoothWire

/// One updated value waiting for transmission on one link.
struct OutstandingUpdate {
  /// The handle of the characteristic's value.
  let handle: AttributeHandle
  /// The call in `UpdateTable` that the value belongs to.
  let call: SlotKey
}
