import BluetoothAdapters

extension CBManager {
  /// The adapters that are known without trying, for CoreBluetoothExtras.
  package static var knownAdapters: [AdapterDescription] { AdapterSelection.known }
}
