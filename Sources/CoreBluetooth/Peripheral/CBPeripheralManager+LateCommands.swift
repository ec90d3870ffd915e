// For CoreBluetoothExtras. Its calls come from any thread: it checks the state before each call, and the state may change
// before the call.
extension CBPeripheralManager {
  /// Drops commands that come too late for the state of this manager, without a report of misuse.
  package func dropLateCommandsSilently() { core.dropLateCommandsSilently() }
}
