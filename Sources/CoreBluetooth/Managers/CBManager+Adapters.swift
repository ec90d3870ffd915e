import BluetoothAdapters

extension CBManager {
  /// The adapters that are known without trying, for CoreBluetoothExtras.
  package static var knownAdapters: [any AdapterSpecifier] { AdapterSelection.known }
}
