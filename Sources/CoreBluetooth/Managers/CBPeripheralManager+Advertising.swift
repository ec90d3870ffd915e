import BluetoothHost

extension CBPeripheralManager {
  /// Starts advertising with these parameters and data, for CoreBluetoothExtras.
  /// `peripheralManagerDidStartAdvertising(_:error:)` reports the result.
  package func startAdvertising(_ advertising: HostAdvertising) {
    guard core.accepts(from: self) else { return }
    core.advertise(advertising)
  }
}
