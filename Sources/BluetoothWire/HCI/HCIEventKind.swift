extension HCI {
  /// The events with a case in `Event`. The raw value is the event code in the upper octet, and in the lower one the
  /// subevent code, which only LE Meta events have · Vol 4, Part E, 7.7.
  package enum EventKind: UInt16, CaseIterable, Hashable, Sendable {
    case disconnectionComplete = 0x0500
    case encryptionChange = 0x0800
    case readRemoteVersionInformationComplete = 0x0C00
    case commandComplete = 0x0E00
    case commandStatus = 0x0F00
    case hardwareError = 0x1000
    case numberOfCompletedPackets = 0x1300
    case dataBufferOverflow = 0x1A00
    case encryptionKeyRefreshComplete = 0x3000
    case authenticatedPayloadTimeoutExpired = 0x5700
    case encryptionChangeV2 = 0x5900

    // LE Meta
    case leConnectionComplete = 0x3E01
    case leAdvertisingReport = 0x3E02
    case leConnectionUpdateComplete = 0x3E03
    case leReadRemoteFeaturesComplete = 0x3E04
    case leLongTermKeyRequest = 0x3E05
    case leRemoteConnectionParameterRequest = 0x3E06
    case leDataLengthChange = 0x3E07
    case leReadLocalP256PublicKeyComplete = 0x3E08
    case leGenerateDHKeyComplete = 0x3E09
    case leEnhancedConnectionComplete = 0x3E0A
    case leDirectedAdvertisingReport = 0x3E0B
    case lePHYUpdateComplete = 0x3E0C
    case leExtendedAdvertisingReport = 0x3E0D
    case lePeriodicAdvertisingSyncEstablished = 0x3E0E
    case lePeriodicAdvertisingReport = 0x3E0F
    case lePeriodicAdvertisingSyncLost = 0x3E10
    case leScanTimeout = 0x3E11
    case leAdvertisingSetTerminated = 0x3E12
    case leScanRequestReceived = 0x3E13
    case leChannelSelectionAlgorithm = 0x3E14
    case lePeriodicAdvertisingSyncTransferReceived = 0x3E18
    case leRequestPeerSCAComplete = 0x3E1F
  }

  /// The event codes that are handled apart from the events.
  package enum EventCode {
    package static let commandComplete = EventKind.commandComplete.code
    package static let commandStatus = EventKind.commandStatus.code
    package static let leMeta: UInt8 = 0x3E
  }

  /// The facts about an event that do not depend on its parameters.
  package struct EventDefinition: Sendable {
    /// The bit that masks the event; nil: the host can't mask it.
    package let mask: EventMaskBit?
    /// The features of which a controller needs one to send the event; empty: every controller can send it.
    let anyFeature: LEFeatures
    /// The position of the keys in the parameters, which begin with the subevent code in an LE Meta event; nil: they
    /// hold none.
    package let keys: Range<Int>?

    init(_ mask: EventMaskBit?, features: LEFeatures = [], keys: Range<Int>? = nil) {
      self.mask = mask
      anyFeature = features
      self.keys = keys
    }

    /// Returns true if a controller with these features can send the event.
    package func isPossible(with features: LEFeatures) -> Bool {
      anyFeature.isEmpty || !anyFeature.isDisjoint(with: features)
    }
  }

  /// A bit of one of the three event masks.
  package enum EventMaskBit: Hashable, Sendable {
    /// Set Event Mask · 7.3.1.
    case page1(EventMask)
    /// Set Event Mask Page 2 · 7.3.69.
    case page2(EventMaskPage2)
    /// LE Set Event Mask · 7.8.1.
    case le(LEEventMask)
  }
}

extension HCI.EventKind {
  /// The event code; LE Meta for all cases that begin with `le`.
  package var code: UInt8 { UInt8(truncatingIfNeeded: rawValue >> 8) }

  /// The subevent code; nil: the event is not an LE Meta event.
  var subevent: UInt8? { rawValue & 0xFF == 0 ? nil : UInt8(truncatingIfNeeded: rawValue) }

  /// The event of a packet; nil: it has no case in this type.
  init?(code: UInt8, parameters: ByteSlice) {
    guard code == HCI.EventCode.leMeta else {
      self.init(rawValue: UInt16(code) << 8)
      return
    }
    guard !parameters.isEmpty else { return nil }
    self.init(rawValue: UInt16(code) << 8 | UInt16(parameters[0]))
  }

  private var leMask: HCI.EventMaskBit { .le(HCI.LEEventMask(self)) }

  /// The facts about the event · Vol 4, Part E, 7.7; 3, table 3.1.
  package var definition: HCI.EventDefinition {
    switch self {
    case .disconnectionComplete: .init(.page1(.disconnectionComplete))
    case .encryptionChange: .init(.page1(.encryptionChange), features: .encryption)
    case .readRemoteVersionInformationComplete: .init(.page1(.readRemoteVersionInformationComplete))
    case .commandComplete, .commandStatus, .numberOfCompletedPackets: .init(nil)
    case .hardwareError: .init(.page1(.hardwareError))
    case .dataBufferOverflow: .init(.page1(.dataBufferOverflow))
    case .encryptionKeyRefreshComplete: .init(.page1(.encryptionKeyRefreshComplete), features: .encryption)
    case .authenticatedPayloadTimeoutExpired: .init(.page2(.authenticatedPayloadTimeoutExpired), features: .ping)
    case .encryptionChangeV2: .init(.page2(.encryptionChangeV2), features: .encryption)
    // The default event mask enables the first five, regardless of the features; the sixth depends on the version.
    case .leConnectionComplete, .leAdvertisingReport, .leConnectionUpdateComplete, .leReadRemoteFeaturesComplete,
      .leLongTermKeyRequest, .leReadLocalP256PublicKeyComplete:
      .init(leMask)
    case .leRemoteConnectionParameterRequest: .init(leMask, features: .connectionParametersRequestProcedure)
    case .leDataLengthChange: .init(leMask, features: .dataPacketLengthExtension)
    // Subevent and status precede DHKey · 7.7.65.9.
    case .leGenerateDHKeyComplete: .init(leMask, keys: 2..<34)
    case .leEnhancedConnectionComplete: .init(leMask, features: [.llPrivacy, .extendedAdvertising])
    case .leDirectedAdvertisingReport: .init(leMask, features: .extendedScanningFilterPolicies)
    case .lePHYUpdateComplete: .init(leMask, features: [.le2MPHY, .leCodedPHY])
    case .leExtendedAdvertisingReport: .init(leMask, features: .extendedAdvertising)
    case .lePeriodicAdvertisingSyncEstablished: .init(leMask, features: .periodicAdvertising)
    case .lePeriodicAdvertisingReport: .init(leMask, features: .periodicAdvertising)
    case .lePeriodicAdvertisingSyncLost: .init(leMask, features: .periodicAdvertising)
    case .leScanTimeout: .init(leMask, features: .extendedAdvertising)
    case .leAdvertisingSetTerminated: .init(leMask, features: .extendedAdvertising)
    case .leScanRequestReceived: .init(leMask, features: .extendedAdvertising)
    case .leChannelSelectionAlgorithm: .init(leMask, features: .channelSelectionAlgorithm2)
    case .lePeriodicAdvertisingSyncTransferReceived:
      .init(leMask, features: .periodicAdvertisingSyncTransferRecipient)
    case .leRequestPeerSCAComplete: .init(leMask, features: .sleepClockAccuracyUpdates)
    }
  }
}
