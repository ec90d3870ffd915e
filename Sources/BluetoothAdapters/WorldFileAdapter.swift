import BluetoothDaemon
import BluetoothTransport

/// The adapter of a program whose environment names a world file: a device of that world. The scheme is in
/// `CoreBluetoothWorld`, which registers it when a program that contains it starts.
package enum WorldFileAdapter {
  /// The environment variable with the path of the world file.
  package static let environmentVariable = "COREBLUETOOTH_WORLD"
  /// The name of the scheme.
  package static let scheme = "world"

  /// Returns this program's device in the world of a file. All managers of the program share it.
  package static func adapter(forFile path: String) -> Result<any DaemonAdapter, AdapterError> {
    guard AdapterRegistry.schemes.contains(where: { $0.name == scheme }) else {
      let advice = "add the product CoreBluetoothWorld to its dependencies, or run \"ble air --world \(path)\" and name"
      return .failure(
        AdapterError(
          description: "this program can't read world files: \(advice) its address in"
            + " \(AdapterRegistry.environmentVariable)"))
    }
    return AdapterRegistry.adapter(for: "\(scheme):\(path)")
  }
}
