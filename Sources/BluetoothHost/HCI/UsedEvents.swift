import BluetoothWire

extension HCI.EventKind {
  /// True for the events that the host enables. It ignores all others.
  var isUsedByHost: Bool {
    switch self {
    case .commandComplete, .commandStatus, .numberOfCompletedPackets, .disconnectionComplete,
      .readRemoteVersionInformationComplete, .hardwareError, .dataBufferOverflow, .encryptionChange,
      .encryptionKeyRefreshComplete, .leConnectionComplete, .leAdvertisingReport, .leConnectionUpdateComplete,
      .leReadRemoteFeaturesComplete, .leLongTermKeyRequest, .leRemoteConnectionParameterRequest, .leDataLengthChange,
      .lePHYUpdateComplete, .leEnhancedConnectionComplete, .leExtendedAdvertisingReport, .leAdvertisingSetTerminated,
      .lePeriodicAdvertisingSyncEstablished, .lePeriodicAdvertisingReport, .lePeriodicAdvertisingSyncLost:
      true
    // This event shows that a link exists even if LE Connection Complete was lost.
    case .leChannelSelectionAlgorithm: true
    case .encryptionChangeV2, .authenticatedPayloadTimeoutExpired, .leReadLocalP256PublicKeyComplete,
      .leGenerateDHKeyComplete, .leDirectedAdvertisingReport, .leScanTimeout, .leScanRequestReceived,
      .lePeriodicAdvertisingSyncTransferReceived, .leRequestPeerSCAComplete:
      false
    }
  }
}
