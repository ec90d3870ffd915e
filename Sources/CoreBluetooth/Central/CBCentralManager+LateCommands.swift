// For CoreBluetoothExtras. Its calls come from any thread: it checks the state before each call, and the state may change
// before the call.
extension CBCentralManager {
  /// Drops commands to this manager and its peripherals that come too late for their state, without a report of misuse.
  package func dropLateCommandsSilently() { core.dropLateCommandsSilently() }
}
