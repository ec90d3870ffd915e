extension HCI {
  /// An HCI event from a controller to its host · Vol 4, Part E, 7.7.
  package enum Event: Hashable, Sendable {
    /// Disconnection Complete · 7.7.5
    case disconnectionComplete(ErrorCode, ConnectionHandle, reason: ErrorCode)
    /// Encryption Change [v1] · 7.7.8; `enabled`: 0 for off, 1 for on.
    case encryptionChange(ErrorCode, ConnectionHandle, enabled: UInt8)
    /// Read Remote Version Information Complete · 7.7.12
    case readRemoteVersionInformationComplete(ErrorCode, ConnectionHandle, RemoteVersion)
    /// Command Complete · 7.7.14; `credits` is Num_HCI_Command_Packets, the number of commands that may be sent now.
    case commandComplete(credits: UInt8, Opcode, ReturnParameters)
    /// Command Status · 7.7.15
    case commandStatus(ErrorCode, credits: UInt8, Opcode)
    /// Hardware Error · 7.7.16
    case hardwareError(UInt8)
    /// Number Of Completed Packets · 7.7.19
    case numberOfCompletedPackets(CompletedPackets)
    /// Data Buffer Overflow · 7.7.26
    case dataBufferOverflow(linkType: UInt8)
    /// Encryption Key Refresh Complete · 7.7.39
    case encryptionKeyRefreshComplete(ErrorCode, ConnectionHandle)
    /// Encryption Change [v2] · 7.7.8; `enabled`: 0 for off, 1 for on; `keySize` in octets, 7 to 16.
    case encryptionChangeV2(ErrorCode, ConnectionHandle, enabled: UInt8, keySize: UInt8)
    /// Authenticated Payload Timeout Expired · 7.7.75
    case authenticatedPayloadTimeoutExpired(ConnectionHandle)

    /// LE Connection Complete · 7.7.65.1
    case leConnectionComplete(ConnectionComplete)
    /// LE Advertising Report · 7.7.65.2
    case leAdvertisingReport(AdvertisingReports)
    /// LE Connection Update Complete · 7.7.65.3
    case leConnectionUpdateComplete(ErrorCode, ConnectionHandle, ConnectionValues)
    /// LE Read Remote Features Complete · 7.7.65.4
    case leReadRemoteFeaturesComplete(ErrorCode, ConnectionHandle, LEFeatures)
    /// LE Long Term Key Request · 7.7.65.5
    case leLongTermKeyRequest(ConnectionHandle, random: UInt64, encryptedDiversifier: UInt16)
    /// LE Remote Connection Parameter Request · 7.7.65.6
    case leRemoteConnectionParameterRequest(ConnectionHandle, LinkParameters)
    /// LE Data Length Change · 7.7.65.7
    case leDataLengthChange(ConnectionHandle, transmit: DataLength, receive: DataLength)
    /// LE Read Local P-256 Public Key Complete · 7.7.65.8; the coordinates X and Y, 32 octets each.
    case leReadLocalP256PublicKeyComplete(ErrorCode, ByteSlice)
    /// LE Generate DHKey Complete · 7.7.65.9; 32 octets.
    case leGenerateDHKeyComplete(ErrorCode, Secret<ByteSlice>)
    /// LE Enhanced Connection Complete [v1] · 7.7.65.10
    case leEnhancedConnectionComplete(ConnectionComplete)
    /// LE Directed Advertising Report · 7.7.65.11
    case leDirectedAdvertisingReport(DirectedAdvertisingReport)
    /// LE PHY Update Complete · 7.7.65.12
    case lePHYUpdateComplete(ErrorCode, ConnectionHandle, transmit: UInt8, receive: UInt8)
    /// LE Extended Advertising Report · 7.7.65.13
    case leExtendedAdvertisingReport(ExtendedAdvertisingReports)
    /// LE Periodic Advertising Sync Established [v1] · 7.7.65.14
    case lePeriodicAdvertisingSyncEstablished(ErrorCode, PeriodicSync)
    /// LE Periodic Advertising Report [v1] · 7.7.65.15
    case lePeriodicAdvertisingReport(PeriodicAdvertisingReport)
    /// LE Periodic Advertising Sync Lost · 7.7.65.16
    case lePeriodicAdvertisingSyncLost(SyncHandle)
    /// LE Scan Timeout · 7.7.65.17
    case leScanTimeout
    /// LE Advertising Set Terminated · 7.7.65.18
    case leAdvertisingSetTerminated(ErrorCode, AdvertisingHandle, ConnectionHandle, completedEvents: UInt8)
    /// LE Scan Request Received · 7.7.65.19
    case leScanRequestReceived(AdvertisingHandle, scanner: PeerAddress)
    /// LE Channel Selection Algorithm · 7.7.65.20; 0 for algorithm #1, 1 for #2.
    case leChannelSelectionAlgorithm(ConnectionHandle, UInt8)
    /// LE Periodic Advertising Sync Transfer Received [v1] · 7.7.65.24
    case lePeriodicAdvertisingSyncTransferReceived(ErrorCode, ConnectionHandle, serviceData: UInt16, PeriodicSync)
    /// LE Request Peer SCA Complete · 7.7.65.30; `clockAccuracy` from 0 (500 ppm) to 7 (20 ppm).
    case leRequestPeerSCAComplete(ErrorCode, ConnectionHandle, clockAccuracy: UInt8)
    /// An LE Meta event whose subevent has no case in this type.
    case unknownLE(subevent: UInt8, ByteSlice)

    /// An event without a case in this type; for an LE Meta event, the parameters begin with the subevent code.
    case unknown(code: UInt8, ByteSlice)
  }
}

extension HCI.Event {
  /// Decodes an Event packet. Codes and subevents without a row give `unknown` and `unknownLE`. Octets after the last
  /// field are ignored, so that later versions of an event can be decoded.
  package init(code: UInt8, parameters: consuming ByteSlice) throws(DecodingError) {
    var reader = ByteReader(parameters)
    let subevent = code == HCI.EventCode.leMeta ? try reader.uint8() : 0
    switch HCI.EventKind(rawValue: UInt16(code) << 8 | UInt16(subevent)) {
    // The most frequent events are decoded without their rows.
    case .leAdvertisingReport: self = .leAdvertisingReport(try HCI.AdvertisingReports(from: &reader))
    case .numberOfCompletedPackets: self = .numberOfCompletedPackets(try HCI.CompletedPackets(from: &reader))
    case .commandComplete:
      let (credits, opcode) = (try reader.uint8(), HCI.Opcode(rawValue: try reader.uint16()))
      self = .commandComplete(
        credits: credits, opcode, try HCI.ReturnParameters(opcode: opcode, parameters: reader.rest()))
    case .commandStatus:
      self = .commandStatus(
        try reader.errorCode(), credits: try reader.uint8(), HCI.Opcode(rawValue: try reader.uint16()))
    case let kind:
      if let fields = kind.definition?.fields {
        self = try fields.decode(&reader)
      } else {
        self =
          code == HCI.EventCode.leMeta
          ? .unknownLE(subevent: subevent, reader.rest()) : .unknown(code: code, reader.rest())
      }
    }
  }

  /// Returns the Event packet, with its parameters in a storage of `pool`.
  package func packet(in pool: PacketPool) -> HCI.Packet { encoded(in: pool).packet }

  /// Returns the kind of the event and the Event packet, with its parameters in a storage of `pool`.
  package func encoded(in pool: PacketPool) -> (kind: HCI.EventKind, packet: HCI.Packet) {
    // The headroom is for the subevent code.
    var writer = ByteWriter(pool, capacity: 255, headroom: 1)
    let kind: HCI.EventKind
    switch self {
    // The most frequent events are encoded without their rows.
    case .leAdvertisingReport(let reports):
      reports.encode(into: &writer)
      kind = .leAdvertisingReport
    case .numberOfCompletedPackets(let packets):
      packets.encode(into: &writer)
      kind = .numberOfCompletedPackets
    case .commandComplete(let credits, let opcode, let parameters):
      writer.append(credits)
      writer.append(opcode.rawValue)
      parameters.encode(into: &writer)
      kind = .commandComplete
    case .commandStatus(let status, let credits, let opcode):
      writer.append(status)
      writer.append(credits)
      writer.append(opcode.rawValue)
      kind = .commandStatus
    // An event without a row has its subevent code, if any, in its parameters.
    case .unknown(let code, _):
      _ = visit(&writer)
      return (HCI.EventKind(code: code, subevent: 0), .event(code: code, parameters: writer.finish()))
    case _: kind = visit(&writer)
    }
    if let subevent = kind.subevent { writer.prepend(subevent) }
    return (kind, .event(code: kind.code, parameters: writer.finish()))
  }

  /// The fields of the event, for descriptions.
  package var fields: [Any] {
    var list = HCIFieldList()
    _ = visit(&list)
    return list.fields
  }
}

extension HCI.Event {
  /// Visits the fields of an event in their order, and returns its kind.
  private func visit<Visitor: HCIFieldVisitor & ~Copyable>(_ visitor: inout Visitor) -> HCI.EventKind {
    switch self {
    case .disconnectionComplete(let status, let handle, let reason):
      visitor.visit(HCI.events.disconnectionComplete, status, handle, reason)
    case .encryptionChange(let status, let handle, let enabled):
      visitor.visit(HCI.events.encryptionChange, status, handle, HCI.Shown(enabled) { $0 == 0 ? "off" : "on" })
    case .readRemoteVersionInformationComplete(let status, let handle, let version):
      visitor.visit(HCI.events.readRemoteVersionInformationComplete, status, handle, version)
    case .commandComplete(let credits, let opcode, let parameters):
      visitor.visit(HCI.events.commandComplete, credits, opcode, parameters)
    case .commandStatus(let status, let credits, let opcode):
      visitor.visit(HCI.events.commandStatus, status, credits, opcode)
    case .hardwareError(let code):
      visitor.visit(HCI.events.hardwareError, HCI.Shown(code) { "code 0x\($0.hexadecimal)" })
    case .numberOfCompletedPackets(let packets): visitor.visit(HCI.events.numberOfCompletedPackets, packets)
    case .dataBufferOverflow(let linkType): visitor.visit(HCI.events.dataBufferOverflow, linkType)
    case .encryptionKeyRefreshComplete(let status, let handle):
      visitor.visit(HCI.events.encryptionKeyRefreshComplete, status, handle)
    case .encryptionChangeV2(let status, let handle, let enabled, let keySize):
      visitor.visit(
        HCI.events.encryptionChangeV2, status, handle, HCI.Shown(enabled) { $0 == 0 ? "off" : "on" },
        HCI.Shown(keySize) { "key of \($0) octets" })
    case .authenticatedPayloadTimeoutExpired(let handle):
      visitor.visit(HCI.events.authenticatedPayloadTimeoutExpired, handle)
    // LE Meta
    case .leConnectionComplete(let complete): visitor.visit(HCI.events.leConnectionComplete, complete)
    case .leAdvertisingReport(let reports): visitor.visit(HCI.events.leAdvertisingReport, reports)
    case .leConnectionUpdateComplete(let status, let handle, let values):
      visitor.visit(HCI.events.leConnectionUpdateComplete, status, handle, values)
    case .leReadRemoteFeaturesComplete(let status, let handle, let features):
      visitor.visit(HCI.events.leReadRemoteFeaturesComplete, status, handle, features)
    case .leLongTermKeyRequest(let handle, let random, let diversifier):
      visitor.visit(HCI.events.leLongTermKeyRequest, handle, random, diversifier)
    case .leRemoteConnectionParameterRequest(let handle, let parameters):
      visitor.visit(HCI.events.leRemoteConnectionParameterRequest, handle, parameters)
    case .leDataLengthChange(let handle, let transmit, let receive):
      visitor.visit(
        HCI.events.leDataLengthChange, handle, HCI.Shown(transmit) { "transmit \($0.octets) octets in \($0.time) µs" },
        HCI.Shown(receive) { "receive \($0.octets) octets in \($0.time) µs" })
    case .leReadLocalP256PublicKeyComplete(let status, let coordinates):
      visitor.visit(HCI.events.leReadLocalP256PublicKeyComplete, status, HCI.Octets<64>(coordinates))
    case .leGenerateDHKeyComplete(let status, let key):
      visitor.visit(HCI.events.leGenerateDHKeyComplete, status, Secret(HCI.Octets<32>(key.value)))
    case .leEnhancedConnectionComplete(let complete):
      visitor.visit(
        HCI.events.leEnhancedConnectionComplete, HCI.OtherForm(complete) { $0.encode(into: &$1, isEnhanced: true) })
    case .leDirectedAdvertisingReport(let report): visitor.visit(HCI.events.leDirectedAdvertisingReport, report)
    case .lePHYUpdateComplete(let status, let handle, let transmit, let receive):
      visitor.visit(
        HCI.events.lePHYUpdateComplete, status, handle, HCI.Shown(transmit) { "transmit \(RadioPHY.words(of: $0))" },
        HCI.Shown(receive) { "receive \(RadioPHY.words(of: $0))" })
    case .leExtendedAdvertisingReport(let reports): visitor.visit(HCI.events.leExtendedAdvertisingReport, reports)
    case .lePeriodicAdvertisingSyncEstablished(let status, let sync):
      visitor.visit(HCI.events.lePeriodicAdvertisingSyncEstablished, status, sync)
    case .lePeriodicAdvertisingReport(let report): visitor.visit(HCI.events.lePeriodicAdvertisingReport, report)
    case .lePeriodicAdvertisingSyncLost(let sync): visitor.visit(HCI.events.lePeriodicAdvertisingSyncLost, sync)
    case .leScanTimeout: visitor.visit(HCI.events.leScanTimeout)
    case .leAdvertisingSetTerminated(let status, let set, let handle, let completedEvents):
      visitor.visit(
        HCI.events.leAdvertisingSetTerminated, status, set, HCI.NewConnection(handle: handle),
        HCI.Shown(completedEvents) { "\($0) events" })
    case .leScanRequestReceived(let set, let scanner): visitor.visit(HCI.events.leScanRequestReceived, set, scanner)
    case .leChannelSelectionAlgorithm(let handle, let algorithm):
      visitor.visit(HCI.events.leChannelSelectionAlgorithm, handle, HCI.Shown(algorithm) { "#\(Int($0) + 1)" })
    case .lePeriodicAdvertisingSyncTransferReceived(let status, let handle, let serviceData, let sync):
      visitor.visit(HCI.events.lePeriodicAdvertisingSyncTransferReceived, status, handle, serviceData, sync)
    case .leRequestPeerSCAComplete(let status, let handle, let accuracy):
      visitor.visit(
        HCI.events.leRequestPeerSCAComplete, status, handle, HCI.Shown(accuracy) { "clock accuracy \($0)" })
    case .unknownLE(let subevent, let parameters):
      visitor.visit(
        HCI.Rest(octets: parameters.prefix(254)), for: HCI.EventKind(code: HCI.EventCode.leMeta, subevent: subevent))
    case .unknown(let code, let parameters):
      visitor.visit(HCI.Rest(octets: parameters.prefix(255)), for: HCI.EventKind(code: code, subevent: 0))
    }
  }
}
