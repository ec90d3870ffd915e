import BluetoothWire

extension HCI.LEFeatures {
  /// The features that this link layer implements. A feature is added here when its implementation is complete. A
  /// configuration may exclude some.
  static let claimed: HCI.LEFeatures = [
    .encryption,
    .connectionParametersRequestProcedure,
    .extendedRejectIndication,
    .peripheralInitiatedFeaturesExchange,
    .ping,
    .dataPacketLengthExtension,
    .llPrivacy,
    .extendedScanningFilterPolicies,
    .le2MPHY,
    .leCodedPHY,
    .extendedAdvertising,
    .periodicAdvertising,
    .channelSelectionAlgorithm2,
    .minimumNumberOfUsedChannels,
    .periodicAdvertisingSyncTransferSender,
    .periodicAdvertisingSyncTransferRecipient,
    .sleepClockAccuracyUpdates,
    .remotePublicKeyValidation,
    .periodicAdvertisingADI,
    .channelClassification,
    .advertisingCodingSelection,
  ]

  /// The features that are masked to the peer: their bits are zero on the air · Vol 6, Part B, 4.6.
  private static let maskedToPeer: HCI.LEFeatures = [
    .remotePublicKeyValidation, .periodicAdvertisingADI, .advertisingCodingSelection,
    .advertisingCodingSelectionHostSupport,
  ]

  /// FeatureSet of LL_FEATURE_REQ and LL_PERIPHERAL_FEATURE_REQ.
  var featureSet: UInt64 { subtracting(.maskedToPeer).rawValue }

  /// The features that the host sets · Vol 4, Part E, 7.8.115.
  static let ofHost: HCI.LEFeatures = [.advertisingCodingSelectionHostSupport]
}

extension HCI.LEFeatures {
  /// The PHYs that a controller with these features supports.
  var phys: HCI.PHYs {
    var result = HCI.PHYs.le1M
    if contains(.le2MPHY) { result.insert(.le2M) }
    if contains(.leCodedPHY) { result.insert(.leCoded) }
    return result
  }
}
