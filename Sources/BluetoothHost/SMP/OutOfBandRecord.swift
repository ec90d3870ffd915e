import BluetoothWire

/// The out-of-band data that a device gives away for pairing, such as on an NFC tag, a label or a screen · Core
/// Specification Supplement, Part A, 1.16, 1.6.
package struct OutOfBandRecord: Hashable, Sendable {
  /// The address that the device will use for pairing.
  package let address: DeviceAddress
  /// The LE Secure Connections Random Value and Confirmation Value.
  package let data: OutOfBand.Peer
}

extension OutOfBandRecord: CustomStringConvertible, CustomReflectable {
  /// A description without the data.
  package var description: String { "OutOfBandRecord(\(address))" }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
