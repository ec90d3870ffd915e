extension LL {
  /// An LL Control PDU · Vol 6, Part B, 2.4.2. PDUs of features that this project does not support are not decoded.
  package enum ControlPDU: Hashable, Sendable {
    /// LL_CONNECTION_UPDATE_IND · 2.4.2.1; takes effect at connection event `instant`.
    case connectionUpdateInd(ConnectionTiming, instant: UInt16)
    /// LL_CHANNEL_MAP_IND · 2.4.2.2
    case channelMapInd(ChannelMap, instant: UInt16)
    /// LL_TERMINATE_IND · 2.4.2.3
    case terminateInd(HCI.ErrorCode)
    /// LL_ENC_REQ · 2.4.2.4; Rand and EDIV identify the key for the peripheral's host.
    case encReq(random: UInt64, encryptedDiversifier: UInt16, SessionPart)
    /// LL_ENC_RSP · 2.4.2.5
    case encRsp(SessionPart)
    /// LL_START_ENC_REQ · 2.4.2.6
    case startEncReq
    /// LL_START_ENC_RSP · 2.4.2.7
    case startEncRsp
    /// LL_UNKNOWN_RSP · 2.4.2.8; the unknown opcode.
    case unknownRsp(UInt8)
    /// LL_FEATURE_REQ · 2.4.2.9
    case featureReq(UInt64)
    /// LL_FEATURE_RSP · 2.4.2.10
    case featureRsp(UInt64)
    /// LL_PAUSE_ENC_REQ · 2.4.2.11
    case pauseEncReq
    /// LL_PAUSE_ENC_RSP · 2.4.2.12
    case pauseEncRsp
    /// LL_VERSION_IND · 2.4.2.13
    case versionInd(VersionInformation)
    /// LL_REJECT_IND · 2.4.2.14
    case rejectInd(HCI.ErrorCode)
    /// LL_PERIPHERAL_FEATURE_REQ · 2.4.2.15
    case peripheralFeatureReq(UInt64)
    /// LL_CONNECTION_PARAM_REQ · 2.4.2.16
    case connectionParamReq(ConnectionParameterProposal)
    /// LL_CONNECTION_PARAM_RSP · 2.4.2.17
    case connectionParamRsp(ConnectionParameterProposal)
    /// LL_REJECT_EXT_IND · 2.4.2.18
    case rejectExtInd(opcode: UInt8, HCI.ErrorCode)
    /// LL_PING_REQ · 2.4.2.19
    case pingReq
    /// LL_PING_RSP · 2.4.2.20
    case pingRsp
    /// LL_LENGTH_REQ · 2.4.2.21
    case lengthReq(DataLengths)
    /// LL_LENGTH_RSP · 2.4.2.21
    case lengthRsp(DataLengths)
    /// LL_PHY_REQ · 2.4.2.22
    case phyReq(PHYPreferences)
    /// LL_PHY_RSP · 2.4.2.22
    case phyRsp(PHYPreferences)
    /// LL_PHY_UPDATE_IND · 2.4.2.23; takes effect at connection event `instant`, which is ignored if neither PHY
    /// changes.
    case phyUpdateInd(PHYUpdate, instant: UInt16)
    /// LL_MIN_USED_CHANNELS_IND · 2.4.2.24
    case minUsedChannelsInd(MinimumUsedChannels)
    /// LL_PERIODIC_SYNC_IND · 2.4.2.27
    case periodicSyncInd(PeriodicSyncTransfer)
    /// LL_CLOCK_ACCURACY_REQ · 2.4.2.28; the accuracy of the sender's sleep clock.
    case clockAccuracyReq(SleepClockAccuracy)
    /// LL_CLOCK_ACCURACY_RSP · 2.4.2.28; the accuracy of the sender's sleep clock.
    case clockAccuracyRsp(SleepClockAccuracy)
    /// LL_CHANNEL_REPORTING_IND · 2.4.2.39
    case channelReportingInd(ChannelReporting)
    /// LL_CHANNEL_STATUS_IND · 2.4.2.40
    case channelStatusInd(ChannelStatus)
  }
}

extension LL.ControlPDU {
  package var opcode: LL.ControlOpcode {
    switch self {
    case .connectionUpdateInd: .connectionUpdateInd
    case .channelMapInd: .channelMapInd
    case .terminateInd: .terminateInd
    case .encReq: .encReq
    case .encRsp: .encRsp
    case .startEncReq: .startEncReq
    case .startEncRsp: .startEncRsp
    case .unknownRsp: .unknownRsp
    case .featureReq: .featureReq
    case .featureRsp: .featureRsp
    case .pauseEncReq: .pauseEncReq
    case .pauseEncRsp: .pauseEncRsp
    case .versionInd: .versionInd
    case .rejectInd: .rejectInd
    case .peripheralFeatureReq: .peripheralFeatureReq
    case .connectionParamReq: .connectionParamReq
    case .connectionParamRsp: .connectionParamRsp
    case .rejectExtInd: .rejectExtInd
    case .pingReq: .pingReq
    case .pingRsp: .pingRsp
    case .lengthReq: .lengthReq
    case .lengthRsp: .lengthRsp
    case .phyReq: .phyReq
    case .phyRsp: .phyRsp
    case .phyUpdateInd: .phyUpdateInd
    case .minUsedChannelsInd: .minUsedChannelsInd
    case .periodicSyncInd: .periodicSyncInd
    case .clockAccuracyReq: .clockAccuracyReq
    case .clockAccuracyRsp: .clockAccuracyRsp
    case .channelReportingInd: .channelReportingInd
    case .channelStatusInd: .channelStatusInd
    }
  }
}
