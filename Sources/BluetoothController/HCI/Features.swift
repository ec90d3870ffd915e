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

extension Controller {
  /// The features that this controller reports by LE Read Local Supported Features.
  var features: HCI.LEFeatures {
    mutating get { HCI.LEFeatures(rawValue: configuration.features.rawValue | host.features.rawValue) }
  }

  /// Executes LE Set Host Feature · Vol 4, Part E, 7.8.115.
  mutating func setHostFeature(_ bit: UInt8, _ value: Bool) -> HCI.ErrorCode {
    guard bit < 64, case let feature = HCI.LEFeatures(rawValue: 1 << bit), HCI.LEFeatures.ofHost.contains(feature)
    else { return .unsupportedFeatureOrParameterValue }
    guard connections.isEmpty else { return .commandDisallowed }
    if value { host.features.insert(feature) } else { host.features.remove(feature) }
    return .success
  }
}
