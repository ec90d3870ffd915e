extension HCI {
  /// The events that the host has enabled · Vol 4, Part E, 7.3.1. Only the events that LE uses have names.
  package struct EventMask: OptionSet, Hashable, Sendable {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }
    package static let disconnectionComplete = EventMask(rawValue: 1 << 4)
    package static let encryptionChange = EventMask(rawValue: 1 << 7)
    package static let readRemoteVersionInformationComplete = EventMask(rawValue: 1 << 11)
    package static let hardwareError = EventMask(rawValue: 1 << 15)
    package static let dataBufferOverflow = EventMask(rawValue: 1 << 25)
    package static let encryptionKeyRefreshComplete = EventMask(rawValue: 1 << 47)
    package static let leMeta = EventMask(rawValue: 1 << 61)
    /// The default after a reset: all bits up to bit 44, so that LE Meta events are disabled.
    package static let initial = EventMask(rawValue: 0x0000_1FFF_FFFF_FFFF)
  }

  /// The second page of the event mask · 7.3.69.
  package struct EventMaskPage2: OptionSet, Hashable, Sendable {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }
    package static let numberOfCompletedDataBlocks = EventMaskPage2(rawValue: 1 << 8)
    package static let authenticatedPayloadTimeoutExpired = EventMaskPage2(rawValue: 1 << 23)
    package static let encryptionChangeV2 = EventMaskPage2(rawValue: 1 << 25)
  }

  /// The LE Meta events that the host has enabled: bit n stands for subevent n + 1 · 7.8.1.
  package struct LEEventMask: OptionSet, Hashable, Sendable {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }
    /// Creates the mask with the bit of one LE Meta event.
    package init(_ event: EventKind) { rawValue = 1 &<< UInt64((event.rawValue & 0xFF) &- 1) }
    package static let longTermKeyRequest = LEEventMask(0x3E05)
    package static let remoteConnectionParameterRequest = LEEventMask(0x3E06)
    package static let enhancedConnectionComplete = LEEventMask(0x3E0A)
    /// The default after a reset.
    package static let initial = LEEventMask(rawValue: 0x1F)
  }

  /// The LE features of a controller in the format of HCI and LL_FEATURE_REQ · Vol 6, Part B, 4.6.
  package struct LEFeatures: OptionSet, Hashable, Sendable {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }
    package static let encryption = LEFeatures(rawValue: 1 << 0)
    package static let connectionParametersRequestProcedure = LEFeatures(rawValue: 1 << 1)
    package static let extendedRejectIndication = LEFeatures(rawValue: 1 << 2)
    package static let peripheralInitiatedFeaturesExchange = LEFeatures(rawValue: 1 << 3)
    package static let ping = LEFeatures(rawValue: 1 << 4)
    package static let dataPacketLengthExtension = LEFeatures(rawValue: 1 << 5)
    package static let llPrivacy = LEFeatures(rawValue: 1 << 6)
    package static let extendedScanningFilterPolicies = LEFeatures(rawValue: 1 << 7)
    package static let le2MPHY = LEFeatures(rawValue: 1 << 8)
    package static let stableModulationIndexTransmitter = LEFeatures(rawValue: 1 << 9)
    package static let stableModulationIndexReceiver = LEFeatures(rawValue: 1 << 10)
    package static let leCodedPHY = LEFeatures(rawValue: 1 << 11)
    package static let extendedAdvertising = LEFeatures(rawValue: 1 << 12)
    package static let periodicAdvertising = LEFeatures(rawValue: 1 << 13)
    package static let channelSelectionAlgorithm2 = LEFeatures(rawValue: 1 << 14)
    package static let powerClass1 = LEFeatures(rawValue: 1 << 15)
    package static let minimumNumberOfUsedChannels = LEFeatures(rawValue: 1 << 16)
    package static let periodicAdvertisingSyncTransferSender = LEFeatures(rawValue: 1 << 24)
    package static let periodicAdvertisingSyncTransferRecipient = LEFeatures(rawValue: 1 << 25)
    package static let sleepClockAccuracyUpdates = LEFeatures(rawValue: 1 << 26)
    package static let remotePublicKeyValidation = LEFeatures(rawValue: 1 << 27)
    package static let periodicAdvertisingADI = LEFeatures(rawValue: 1 << 36)
    package static let channelClassification = LEFeatures(rawValue: 1 << 39)
    package static let advertisingCodingSelection = LEFeatures(rawValue: 1 << 40)
    /// Set by the host with LE Set Host Feature · Vol 4, Part E, 7.8.115.
    package static let advertisingCodingSelectionHostSupport = LEFeatures(rawValue: 1 << 41)
  }

  /// The LMP features, page 0 · Vol 2, Part C, 3.3. An LE-only controller reports with them that it supports LE and
  /// not BR/EDR.
  package struct LMPFeatures: OptionSet, Hashable, Sendable {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }
    package static let bredrNotSupported = LMPFeatures(rawValue: 1 << 37)
    package static let leSupported = LMPFeatures(rawValue: 1 << 38)
    // swift-format-ignore: DontRepeatTypeInStaticProperties
    package static let extendedFeatures = LMPFeatures(rawValue: 1 << 63)
  }

  /// A set of PHYs · 7.8.48.
  package struct PHYs: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }
    package static let le1M = PHYs(rawValue: 1 << 0)
    package static let le2M = PHYs(rawValue: 1 << 1)
    package static let leCoded = PHYs(rawValue: 1 << 2)
  }
}
