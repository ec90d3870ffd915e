extension LL {
  /// The opcodes of the LL Control PDUs that `ControlPDU` supports · 2.4.2.
  package enum ControlOpcode: UInt8, Hashable, Sendable {
    case connectionUpdateInd = 0x00
    case channelMapInd = 0x01
    case terminateInd = 0x02
    case encReq = 0x03
    case encRsp = 0x04
    case startEncReq = 0x05
    case startEncRsp = 0x06
    case unknownRsp = 0x07
    case featureReq = 0x08
    case featureRsp = 0x09
    case pauseEncReq = 0x0A
    case pauseEncRsp = 0x0B
    case versionInd = 0x0C
    case rejectInd = 0x0D
    case peripheralFeatureReq = 0x0E
    case connectionParamReq = 0x0F
    case connectionParamRsp = 0x10
    case rejectExtInd = 0x11
    case pingReq = 0x12
    case pingRsp = 0x13
    case lengthReq = 0x14
    case lengthRsp = 0x15
    case phyReq = 0x16
    case phyRsp = 0x17
    case phyUpdateInd = 0x18
    case minUsedChannelsInd = 0x19
    case periodicSyncInd = 0x1C
    case clockAccuracyReq = 0x1D
    case clockAccuracyRsp = 0x1E
    case channelReportingInd = 0x28
    case channelStatusInd = 0x29

    /// The length of CtrData in octets. A PDU of any other length is treated as unknown · 2.4.2.
    package var dataLength: Int {
      switch self {
      case .connectionUpdateInd: 11
      case .channelMapInd: 7
      case .terminateInd, .unknownRsp, .rejectInd: 1
      case .featureReq, .featureRsp, .peripheralFeatureReq: 8
      case .versionInd: 5
      case .connectionParamReq, .connectionParamRsp: 23
      case .rejectExtInd: 2
      case .encReq: 22
      case .encRsp: 12
      case .startEncReq, .startEncRsp, .pauseEncReq, .pauseEncRsp, .pingReq, .pingRsp: 0
      case .lengthReq, .lengthRsp: 8
      case .phyReq, .phyRsp, .minUsedChannelsInd: 2
      case .phyUpdateInd: 4
      case .periodicSyncInd: 34
      case .clockAccuracyReq, .clockAccuracyRsp: 1
      case .channelReportingInd: 3
      case .channelStatusInd: 10
      }
    }
  }
}
