extension HCI {
  /// The kind of an event: the event code in the upper octet, and in the lower one the subevent code, which only LE Meta
  /// events have · Vol 4, Part E, 7.7.
  package struct EventKind: RawRepresentable, ExpressibleByIntegerLiteral, Hashable, Sendable {
    package let rawValue: UInt16
    package init(rawValue: UInt16) { self.rawValue = rawValue }
    package init(integerLiteral rawValue: UInt16) { self.rawValue = rawValue }

    init(code: UInt8, subevent: UInt8) { rawValue = UInt16(code) << 8 | UInt16(subevent) }

    /// The kind of the event of a packet.
    package init(code: UInt8, parameters: ByteSlice) {
      self.init(code: code, subevent: code == EventCode.leMeta && !parameters.isEmpty ? parameters[0] : 0)
    }

    // The kinds of the events that are decoded without their rows.
    static let commandComplete: EventKind = 0x0E00
    static let commandStatus: EventKind = 0x0F00
    static let numberOfCompletedPackets: EventKind = 0x1300
    static let leAdvertisingReport: EventKind = 0x3E02
  }

  /// The event codes that are handled apart from the events.
  package enum EventCode {
    package static let commandComplete: UInt8 = 0x0E
    package static let commandStatus: UInt8 = 0x0F
    package static let numberOfCompletedPackets: UInt8 = 0x13
    package static let leMeta: UInt8 = 0x3E
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

extension HCI.EventKind: HCIRowNumber {
  /// The event code.
  package var code: UInt8 { UInt8(truncatingIfNeeded: rawValue >> 8) }

  /// The subevent code; nil: the event is not an LE Meta event.
  var subevent: UInt8? { code == HCI.EventCode.leMeta ? UInt8(truncatingIfNeeded: rawValue) : nil }

  /// The bit that masks the event; nil: the host can't mask it. The codes determine the numbers of the bits · 7.3.1,
  /// 7.3.69, 7.8.1.
  package var mask: HCI.EventMaskBit? {
    switch code {
    case HCI.EventCode.leMeta: .le(HCI.LEEventMask(self))
    case HCI.EventCode.commandComplete, HCI.EventCode.commandStatus, HCI.EventCode.numberOfCompletedPackets: nil
    case 0x01...0x40: .page1(HCI.EventMask(rawValue: 1 << (code - 1)))
    case 0x41...0x7F: .page2(HCI.EventMaskPage2(rawValue: 1 << (code - 0x40)))
    case _: nil
    }
  }

  package var place: Int? { code == HCI.EventCode.leMeta ? Int(rawValue & 0xFF) + 256 : Int(code) }

  /// The row of the event; nil: it has none.
  package var definition: HCI.EventDefinition? { HCI.EventDefinition.table[self] }
}

extension HCI {
  /// The row of an event: the facts that do not depend on its parameters.
  package final class EventDefinition: HCIDefinition {
    package let kind: EventKind
    /// The specification's name.
    package let name: StaticString
    /// The fields of the event; nil: `Event` decodes them itself, because the event is frequent.
    let fields: Fields<Event>?
    /// The features of which a controller needs one to send the event; empty: every controller can send it.
    let anyFeature: LEFeatures
    /// The position of the keys in the parameters, which begin with the subevent code in an LE Meta event; nil: they
    /// hold none.
    package let keys: Range<Int>?

    init(
      _ kind: EventKind, _ name: StaticString, _ fields: Fields<Event>?, features: LEFeatures = [],
      keys: Range<Int>? = nil
    ) {
      self.kind = kind
      self.name = name
      self.fields = fields
      anyFeature = features
      self.keys = keys
    }

    package var number: EventKind { kind }

    /// Returns true if a controller with these features can send the event.
    package func isPossible(with features: LEFeatures) -> Bool {
      anyFeature.isEmpty || !anyFeature.isDisjoint(with: features)
    }

    /// The rows of all events.
    package static var all: [EventDefinition] { table.definitions }
    fileprivate static let table = HCITable<EventDefinition>(of: events, places: 512)
  }

  /// A row for each event. An event without a row is decoded as `unknown` or `unknownLE`.
  package static let events = Events()

  /// A row for each event: codes, name, fields, and the features that a controller needs to send it · Vol 4, Part E,
  /// 7.7; 3, table 3.1.
  package struct Events: Sendable {
    package typealias Row = EventDefinition

    package let disconnectionComplete = Row(0x0500, "Disconnection Complete", Fields(Event.disconnectionComplete))
    package let encryptionChange = Row(
      0x0800, "Encryption Change", Fields(Event.encryptionChange), features: .encryption)
    package let readRemoteVersionInformationComplete = Row(
      0x0C00, "Read Remote Version Information Complete", Fields(Event.readRemoteVersionInformationComplete))
    package let commandComplete = Row(.commandComplete, "Command Complete", nil)
    package let commandStatus = Row(.commandStatus, "Command Status", nil)
    package let hardwareError = Row(0x1000, "Hardware Error", Fields(Event.hardwareError))
    package let numberOfCompletedPackets = Row(.numberOfCompletedPackets, "Number Of Completed Packets", nil)
    package let dataBufferOverflow = Row(0x1A00, "Data Buffer Overflow", Fields(Event.dataBufferOverflow))
    package let encryptionKeyRefreshComplete = Row(
      0x3000, "Encryption Key Refresh Complete", Fields(Event.encryptionKeyRefreshComplete), features: .encryption)
    package let authenticatedPayloadTimeoutExpired = Row(
      0x5700, "Authenticated Payload Timeout Expired", Fields(Event.authenticatedPayloadTimeoutExpired), features: .ping
    )
    package let encryptionChangeV2 = Row(
      0x5900, "Encryption Change [v2]", Fields(Event.encryptionChangeV2), features: .encryption)

    // LE Meta. The default event mask enables the first five, regardless of the features; the key events depend on the
    // version.
    package let leConnectionComplete = Row(0x3E01, "LE Connection Complete", Fields(Event.leConnectionComplete))
    package let leAdvertisingReport = Row(.leAdvertisingReport, "LE Advertising Report", nil)
    package let leConnectionUpdateComplete = Row(
      0x3E03, "LE Connection Update Complete", Fields(Event.leConnectionUpdateComplete))
    package let leReadRemoteFeaturesComplete = Row(
      0x3E04, "LE Read Remote Features Complete", Fields(Event.leReadRemoteFeaturesComplete))
    package let leLongTermKeyRequest = Row(0x3E05, "LE Long Term Key Request", Fields(Event.leLongTermKeyRequest))
    package let leRemoteConnectionParameterRequest = Row(
      0x3E06, "LE Remote Connection Parameter Request", Fields(Event.leRemoteConnectionParameterRequest),
      features: .connectionParametersRequestProcedure)
    package let leDataLengthChange = Row(
      0x3E07, "LE Data Length Change", Fields(Event.leDataLengthChange), features: .dataPacketLengthExtension)
    package let leReadLocalP256PublicKeyComplete = Row(
      0x3E08, "LE Read Local P-256 Public Key Complete",
      Fields({ (status: ErrorCode, coordinates: Octets<64>) in
        .leReadLocalP256PublicKeyComplete(status, coordinates.octets)
      }))
    // Subevent and status precede DHKey · 7.7.65.9.
    package let leGenerateDHKeyComplete = Row(
      0x3E09, "LE Generate DHKey Complete",
      Fields({ (status: ErrorCode, key: Octets<32>) in .leGenerateDHKeyComplete(status, Secret(key.octets)) }),
      keys: 2..<34)
    package let leEnhancedConnectionComplete = Row(
      0x3E0A, "LE Enhanced Connection Complete",
      Fields(decode: { (reader) throws(DecodingError) in
        .leEnhancedConnectionComplete(try ConnectionComplete(from: &reader, isEnhanced: true))
      }), features: [.llPrivacy, .extendedAdvertising])
    package let leDirectedAdvertisingReport = Row(
      0x3E0B, "LE Directed Advertising Report", Fields(Event.leDirectedAdvertisingReport),
      features: .extendedScanningFilterPolicies)
    package let lePHYUpdateComplete = Row(
      0x3E0C, "LE PHY Update Complete", Fields(Event.lePHYUpdateComplete), features: [.le2MPHY, .leCodedPHY])
    package let leExtendedAdvertisingReport = Row(
      0x3E0D, "LE Extended Advertising Report", Fields(Event.leExtendedAdvertisingReport),
      features: .extendedAdvertising)
    package let lePeriodicAdvertisingSyncEstablished = Row(
      0x3E0E, "LE Periodic Advertising Sync Established", Fields(Event.lePeriodicAdvertisingSyncEstablished),
      features: .periodicAdvertising)
    package let lePeriodicAdvertisingReport = Row(
      0x3E0F, "LE Periodic Advertising Report", Fields(Event.lePeriodicAdvertisingReport),
      features: .periodicAdvertising)
    package let lePeriodicAdvertisingSyncLost = Row(
      0x3E10, "LE Periodic Advertising Sync Lost", Fields(Event.lePeriodicAdvertisingSyncLost),
      features: .periodicAdvertising)
    package let leScanTimeout = Row(0x3E11, "LE Scan Timeout", Fields(.leScanTimeout), features: .extendedAdvertising)
    package let leAdvertisingSetTerminated = Row(
      0x3E12, "LE Advertising Set Terminated", Fields(Event.leAdvertisingSetTerminated), features: .extendedAdvertising)
    package let leScanRequestReceived = Row(
      0x3E13, "LE Scan Request Received", Fields(Event.leScanRequestReceived), features: .extendedAdvertising)
    package let leChannelSelectionAlgorithm = Row(
      0x3E14, "LE Channel Selection Algorithm", Fields(Event.leChannelSelectionAlgorithm),
      features: .channelSelectionAlgorithm2)
    package let lePeriodicAdvertisingSyncTransferReceived = Row(
      0x3E18, "LE Periodic Advertising Sync Transfer Received", Fields(Event.lePeriodicAdvertisingSyncTransferReceived),
      features: .periodicAdvertisingSyncTransferRecipient)
    package let leRequestPeerSCAComplete = Row(
      0x3E1F, "LE Request Peer SCA Complete", Fields(Event.leRequestPeerSCAComplete),
      features: .sleepClockAccuracyUpdates)
  }
}
