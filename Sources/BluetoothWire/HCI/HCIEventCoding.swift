extension HCI.Event {
  /// Decodes an Event packet. Codes and subevents without a case give `unknown` and `unknownLE`. Octets after the
  /// last field are ignored, so that later versions of an event can be decoded.
  package init(code: UInt8, parameters: consuming ByteSlice) throws(DecodingError) {
    var reader = ByteReader(parameters)
    switch code {
    case HCI.EventCode.disconnectionComplete:
      self = .disconnectionComplete(
        try reader.errorCode(), try HCI.ConnectionHandle(from: &reader), reason: try reader.errorCode())
    case HCI.EventCode.encryptionChange:
      self = .encryptionChange(
        try reader.errorCode(), try HCI.ConnectionHandle(from: &reader), enabled: try reader.uint8())
    case HCI.EventCode.readRemoteVersionInformationComplete:
      self = .readRemoteVersionInformationComplete(
        try reader.errorCode(), try HCI.ConnectionHandle(from: &reader),
        HCI.RemoteVersion(
          version: try reader.uint8(), companyIdentifier: try reader.uint16(), subversion: try reader.uint16()))
    case HCI.EventCode.commandComplete:
      let credits = try reader.uint8()
      let opcode = HCI.Opcode(rawValue: try reader.uint16())
      self = .commandComplete(
        credits: credits, opcode, try HCI.ReturnParameters(opcode: opcode, parameters: reader.rest()))
    case HCI.EventCode.commandStatus:
      self = .commandStatus(
        try reader.errorCode(), credits: try reader.uint8(), HCI.Opcode(rawValue: try reader.uint16()))
    case HCI.EventCode.hardwareError: self = .hardwareError(try reader.uint8())
    case HCI.EventCode.numberOfCompletedPackets:
      self = .numberOfCompletedPackets(try HCI.CompletedPackets(from: &reader))
    case HCI.EventCode.dataBufferOverflow: self = .dataBufferOverflow(linkType: try reader.uint8())
    case HCI.EventCode.encryptionKeyRefreshComplete:
      self = .encryptionKeyRefreshComplete(try reader.errorCode(), try HCI.ConnectionHandle(from: &reader))
    case HCI.EventCode.encryptionChangeV2:
      self = .encryptionChangeV2(
        try reader.errorCode(), try HCI.ConnectionHandle(from: &reader), enabled: try reader.uint8(),
        keySize: try reader.uint8())
    case HCI.EventCode.authenticatedPayloadTimeoutExpired:
      self = .authenticatedPayloadTimeoutExpired(try HCI.ConnectionHandle(from: &reader))
    case HCI.EventCode.leMeta: self = try Self.lowEnergy(subevent: try reader.uint8(), &reader)
    default: self = .unknown(code: code, reader.rest())
    }
  }

  // Inlined to avoid a copy of the event on return.
  @inline(__always)
  private static func lowEnergy(subevent: UInt8, _ reader: inout ByteReader) throws(DecodingError) -> Self {
    switch subevent {
    case HCI.SubeventCode.connectionComplete:
      return .leConnectionComplete(try HCI.ConnectionComplete(from: &reader, isEnhanced: false))
    case HCI.SubeventCode.advertisingReport: return .leAdvertisingReport(try HCI.AdvertisingReports(from: &reader))
    case HCI.SubeventCode.connectionUpdateComplete:
      return .leConnectionUpdateComplete(
        try reader.errorCode(), try HCI.ConnectionHandle(from: &reader), try HCI.ConnectionValues(from: &reader))
    case HCI.SubeventCode.readRemoteFeaturesComplete:
      return .leReadRemoteFeaturesComplete(
        try reader.errorCode(), try HCI.ConnectionHandle(from: &reader),
        HCI.LEFeatures(rawValue: try reader.uint64()))
    case HCI.SubeventCode.longTermKeyRequest:
      return .leLongTermKeyRequest(
        try HCI.ConnectionHandle(from: &reader), random: try reader.uint64(),
        encryptedDiversifier: try reader.uint16())
    case HCI.SubeventCode.remoteConnectionParameterRequest:
      return .leRemoteConnectionParameterRequest(
        try HCI.ConnectionHandle(from: &reader), try ConnectionParameters(from: &reader))
    case HCI.SubeventCode.dataLengthChange:
      return .leDataLengthChange(
        try HCI.ConnectionHandle(from: &reader), transmit: try HCI.DataLength(from: &reader),
        receive: try HCI.DataLength(from: &reader))
    case HCI.SubeventCode.readLocalP256PublicKeyComplete:
      return .leReadLocalP256PublicKeyComplete(try reader.errorCode(), try reader.take(64))
    case HCI.SubeventCode.generateDHKeyComplete:
      return .leGenerateDHKeyComplete(try reader.errorCode(), try reader.take(32))
    case HCI.SubeventCode.enhancedConnectionComplete:
      return .leEnhancedConnectionComplete(try HCI.ConnectionComplete(from: &reader, isEnhanced: true))
    case HCI.SubeventCode.phyUpdateComplete:
      return .lePHYUpdateComplete(
        try reader.errorCode(), try HCI.ConnectionHandle(from: &reader), transmit: try reader.uint8(),
        receive: try reader.uint8())
    case HCI.SubeventCode.extendedAdvertisingReport:
      return .leExtendedAdvertisingReport(try HCI.ExtendedAdvertisingReports(from: &reader))
    case HCI.SubeventCode.scanTimeout: return .leScanTimeout
    case HCI.SubeventCode.advertisingSetTerminated:
      return .leAdvertisingSetTerminated(
        try reader.errorCode(), try HCI.AdvertisingHandle(from: &reader), try HCI.ConnectionHandle(from: &reader),
        completedEvents: try reader.uint8())
    case HCI.SubeventCode.scanRequestReceived:
      return .leScanRequestReceived(
        try HCI.AdvertisingHandle(from: &reader), scanner: try HCI.PeerAddress(from: &reader))
    case HCI.SubeventCode.channelSelectionAlgorithm:
      return .leChannelSelectionAlgorithm(try HCI.ConnectionHandle(from: &reader), try reader.uint8())
    case HCI.SubeventCode.directedAdvertisingReport:
      return .leDirectedAdvertisingReport(try HCI.DirectedAdvertisingReport(from: &reader))
    case HCI.SubeventCode.periodicAdvertisingSyncEstablished:
      return .lePeriodicAdvertisingSyncEstablished(try reader.errorCode(), try HCI.PeriodicSync(from: &reader))
    case HCI.SubeventCode.periodicAdvertisingReport:
      return .lePeriodicAdvertisingReport(try HCI.PeriodicAdvertisingReport(from: &reader))
    case HCI.SubeventCode.periodicAdvertisingSyncLost:
      return .lePeriodicAdvertisingSyncLost(try HCI.SyncHandle(from: &reader))
    case HCI.SubeventCode.periodicAdvertisingSyncTransferReceived:
      return .lePeriodicAdvertisingSyncTransferReceived(
        try reader.errorCode(), try HCI.ConnectionHandle(from: &reader), serviceData: try reader.uint16(),
        try HCI.PeriodicSync(from: &reader))
    case HCI.SubeventCode.requestPeerSCAComplete:
      return .leRequestPeerSCAComplete(
        try reader.errorCode(), try HCI.ConnectionHandle(from: &reader), clockAccuracy: try reader.uint8())
    default: return .unknownLE(subevent: subevent, reader.rest())
    }
  }

  /// The event code; LE Meta for all cases that begin with `le`.
  package var code: UInt8 {
    switch self {
    case .disconnectionComplete: HCI.EventCode.disconnectionComplete
    case .encryptionChange: HCI.EventCode.encryptionChange
    case .readRemoteVersionInformationComplete: HCI.EventCode.readRemoteVersionInformationComplete
    case .commandComplete: HCI.EventCode.commandComplete
    case .commandStatus: HCI.EventCode.commandStatus
    case .hardwareError: HCI.EventCode.hardwareError
    case .numberOfCompletedPackets: HCI.EventCode.numberOfCompletedPackets
    case .dataBufferOverflow: HCI.EventCode.dataBufferOverflow
    case .encryptionKeyRefreshComplete: HCI.EventCode.encryptionKeyRefreshComplete
    case .encryptionChangeV2: HCI.EventCode.encryptionChangeV2
    case .authenticatedPayloadTimeoutExpired: HCI.EventCode.authenticatedPayloadTimeoutExpired
    case .unknown(let code, _): code
    default: HCI.EventCode.leMeta
    }
  }

  /// Returns the Event packet, with its parameters in a storage of `pool`.
  package func packet(in pool: PacketPool) -> HCI.Packet {
    var writer = ByteWriter(pool, capacity: 255, headroom: 0)
    encodeParameters(into: &writer)
    return .event(code: code, parameters: writer.finish())
  }

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
    case .unknown(_, let parameters): writer.append(parameters.prefix(255))
    default: encodeLowEnergy(into: &writer)
    }
  }

  private func encodeLowEnergy(into writer: inout ByteWriter) {
    switch self {
    case .leConnectionComplete(let complete):
      writer.append(HCI.SubeventCode.connectionComplete)
      complete.encode(into: &writer, isEnhanced: false)
    case .leEnhancedConnectionComplete(let complete):
      writer.append(HCI.SubeventCode.enhancedConnectionComplete)
      complete.encode(into: &writer, isEnhanced: true)
    case .leAdvertisingReport(let reports):
      writer.append(HCI.SubeventCode.advertisingReport)
      reports.encode(into: &writer)
    case .leConnectionUpdateComplete(let status, let handle, let values):
      writer.append(HCI.SubeventCode.connectionUpdateComplete)
      writer.append(status)
      writer.append(handle)
      values.encode(into: &writer)
    case .leReadRemoteFeaturesComplete(let status, let handle, let features):
      writer.append(HCI.SubeventCode.readRemoteFeaturesComplete)
      writer.append(status)
      writer.append(handle)
      writer.append(features.rawValue)
    case .leLongTermKeyRequest(let handle, let random, let diversifier):
      writer.append(HCI.SubeventCode.longTermKeyRequest)
      writer.append(handle)
      writer.append(random)
      writer.append(diversifier)
    case .leRemoteConnectionParameterRequest(let handle, let parameters):
      writer.append(HCI.SubeventCode.remoteConnectionParameterRequest)
      writer.append(handle)
      parameters.encode(into: &writer)
    case .leDataLengthChange(let handle, let transmit, let receive):
      writer.append(HCI.SubeventCode.dataLengthChange)
      writer.append(handle)
      transmit.encode(into: &writer)
      receive.encode(into: &writer)
    case .leReadLocalP256PublicKeyComplete(let status, let octets):
      writer.append(HCI.SubeventCode.readLocalP256PublicKeyComplete)
      writer.append(status)
      writer.append(octets.prefix(64))
    case .leGenerateDHKeyComplete(let status, let octets):
      writer.append(HCI.SubeventCode.generateDHKeyComplete)
      writer.append(status)
      writer.append(octets.value.prefix(32))
    case .lePHYUpdateComplete(let status, let handle, let transmit, let receive):
      writer.append(HCI.SubeventCode.phyUpdateComplete)
      writer.append(status)
      writer.append(handle)
      writer.append(transmit)
      writer.append(receive)
    case .leExtendedAdvertisingReport(let reports):
      writer.append(HCI.SubeventCode.extendedAdvertisingReport)
      reports.encode(into: &writer)
    case .leScanTimeout: writer.append(HCI.SubeventCode.scanTimeout)
    case .leAdvertisingSetTerminated(let status, let advertisingHandle, let handle, let events):
      writer.append(HCI.SubeventCode.advertisingSetTerminated)
      writer.append(status)
      writer.append(advertisingHandle.rawValue)
      writer.append(handle)
      writer.append(events)
    case .leChannelSelectionAlgorithm(let handle, let algorithm):
      writer.append(HCI.SubeventCode.channelSelectionAlgorithm)
      writer.append(handle)
      writer.append(algorithm)
    case .leScanRequestReceived(let advertisingHandle, let scanner):
      writer.append(HCI.SubeventCode.scanRequestReceived)
      writer.append(advertisingHandle.rawValue)
      scanner.encode(into: &writer)
    case .leDirectedAdvertisingReport(let report):
      writer.append(HCI.SubeventCode.directedAdvertisingReport)
      report.encode(into: &writer)
    case .lePeriodicAdvertisingSyncEstablished(let status, let sync):
      writer.append(HCI.SubeventCode.periodicAdvertisingSyncEstablished)
      writer.append(status)
      sync.encode(into: &writer)
    case .lePeriodicAdvertisingReport(let report):
      writer.append(HCI.SubeventCode.periodicAdvertisingReport)
      report.encode(into: &writer)
    case .lePeriodicAdvertisingSyncLost(let sync):
      writer.append(HCI.SubeventCode.periodicAdvertisingSyncLost)
      writer.append(sync.rawValue)
    case .lePeriodicAdvertisingSyncTransferReceived(let status, let handle, let serviceData, let sync):
      writer.append(HCI.SubeventCode.periodicAdvertisingSyncTransferReceived)
      writer.append(status)
      writer.append(handle)
      writer.append(serviceData)
      sync.encode(into: &writer)
    case .leRequestPeerSCAComplete(let status, let handle, let accuracy):
      writer.append(HCI.SubeventCode.requestPeerSCAComplete)
      writer.append(status)
      writer.append(handle)
      writer.append(accuracy)
    case .unknownLE(let subevent, let parameters):
      writer.append(subevent)
      writer.append(parameters.prefix(254))
    default: break
    }
  }
}
