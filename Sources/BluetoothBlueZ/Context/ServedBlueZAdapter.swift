import BluetoothDaemon
import BluetoothTypes

/// An adapter for the service.
package struct ServedBlueZAdapter: Sendable {
  package let adapter: any DaemonAdapter
  /// The prompts that the adapter was made with; nil: the service answers no questions.
  package let prompts: BlueZPrompts?
  /// The address that `Adapter1` shows.
  package let address: DeviceAddress
  /// The name that `Adapter1` shows.
  package let name: String

  package init(adapter: any DaemonAdapter, prompts: BlueZPrompts?, address: DeviceAddress, name: String) {
    self.adapter = adapter
    self.prompts = prompts
    self.address = address
    self.name = name
  }
}
