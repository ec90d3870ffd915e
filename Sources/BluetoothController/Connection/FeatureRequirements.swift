import BluetoothWire

extension HCI.LEFeatures {
  /// True if a device with these features supports the LL Control PDU · Vol 6, Part B, 2.4.2, 4.6.
  func allow(_ opcode: LL.ControlOpcode) -> Bool {
    let needed: HCI.LEFeatures
    switch opcode {
    case .encReq, .encRsp, .startEncReq, .startEncRsp, .pauseEncReq, .pauseEncRsp: needed = .encryption
    case .peripheralFeatureReq: needed = .peripheralInitiatedFeaturesExchange
    case .connectionParamReq, .connectionParamRsp: needed = .connectionParametersRequestProcedure
    case .rejectExtInd: needed = .extendedRejectIndication
    case .pingReq, .pingRsp: needed = .ping
    case .lengthReq, .lengthRsp: needed = .dataPacketLengthExtension
    case .phyReq, .phyRsp, .phyUpdateInd: needed = [.le2MPHY, .leCodedPHY]
    case .minUsedChannelsInd: needed = .minimumNumberOfUsedChannels
    case .periodicSyncInd: needed = .periodicAdvertisingSyncTransferRecipient
    case .clockAccuracyReq, .clockAccuracyRsp: needed = .sleepClockAccuracyUpdates
    case .channelReportingInd, .channelStatusInd: needed = .channelClassification
    default: return true
    }
    return !isDisjoint(with: needed)
  }
}
