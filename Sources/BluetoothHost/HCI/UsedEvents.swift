import BluetoothWire

extension HCI.EventDefinition {
  /// True for the events that the host enables: all that it does not ignore.
  var isUsedByHost: Bool { !Self.ignored.contains(kind) }

  /// The events that the host ignores or does without.
  private static let ignored = Set(
    [
      HCI.events.encryptionChangeV2, HCI.events.authenticatedPayloadTimeoutExpired,
      HCI.events.leReadLocalP256PublicKeyComplete, HCI.events.leGenerateDHKeyComplete,
      HCI.events.leDirectedAdvertisingReport, HCI.events.leScanTimeout, HCI.events.leScanRequestReceived,
      HCI.events.lePeriodicAdvertisingSyncTransferReceived, HCI.events.leRequestPeerSCAComplete,
    ].map(\.number))
}
