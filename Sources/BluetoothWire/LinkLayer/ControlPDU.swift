extension LL {
  /// An LL Control PDU · Vol 6, Part B, 2.4.2. Those of features that this project does not have are not decoded.
  package enum ControlPDU: Hashable, Sendable {
    /// LL_CONNECTION_UPDATE_IND · 2.4.2.1; at connection event `instant`.
    case connectionUpdateInd(ConnectionTiming, instant: UInt16)
    /// LL_CHANNEL_MAP_IND · 2.4.2.2
    case channelMapInd(ChannelMap, instant: UInt16)
    /// LL_TERMINATE_IND · 2.4.2.3
    case terminateInd(HCI.ErrorCode)
    /// LL_ENC_REQ · 2.4.2.4; Rand and EDIV tell the peripheral's host which key is meant.
    case encReq(random: UInt64, encryptedDiversifier: UInt16, SessionPart)
    /// LL_ENC_RSP · 2.4.2.5
    case encRsp(SessionPart)
    /// LL_START_ENC_REQ · 2.4.2.6
    case startEncReq
    /// LL_START_ENC_RSP · 2.4.2.7
    case startEncRsp
    /// LL_UNKNOWN_RSP · 2.4.2.8; the opcode that was not understood.
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
  }

  /// The opcodes of LL Control PDUs · 2.4.2, those that `ControlPDU` has.
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

    /// Octets of CtrData.
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
      }
    }
  }

  /// What each side adds to an encrypted session · 2.4.2.4, 2.4.2.5.
  package struct SessionPart: Hashable, Sendable {
    /// SKDm or SKDs.
    package var diversifier: UInt64
    /// IVm or IVs.
    package var initializationVector: UInt32

    package init(diversifier: UInt64, initializationVector: UInt32) {
      self.diversifier = diversifier
      self.initializationVector = initializationVector
    }
  }

  /// What LL_VERSION_IND tells.
  package struct VersionInformation: Hashable, Sendable {
    package var version: UInt8
    package var company: UInt16
    package var subversion: UInt16

    package init(version: UInt8, company: UInt16, subversion: UInt16) {
      self.version = version
      self.company = company
      self.subversion = subversion
    }
  }

  /// What a device takes and would like to send: octets of payload, 27 to 251, and µs on the air, 328 to 17,040.
  package struct DataLengths: Hashable, Sendable {
    package var maximumReceiveOctets: UInt16
    package var maximumReceiveTime: UInt16
    package var maximumTransmitOctets: UInt16
    package var maximumTransmitTime: UInt16

    package init(
      maximumReceiveOctets: UInt16, maximumReceiveTime: UInt16, maximumTransmitOctets: UInt16,
      maximumTransmitTime: UInt16
    ) {
      self.maximumReceiveOctets = maximumReceiveOctets
      self.maximumReceiveTime = maximumReceiveTime
      self.maximumTransmitOctets = maximumTransmitOctets
      self.maximumTransmitTime = maximumTransmitTime
    }

    /// · 4.5.10
    package var isValid: Bool {
      maximumReceiveOctets >= 27 && maximumTransmitOctets >= 27 && maximumReceiveTime >= 328
        && maximumTransmitTime >= 328
    }
  }

  /// What LL_CONNECTION_PARAM_REQ and its answer say · 2.4.2.16.
  package struct ConnectionParameterProposal: Hashable, Sendable {
    /// Interval_Min to Timeout.
    package var parameters: ConnectionParameters
    /// Units of 1.25 ms; 0: no preference.
    package var preferredPeriodicity: UInt8
    package var referenceConnectionEventCount: UInt16
    /// Offset0 to Offset5, units of 1.25 ms, the first in the low 16 bits of `low`; 0xFFFF: not given.
    package var offsets: Offsets

    package struct Offsets: Hashable, Sendable {
      package var low: UInt64
      package var high: UInt32
      package init(low: UInt64, high: UInt32) {
        self.low = low
        self.high = high
      }
      package static let none = Offsets(low: .max, high: .max)
    }

    package init(
      parameters: ConnectionParameters, preferredPeriodicity: UInt8 = 0, referenceConnectionEventCount: UInt16 = 0,
      offsets: Offsets = .none
    ) {
      self.parameters = parameters
      self.preferredPeriodicity = preferredPeriodicity
      self.referenceConnectionEventCount = referenceConnectionEventCount
      self.offsets = offsets
    }
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
    }
  }
}
