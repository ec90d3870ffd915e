import BluetoothWire

/// A controller that a host can use: the place in the world that the next host gets, or a host has.
package struct ControllerSlot: Sendable {
  package let name: String
  package let address: DeviceAddress
  /// True if a host uses it.
  package let isTaken: Bool
}
