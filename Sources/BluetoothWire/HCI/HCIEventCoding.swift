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

  /// The kind of the event; nil: the event has no case in `EventKind`.
  package var kind: HCI.EventKind? {
    switch self {
    case .disconnectionComplete: .disconnectionComplete
    case .encryptionChange: .encryptionChange
    case .readRemoteVersionInformationComplete: .readRemoteVersionInformationComplete
    case .commandComplete: .commandComplete
    case .commandStatus: .commandStatus
    case .hardwareError: .hardwareError
    case .numberOfCompletedPackets: .numberOfCompletedPackets
    case .dataBufferOverflow: .dataBufferOverflow
    case .encryptionKeyRefreshComplete: .encryptionKeyRefreshComplete
    case .encryptionChangeV2: .encryptionChangeV2
    case .authenticatedPayloadTimeoutExpired: .authenticatedPayloadTimeoutExpired
    case .leConnectionComplete: .leConnectionComplete
    case .leEnhancedConnectionComplete: .leEnhancedConnectionComplete
    case .leAdvertisingReport: .leAdvertisingReport
    case .leConnectionUpdateComplete: .leConnectionUpdateComplete
    case .leReadRemoteFeaturesComplete: .leReadRemoteFeaturesComplete
    case .leLongTermKeyRequest: .leLongTermKeyRequest
    case .leRemoteConnectionParameterRequest: .leRemoteConnectionParameterRequest
    case .leDataLengthChange: .leDataLengthChange
    case .leReadLocalP256PublicKeyComplete: .leReadLocalP256PublicKeyComplete
    case .leGenerateDHKeyComplete: .leGenerateDHKeyComplete
    case .lePHYUpdateComplete: .lePHYUpdateComplete
    case .leExtendedAdvertisingReport: .leExtendedAdvertisingReport
    case .leScanTimeout: .leScanTimeout
    case .leAdvertisingSetTerminated: .leAdvertisingSetTerminated
    case .leChannelSelectionAlgorithm: .leChannelSelectionAlgorithm
    case .leScanRequestReceived: .leScanRequestReceived
    case .leDirectedAdvertisingReport: .leDirectedAdvertisingReport
    case .lePeriodicAdvertisingSyncEstablished: .lePeriodicAdvertisingSyncEstablished
    case .lePeriodicAdvertisingReport: .lePeriodicAdvertisingReport
    case .lePeriodicAdvertisingSyncLost: .lePeriodicAdvertisingSyncLost
    case .lePeriodicAdvertisingSyncTransferReceived: .lePeriodicAdvertisingSyncTransferReceived
    case .leRequestPeerSCAComplete: .leRequestPeerSCAComplete
    case .unknownLE, .unknown: nil
    }
  }

  /// The event code; LE Meta for all cases that begin with `le`.
  package var code: UInt8 {
    if let kind { return kind.code }
    if case .unknown(let code, _) = self { return code }
    return HCI.EventCode.leMeta
  }

  /// Returns the Event packet, with its parameters in a storage of `pool`.
  package func packet(in pool: PacketPool) -> HCI.Packet {
    var writer = ByteWriter(pool, capacity: 255, headroom: 0)
    let kind = kind
    if let subevent = kind?.subevent { writer.append(subevent) }
    encodeParameters(into: &writer)
    return .event(code: kind?.code ?? code, parameters: writer.finish())
  }

  /// Writes the parameters without the subevent code, except for an unknown LE Meta event.
  private func encodeParameters(into writer: inout ByteWriter) {
    switch self {
    case .disconnectionComplete(let status, let handle, let reason):
      writer.append(status)
      writer.append(handle)
      writer.append(reason)
    case .encryptionChange(let status, let handle, let enabled):
      writer.append(status)
      writer.append(handle)
      writer.append(enabled)
    case .readRemoteVersionInformationComplete(let status, let handle, let version):
      writer.append(status)
      writer.append(handle)
      writer.append(version.version)
      writer.append(version.companyIdentifier)
      writer.append(version.subversion)
    case .commandComplete(let credits, let opcode, let parameters):
      writer.append(credits)
      writer.append(opcode.rawValue)
      parameters.encode(into: &writer)
    case .commandStatus(let status, let credits, let opcode):
      writer.append(status)
      writer.append(credits)
      writer.append(opcode.rawValue)
    case .hardwareError(let code): writer.append(code)
    case .numberOfCompletedPackets(let packets): packets.encode(into: &writer)
    case .dataBufferOverflow(let linkType): writer.append(linkType)
    case .encryptionKeyRefreshComplete(let status, let handle):
      writer.append(status)
      writer.append(handle)
    case .encryptionChangeV2(let status, let handle, let enabled, let keySize):
      writer.append(status)
      writer.append(handle)
      writer.append(enabled)
      writer.append(keySize)
    case .authenticatedPayloadTimeoutExpired(let handle): writer.append(handle)
    // LE Meta
    case .leConnectionComplete(let complete):
      complete.encode(into: &writer, isEnhanced: false)
    case .leEnhancedConnectionComplete(let complete):
      complete.encode(into: &writer, isEnhanced: true)
    case .leAdvertisingReport(let reports):
      reports.encode(into: &writer)
    case .leConnectionUpdateComplete(let status, let handle, let values):
      writer.append(status)
      writer.append(handle)
      values.encode(into: &writer)
    case .leReadRemoteFeaturesComplete(let status, let handle, let features):
      writer.append(status)
      writer.append(handle)
      writer.append(features.rawValue)
    case .leLongTermKeyRequest(let handle, let random, let diversifier):
      writer.append(handle)
      writer.append(random)
      writer.append(diversifier)
    case .leRemoteConnectionParameterRequest(let handle, let parameters):
      writer.append(handle)
      parameters.encode(into: &writer)
    case .leDataLengthChange(let handle, let transmit, let receive):
      writer.append(handle)
      transmit.encode(into: &writer)
      receive.encode(into: &writer)
    case .leReadLocalP256PublicKeyComplete(let status, let octets):
      writer.append(status)
      writer.append(octets.prefix(64))
    case .leGenerateDHKeyComplete(let status, let octets):
      writer.append(status)
      writer.append(octets.value.prefix(32))
    case .lePHYUpdateComplete(let status, let handle, let transmit, let receive):
      writer.append(status)
      writer.append(handle)
      writer.append(transmit)
      writer.append(receive)
    case .leExtendedAdvertisingReport(let reports):
      reports.encode(into: &writer)
    case .leScanTimeout: break
    case .leAdvertisingSetTerminated(let status, let advertisingHandle, let handle, let events):
      writer.append(status)
      writer.append(advertisingHandle.rawValue)
      writer.append(handle)
      writer.append(events)
    case .leChannelSelectionAlgorithm(let handle, let algorithm):
      writer.append(handle)
      writer.append(algorithm)
    case .leScanRequestReceived(let advertisingHandle, let scanner):
      writer.append(advertisingHandle.rawValue)
      scanner.encode(into: &writer)
    case .leDirectedAdvertisingReport(let report):
      report.encode(into: &writer)
    case .lePeriodicAdvertisingSyncEstablished(let status, let sync):
      writer.append(status)
      sync.encode(into: &writer)
    case .lePeriodicAdvertisingReport(let report):
      report.encode(into: &writer)
    case .lePeriodicAdvertisingSyncLost(let sync):
      writer.append(sync.rawValue)
    case .lePeriodicAdvertisingSyncTransferReceived(let status, let handle, let serviceData, let sync):
      writer.append(status)
      writer.append(handle)
      writer.append(serviceData)
      sync.encode(into: &writer)
    case .leRequestPeerSCAComplete(let status, let handle, let accuracy):
      writer.append(status)
      writer.append(handle)
      writer.append(accuracy)
    case .unknownLE(let subevent, let parameters):
      writer.append(subevent)
      writer.append(parameters.prefix(254))
    case .unknown(_, let parameters): writer.append(parameters.prefix(255))
    }
  }
}
