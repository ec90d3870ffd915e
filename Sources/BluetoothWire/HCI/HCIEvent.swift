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
    case leRemoteConnectionParameterRequest(ConnectionHandle, ConnectionParameters)
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

    /// An event without a case in this type.
    case unknown(code: UInt8, ByteSlice)
  }
}

extension HCI.Event {
  /// Decodes an Event packet. Codes and subevents without a case give `unknown` and `unknownLE`. Octets after the
  /// last field are ignored, so that later versions of an event can be decoded.
  package init(code: UInt8, parameters: consuming ByteSlice) throws(DecodingError) {
    var reader = ByteReader(parameters)
    let subevent = code == HCI.EventCode.leMeta ? try reader.uint8() : 0
    switch HCI.EventKind(rawValue: UInt16(code) << 8 | UInt16(subevent)) {
    case .disconnectionComplete:
      self = .disconnectionComplete(
        try reader.errorCode(), try HCI.ConnectionHandle(from: &reader), reason: try reader.errorCode())
    case .encryptionChange:
      self = .encryptionChange(
        try reader.errorCode(), try HCI.ConnectionHandle(from: &reader), enabled: try reader.uint8())
    case .readRemoteVersionInformationComplete:
      self = .readRemoteVersionInformationComplete(
        try reader.errorCode(), try HCI.ConnectionHandle(from: &reader),
        HCI.RemoteVersion(
          version: try reader.uint8(), companyIdentifier: try reader.uint16(), subversion: try reader.uint16()))
    case .commandComplete:
      let credits = try reader.uint8()
      let opcode = HCI.Opcode(rawValue: try reader.uint16())
      self = .commandComplete(
        credits: credits, opcode, try HCI.ReturnParameters(opcode: opcode, parameters: reader.rest()))
    case .commandStatus:
      self = .commandStatus(
        try reader.errorCode(), credits: try reader.uint8(), HCI.Opcode(rawValue: try reader.uint16()))
    case .hardwareError: self = .hardwareError(try reader.uint8())
    case .numberOfCompletedPackets:
      self = .numberOfCompletedPackets(try HCI.CompletedPackets(from: &reader))
    case .dataBufferOverflow: self = .dataBufferOverflow(linkType: try reader.uint8())
    case .encryptionKeyRefreshComplete:
      self = .encryptionKeyRefreshComplete(try reader.errorCode(), try HCI.ConnectionHandle(from: &reader))
    case .encryptionChangeV2:
      self = .encryptionChangeV2(
        try reader.errorCode(), try HCI.ConnectionHandle(from: &reader), enabled: try reader.uint8(),
        keySize: try reader.uint8())
    case .authenticatedPayloadTimeoutExpired:
      self = .authenticatedPayloadTimeoutExpired(try HCI.ConnectionHandle(from: &reader))
    // LE Meta
    case .leConnectionComplete:
      self = .leConnectionComplete(try HCI.ConnectionComplete(from: &reader, isEnhanced: false))
    case .leAdvertisingReport: self = .leAdvertisingReport(try HCI.AdvertisingReports(from: &reader))
    case .leConnectionUpdateComplete:
      self = .leConnectionUpdateComplete(
        try reader.errorCode(), try HCI.ConnectionHandle(from: &reader), try HCI.ConnectionValues(from: &reader))
    case .leReadRemoteFeaturesComplete:
      self = .leReadRemoteFeaturesComplete(
        try reader.errorCode(), try HCI.ConnectionHandle(from: &reader),
        HCI.LEFeatures(rawValue: try reader.uint64()))
    case .leLongTermKeyRequest:
      self = .leLongTermKeyRequest(
        try HCI.ConnectionHandle(from: &reader), random: try reader.uint64(),
        encryptedDiversifier: try reader.uint16())
    case .leRemoteConnectionParameterRequest:
      self = .leRemoteConnectionParameterRequest(
        try HCI.ConnectionHandle(from: &reader), try ConnectionParameters(from: &reader))
    case .leDataLengthChange:
      self = .leDataLengthChange(
        try HCI.ConnectionHandle(from: &reader), transmit: try HCI.DataLength(from: &reader),
        receive: try HCI.DataLength(from: &reader))
    case .leReadLocalP256PublicKeyComplete:
      self = .leReadLocalP256PublicKeyComplete(try reader.errorCode(), try reader.take(64))
    case .leGenerateDHKeyComplete:
      self = .leGenerateDHKeyComplete(try reader.errorCode(), try reader.take(32))
    case .leEnhancedConnectionComplete:
      self = .leEnhancedConnectionComplete(try HCI.ConnectionComplete(from: &reader, isEnhanced: true))
    case .lePHYUpdateComplete:
      self = .lePHYUpdateComplete(
        try reader.errorCode(), try HCI.ConnectionHandle(from: &reader), transmit: try reader.uint8(),
        receive: try reader.uint8())
    case .leExtendedAdvertisingReport:
      self = .leExtendedAdvertisingReport(try HCI.ExtendedAdvertisingReports(from: &reader))
    case .leScanTimeout: self = .leScanTimeout
    case .leAdvertisingSetTerminated:
      self = .leAdvertisingSetTerminated(
        try reader.errorCode(), try HCI.AdvertisingHandle(from: &reader), try HCI.ConnectionHandle(from: &reader),
        completedEvents: try reader.uint8())
    case .leScanRequestReceived:
      self = .leScanRequestReceived(
        try HCI.AdvertisingHandle(from: &reader), scanner: try HCI.PeerAddress(from: &reader))
    case .leChannelSelectionAlgorithm:
      self = .leChannelSelectionAlgorithm(try HCI.ConnectionHandle(from: &reader), try reader.uint8())
    case .leDirectedAdvertisingReport:
      self = .leDirectedAdvertisingReport(try HCI.DirectedAdvertisingReport(from: &reader))
    case .lePeriodicAdvertisingSyncEstablished:
      self = .lePeriodicAdvertisingSyncEstablished(try reader.errorCode(), try HCI.PeriodicSync(from: &reader))
    case .lePeriodicAdvertisingReport:
      self = .lePeriodicAdvertisingReport(try HCI.PeriodicAdvertisingReport(from: &reader))
    case .lePeriodicAdvertisingSyncLost:
      self = .lePeriodicAdvertisingSyncLost(try HCI.SyncHandle(from: &reader))
    case .lePeriodicAdvertisingSyncTransferReceived:
      self = .lePeriodicAdvertisingSyncTransferReceived(
        try reader.errorCode(), try HCI.ConnectionHandle(from: &reader), serviceData: try reader.uint16(),
        try HCI.PeriodicSync(from: &reader))
    case .leRequestPeerSCAComplete:
      self = .leRequestPeerSCAComplete(
        try reader.errorCode(), try HCI.ConnectionHandle(from: &reader), clockAccuracy: try reader.uint8())
    case nil:
      self =
        code == HCI.EventCode.leMeta
        ? .unknownLE(subevent: subevent, reader.rest()) : .unknown(code: code, reader.rest())
    }
  }

  /// Returns the Event packet, with its parameters in a storage of `pool`.
  package func packet(in pool: PacketPool) -> HCI.Packet { encoded(in: pool).packet }

  /// Returns the kind of the event and the Event packet, with its parameters in a storage of `pool`. The kind is nil
  /// if the event has no case in `EventKind`.
  package func encoded(in pool: PacketPool) -> (kind: HCI.EventKind?, packet: HCI.Packet) {
    // The headroom is for the subevent code.
    var writer = ByteWriter(pool, capacity: 255, headroom: 1)
    let kind = encode(into: &writer)
    if let subevent = kind?.subevent { writer.prepend(subevent) }
    return (kind, .event(code: kind?.code ?? unknownCode, parameters: writer.finish()))
  }

  /// The code of an event without a kind.
  private var unknownCode: UInt8 {
    if case .unknown(let code, _) = self { code } else { HCI.EventCode.leMeta }
  }

  /// Writes the parameters without the subevent code, and returns the kind of the event. An event without a case in
  /// `EventKind` has no kind, and the subevent code is the first of its parameters.
  private func encode(into writer: inout ByteWriter) -> HCI.EventKind? {
    switch self {
    case .disconnectionComplete(let status, let handle, let reason):
      writer.append(status)
      writer.append(handle)
      writer.append(reason)
      return .disconnectionComplete
    case .encryptionChange(let status, let handle, let enabled):
      writer.append(status)
      writer.append(handle)
      writer.append(enabled)
      return .encryptionChange
    case .readRemoteVersionInformationComplete(let status, let handle, let version):
      writer.append(status)
      writer.append(handle)
      writer.append(version.version)
      writer.append(version.companyIdentifier)
      writer.append(version.subversion)
      return .readRemoteVersionInformationComplete
    case .commandComplete(let credits, let opcode, let parameters):
      writer.append(credits)
      writer.append(opcode.rawValue)
      parameters.encode(into: &writer)
      return .commandComplete
    case .commandStatus(let status, let credits, let opcode):
      writer.append(status)
      writer.append(credits)
      writer.append(opcode.rawValue)
      return .commandStatus
    case .hardwareError(let code):
      writer.append(code)
      return .hardwareError
    case .numberOfCompletedPackets(let packets):
      packets.encode(into: &writer)
      return .numberOfCompletedPackets
    case .dataBufferOverflow(let linkType):
      writer.append(linkType)
      return .dataBufferOverflow
    case .encryptionKeyRefreshComplete(let status, let handle):
      writer.append(status)
      writer.append(handle)
      return .encryptionKeyRefreshComplete
    case .encryptionChangeV2(let status, let handle, let enabled, let keySize):
      writer.append(status)
      writer.append(handle)
      writer.append(enabled)
      writer.append(keySize)
      return .encryptionChangeV2
    case .authenticatedPayloadTimeoutExpired(let handle):
      writer.append(handle)
      return .authenticatedPayloadTimeoutExpired
    // LE Meta
    case .leConnectionComplete(let complete):
      complete.encode(into: &writer, isEnhanced: false)
      return .leConnectionComplete
    case .leEnhancedConnectionComplete(let complete):
      complete.encode(into: &writer, isEnhanced: true)
      return .leEnhancedConnectionComplete
    case .leAdvertisingReport(let reports):
      reports.encode(into: &writer)
      return .leAdvertisingReport
    case .leConnectionUpdateComplete(let status, let handle, let values):
      writer.append(status)
      writer.append(handle)
      values.encode(into: &writer)
      return .leConnectionUpdateComplete
    case .leReadRemoteFeaturesComplete(let status, let handle, let features):
      writer.append(status)
      writer.append(handle)
      writer.append(features.rawValue)
      return .leReadRemoteFeaturesComplete
    case .leLongTermKeyRequest(let handle, let random, let diversifier):
      writer.append(handle)
      writer.append(random)
      writer.append(diversifier)
      return .leLongTermKeyRequest
    case .leRemoteConnectionParameterRequest(let handle, let parameters):
      writer.append(handle)
      parameters.encode(into: &writer)
      return .leRemoteConnectionParameterRequest
    case .leDataLengthChange(let handle, let transmit, let receive):
      writer.append(handle)
      transmit.encode(into: &writer)
      receive.encode(into: &writer)
      return .leDataLengthChange
    case .leReadLocalP256PublicKeyComplete(let status, let octets):
      writer.append(status)
      writer.append(octets.prefix(64))
      return .leReadLocalP256PublicKeyComplete
    case .leGenerateDHKeyComplete(let status, let octets):
      writer.append(status)
      writer.append(octets.value.prefix(32))
      return .leGenerateDHKeyComplete
    case .lePHYUpdateComplete(let status, let handle, let transmit, let receive):
      writer.append(status)
      writer.append(handle)
      writer.append(transmit)
      writer.append(receive)
      return .lePHYUpdateComplete
    case .leExtendedAdvertisingReport(let reports):
      reports.encode(into: &writer)
      return .leExtendedAdvertisingReport
    case .leScanTimeout:
      return .leScanTimeout
    case .leAdvertisingSetTerminated(let status, let advertisingHandle, let handle, let events):
      writer.append(status)
      writer.append(advertisingHandle.rawValue)
      writer.append(handle)
      writer.append(events)
      return .leAdvertisingSetTerminated
    case .leChannelSelectionAlgorithm(let handle, let algorithm):
      writer.append(handle)
      writer.append(algorithm)
      return .leChannelSelectionAlgorithm
    case .leScanRequestReceived(let advertisingHandle, let scanner):
      writer.append(advertisingHandle.rawValue)
      scanner.encode(into: &writer)
      return .leScanRequestReceived
    case .leDirectedAdvertisingReport(let report):
      report.encode(into: &writer)
      return .leDirectedAdvertisingReport
    case .lePeriodicAdvertisingSyncEstablished(let status, let sync):
      writer.append(status)
      sync.encode(into: &writer)
      return .lePeriodicAdvertisingSyncEstablished
    case .lePeriodicAdvertisingReport(let report):
      report.encode(into: &writer)
      return .lePeriodicAdvertisingReport
    case .lePeriodicAdvertisingSyncLost(let sync):
      writer.append(sync.rawValue)
      return .lePeriodicAdvertisingSyncLost
    case .lePeriodicAdvertisingSyncTransferReceived(let status, let handle, let serviceData, let sync):
      writer.append(status)
      writer.append(handle)
      writer.append(serviceData)
      sync.encode(into: &writer)
      return .lePeriodicAdvertisingSyncTransferReceived
    case .leRequestPeerSCAComplete(let status, let handle, let accuracy):
      writer.append(status)
      writer.append(handle)
      writer.append(accuracy)
      return .leRequestPeerSCAComplete
    case .unknownLE(let subevent, let parameters):
      writer.append(subevent)
      writer.append(parameters.prefix(254))
      return nil
    case .unknown(_, let parameters):
      writer.append(parameters.prefix(255))
      return nil
    }
  }
}
