extension LL.ControlPDU {
  /// Decodes the payload of a data PDU with LLID 0b11: opcode and CtrData.
  ///
  /// - Throws: `unknown` with the opcode if `LL.ControlOpcode` does not have it; `truncated` or `excess` if the
  ///   length does not match the opcode. Values are not validated.
  package init(payload: ByteSlice) throws(DecodingError) {
    var reader = ByteReader(payload)
    let code = try reader.uint8()
    guard let opcode = LL.ControlOpcode(rawValue: code) else { throw .unknown(code: UInt16(code)) }
    guard reader.remaining >= opcode.dataLength else { throw .truncated }
    guard reader.remaining == opcode.dataLength else { throw .excess }
    switch opcode {
    case .connectionUpdateInd:
      self = .connectionUpdateInd(try LL.ConnectionTiming(from: &reader), instant: try reader.uint16())
    case .channelMapInd: self = .channelMapInd(try ChannelMap(from: &reader), instant: try reader.uint16())
    case .terminateInd: self = .terminateInd(HCI.ErrorCode(rawValue: try reader.uint8()))
    case .encReq:
      self = .encReq(
        random: try reader.uint64(), encryptedDiversifier: try reader.uint16(), try LL.SessionPart(from: &reader))
    case .encRsp: self = .encRsp(try LL.SessionPart(from: &reader))
    case .startEncReq: self = .startEncReq
    case .startEncRsp: self = .startEncRsp
    case .unknownRsp: self = .unknownRsp(try reader.uint8())
    case .featureReq: self = .featureReq(try reader.uint64())
    case .featureRsp: self = .featureRsp(try reader.uint64())
    case .pauseEncReq: self = .pauseEncReq
    case .pauseEncRsp: self = .pauseEncRsp
    case .versionInd:
      self = .versionInd(
        LL.VersionInformation(
          version: try reader.uint8(), company: try reader.uint16(), subversion: try reader.uint16()))
    case .rejectInd: self = .rejectInd(HCI.ErrorCode(rawValue: try reader.uint8()))
    case .peripheralFeatureReq: self = .peripheralFeatureReq(try reader.uint64())
    case .connectionParamReq: self = .connectionParamReq(try LL.ConnectionParameterProposal(from: &reader))
    case .connectionParamRsp: self = .connectionParamRsp(try LL.ConnectionParameterProposal(from: &reader))
    case .rejectExtInd:
      self = .rejectExtInd(opcode: try reader.uint8(), HCI.ErrorCode(rawValue: try reader.uint8()))
    case .pingReq: self = .pingReq
    case .pingRsp: self = .pingRsp
    case .lengthReq: self = .lengthReq(try LL.DataLengths(from: &reader))
    case .lengthRsp: self = .lengthRsp(try LL.DataLengths(from: &reader))
    case .phyReq: self = .phyReq(try LL.PHYPreferences(from: &reader))
    case .phyRsp: self = .phyRsp(try LL.PHYPreferences(from: &reader))
    case .phyUpdateInd: self = .phyUpdateInd(try LL.PHYUpdate(from: &reader), instant: try reader.uint16())
    case .minUsedChannelsInd: self = .minUsedChannelsInd(try LL.MinimumUsedChannels(from: &reader))
    case .periodicSyncInd: self = .periodicSyncInd(try LL.PeriodicSyncTransfer(from: &reader))
    case .clockAccuracyReq: self = .clockAccuracyReq(try LL.SleepClockAccuracy(octet: reader.uint8()))
    case .clockAccuracyRsp: self = .clockAccuracyRsp(try LL.SleepClockAccuracy(octet: reader.uint8()))
    case .channelReportingInd: self = .channelReportingInd(try LL.ChannelReporting(from: &reader))
    case .channelStatusInd: self = .channelStatusInd(try LL.ChannelStatus(from: &reader))
    }
  }

  /// Appends opcode and CtrData.
  package func encode(into writer: inout ByteWriter) {
    writer.append(opcode.rawValue)
    switch self {
    case .connectionUpdateInd(let timing, let instant):
      timing.encode(into: &writer)
      writer.append(instant)
    case .channelMapInd(let map, let instant):
      map.encode(into: &writer)
      writer.append(instant)
    case .terminateInd(let reason), .rejectInd(let reason): writer.append(reason.rawValue)
    case .encReq(let random, let diversifier, let part):
      writer.append(random)
      writer.append(diversifier)
      part.encode(into: &writer)
    case .encRsp(let part): part.encode(into: &writer)
    case .startEncReq, .startEncRsp, .pauseEncReq, .pauseEncRsp, .pingReq, .pingRsp: break
    case .unknownRsp(let opcode): writer.append(opcode)
    case .featureReq(let features), .featureRsp(let features), .peripheralFeatureReq(let features):
      writer.append(features)
    case .versionInd(let information):
      writer.append(information.version)
      writer.append(information.company)
      writer.append(information.subversion)
    case .connectionParamReq(let proposal), .connectionParamRsp(let proposal): proposal.encode(into: &writer)
    case .rejectExtInd(let opcode, let reason):
      writer.append(opcode)
      writer.append(reason.rawValue)
    case .lengthReq(let lengths), .lengthRsp(let lengths): lengths.encode(into: &writer)
    case .phyReq(let preferences), .phyRsp(let preferences): preferences.encode(into: &writer)
    case .phyUpdateInd(let update, let instant):
      update.encode(into: &writer)
      writer.append(instant)
    case .minUsedChannelsInd(let minimum): minimum.encode(into: &writer)
    case .periodicSyncInd(let transfer): transfer.encode(into: &writer)
    case .clockAccuracyReq(let accuracy), .clockAccuracyRsp(let accuracy): writer.append(accuracy.rawValue)
    case .channelReportingInd(let reporting): reporting.encode(into: &writer)
    case .channelStatusInd(let status): status.encode(into: &writer)
    }
  }

  /// Returns the payload of a data PDU with LLID 0b11.
  package func payload(in pool: PacketPool) -> ByteSlice {
    var writer = ByteWriter(pool)
    encode(into: &writer)
    return writer.finish()
  }
}
