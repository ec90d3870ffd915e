import BluetoothWire

/// A device of the world whose controller serves an external host, now or in the future.
package struct ControllerSlot: Sendable {
  package let name: String
  package let address: DeviceAddress
  /// True if a host uses the controller.
  package let isTaken: Bool
}
