import BluetoothWire

/// How a host advertises on the legacy PDUs · Vol 4, Part E, 7.8.5.
package struct HostAdvertising: Hashable, Sendable {
  /// At most 31 octets.
  package var data: ByteSlice
  /// At most 31 octets.
  package var scanResponse: ByteSlice
  package var shape = Shape()

  /// All but what it says.
  package struct Shape: Hashable, Sendable {
    package var type = HCI.AdvertisingType.connectableScannableUndirected
    /// Whom directed kinds are for.
    package var target: DeviceAddress?
    /// Units of 0.625 ms, 0x0020 to 0x4000; nil: that of the host's configuration.
    package var interval: UInt16?
    /// Bits 0 to 2: channels 37 to 39.
    package var channelMap: UInt8 = 0b111
    /// dBm, −127 to 20; nil: that of the controller. Only extended commands can ask for one.
    package var transmitPower: Int8?
  }

  package init(data: ByteSlice, scanResponse: ByteSlice) {
    self.data = data
    self.scanResponse = scanResponse
  }
}
