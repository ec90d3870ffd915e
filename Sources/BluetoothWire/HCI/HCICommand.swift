extension HCI {
  /// An HCI command from a host to its controller · Vol 4, Part E, 7.
  package enum Command: Hashable, Sendable {
    // Link Control
    /// Disconnect · 7.1.6
    case disconnect(ConnectionHandle, reason: ErrorCode)
    /// Read Remote Version Information · 7.1.23
    case readRemoteVersionInformation(ConnectionHandle)

    // Controller & Baseband
    /// Set Event Mask · 7.3.1
    case setEventMask(EventMask)
    /// Reset · 7.3.2
    case reset
    /// Read Transmit Power Level · 7.3.35; the maximum level if `isMaximum`, else the current one.
    case readTransmitPowerLevel(ConnectionHandle, isMaximum: Bool)
    /// Set Controller To Host Flow Control · 7.3.38
    case setControllerToHostFlowControl(FlowControl)
    /// Host Buffer Size · 7.3.39
    case hostBufferSize(BufferSize)
    /// Host Number Of Completed Packets · 7.3.40; the controller responds only if the command is invalid.
    case hostNumberOfCompletedPackets(CompletedPackets)
    /// Set Event Mask Page 2 · 7.3.69
    case setEventMaskPage2(EventMaskPage2)
    /// Read LE Host Support · 7.3.78
    case readLEHostSupport
    /// Write LE Host Support · 7.3.79
    case writeLEHostSupport(Bool)
    /// Read Authenticated Payload Timeout · 7.3.93
    case readAuthenticatedPayloadTimeout(ConnectionHandle)
    /// Write Authenticated Payload Timeout · 7.3.94; units of 10 ms.
    case writeAuthenticatedPayloadTimeout(ConnectionHandle, UInt16)

    // Informational Parameters
    /// Read Local Version Information · 7.4.1
    case readLocalVersionInformation
    /// Read Local Supported Commands · 7.4.2
    case readLocalSupportedCommands
    /// Read Local Supported Features · 7.4.3
    case readLocalSupportedFeatures
    /// Read Local Extended Features · 7.4.4
    case readLocalExtendedFeatures(page: UInt8)
    /// Read Buffer Size · 7.4.5
    case readBufferSize
    /// Read BD_ADDR · 7.4.6
    case readBDADDR

    // Status Parameters
    /// Read RSSI · 7.5.4
    case readRSSI(ConnectionHandle)

    // LE Controller
    /// LE Set Event Mask · 7.8.1
    case leSetEventMask(LEEventMask)
    /// LE Read Buffer Size [v1] · 7.8.2
    case leReadBufferSize
    /// LE Read Local Supported Features · 7.8.3
    case leReadLocalSupportedFeatures
    /// LE Set Random Address · 7.8.4; 48 bits.
    case leSetRandomAddress(UInt64)
    /// LE Set Advertising Parameters · 7.8.5
    case leSetAdvertisingParameters(AdvertisingParameters)
    /// LE Read Advertising Physical Channel Tx Power · 7.8.6
    case leReadAdvertisingPhysicalChannelTxPower
    /// LE Set Advertising Data · 7.8.7; at most 31 octets.
    case leSetAdvertisingData(ByteSlice)
    /// LE Set Scan Response Data · 7.8.8; at most 31 octets.
    case leSetScanResponseData(ByteSlice)
    /// LE Set Advertising Enable · 7.8.9
    case leSetAdvertisingEnable(Bool)
    /// LE Set Scan Parameters · 7.8.10
    case leSetScanParameters(ScanParameters)
    /// LE Set Scan Enable · 7.8.11
    case leSetScanEnable(Bool, filterDuplicates: Bool)
    /// LE Create Connection · 7.8.12
    case leCreateConnection(CreateConnection)
    /// LE Create Connection Cancel · 7.8.13
    case leCreateConnectionCancel
    /// LE Read Filter Accept List Size · 7.8.14
    case leReadFilterAcceptListSize
    /// LE Clear Filter Accept List · 7.8.15
    case leClearFilterAcceptList
    /// LE Add Device To Filter Accept List · 7.8.16
    case leAddDeviceToFilterAcceptList(PeerAddress)
    /// LE Remove Device From Filter Accept List · 7.8.17
    case leRemoveDeviceFromFilterAcceptList(PeerAddress)
    /// LE Connection Update · 7.8.18
    case leConnectionUpdate(ConnectionHandle, ConnectionParameters, ConnectionEventLength)
    /// LE Set Host Channel Classification · 7.8.19; bit n stands for data channel n.
    case leSetHostChannelClassification(UInt64)
    /// LE Read Channel Map · 7.8.20
    case leReadChannelMap(ConnectionHandle)
    /// LE Read Remote Features · 7.8.21
    case leReadRemoteFeatures(ConnectionHandle)
    /// LE Encrypt · 7.8.22
    case leEncrypt(key: Secret<UInt128>, plaintext: Secret<UInt128>)
    /// LE Rand · 7.8.23
    case leRand
    /// LE Enable Encryption · 7.8.24
    case leEnableEncryption(
      ConnectionHandle, random: UInt64, encryptedDiversifier: UInt16, longTermKey: Secret<UInt128>)
    /// LE Long Term Key Request Reply · 7.8.25
    case leLongTermKeyRequestReply(ConnectionHandle, longTermKey: Secret<UInt128>)
    /// LE Long Term Key Request Negative Reply · 7.8.26
    case leLongTermKeyRequestNegativeReply(ConnectionHandle)
    /// LE Read Supported States · 7.8.27
    case leReadSupportedStates
    /// LE Remote Connection Parameter Request Reply · 7.8.31
    case leRemoteConnectionParameterRequestReply(ConnectionHandle, ConnectionParameters, ConnectionEventLength)
    /// LE Remote Connection Parameter Request Negative Reply · 7.8.32
    case leRemoteConnectionParameterRequestNegativeReply(ConnectionHandle, reason: ErrorCode)
    /// LE Set Data Length · 7.8.33
    case leSetDataLength(ConnectionHandle, DataLength)
    /// LE Read Suggested Default Data Length · 7.8.34
    case leReadSuggestedDefaultDataLength
    /// LE Write Suggested Default Data Length · 7.8.35
    case leWriteSuggestedDefaultDataLength(DataLength)
    /// LE Read Local P-256 Public Key · 7.8.36
    case leReadLocalP256PublicKey
    /// LE Generate DHKey [v1] · 7.8.37; the coordinates X and Y, 32 octets each, least significant octet first.
    case leGenerateDHKey(ByteSlice)
    /// LE Add Device To Resolving List · 7.8.38
    case leAddDeviceToResolvingList(PeerAddress, peerIRK: Secret<UInt128>, localIRK: Secret<UInt128>)
    /// LE Remove Device From Resolving List · 7.8.39
    case leRemoveDeviceFromResolvingList(PeerAddress)
    /// LE Clear Resolving List · 7.8.40
    case leClearResolvingList
    /// LE Read Resolving List Size · 7.8.41
    case leReadResolvingListSize
    /// LE Read Peer Resolvable Address · 7.8.42
    case leReadPeerResolvableAddress(PeerAddress)
    /// LE Read Local Resolvable Address · 7.8.43
    case leReadLocalResolvableAddress(PeerAddress)
    /// LE Set Address Resolution Enable · 7.8.44
    case leSetAddressResolutionEnable(Bool)
    /// LE Set Resolvable Private Address Timeout · 7.8.45; in seconds.
    case leSetResolvablePrivateAddressTimeout(UInt16)
    /// LE Read Maximum Data Length · 7.8.46
    case leReadMaximumDataLength
    /// LE Read PHY · 7.8.47
    case leReadPHY(ConnectionHandle)
    /// LE Set Default PHY · 7.8.48
    case leSetDefaultPHY(PHYPreference)
    /// LE Set PHY · 7.8.49
    case leSetPHY(ConnectionHandle, PHYPreference, options: UInt16)

    // Extended advertising, scanning and initiating
    /// LE Set Advertising Set Random Address · 7.8.52; 48 bits.
    case leSetAdvertisingSetRandomAddress(AdvertisingHandle, UInt64)
    /// LE Set Extended Advertising Parameters [v1] · 7.8.53
    case leSetExtendedAdvertisingParameters(ExtendedAdvertisingParameters)
    /// LE Set Extended Advertising Parameters [v2] · 7.8.53
    case leSetExtendedAdvertisingParametersV2(ExtendedAdvertisingParameters)
    /// LE Set Extended Advertising Data · 7.8.54
    case leSetExtendedAdvertisingData(AdvertisingHandle, AdvertisingDataFragment)
    /// LE Set Extended Scan Response Data · 7.8.55
    case leSetExtendedScanResponseData(AdvertisingHandle, AdvertisingDataFragment)
    /// LE Set Extended Advertising Enable · 7.8.56
    case leSetExtendedAdvertisingEnable(Bool, AdvertisingSetEnables)
    /// LE Read Maximum Advertising Data Length · 7.8.57
    case leReadMaximumAdvertisingDataLength
    /// LE Read Number of Supported Advertising Sets · 7.8.58
    case leReadNumberOfSupportedAdvertisingSets
    /// LE Remove Advertising Set · 7.8.59
    case leRemoveAdvertisingSet(AdvertisingHandle)
    /// LE Clear Advertising Sets · 7.8.60
    case leClearAdvertisingSets
    /// LE Set Extended Scan Parameters · 7.8.64
    case leSetExtendedScanParameters(ExtendedScanParameters)
    /// LE Set Extended Scan Enable · 7.8.65
    case leSetExtendedScanEnable(ExtendedScanEnable)
    /// LE Extended Create Connection [v1] · 7.8.66
    case leExtendedCreateConnection(ExtendedCreateConnection)

    // Periodic advertising
    /// LE Set Periodic Advertising Parameters [v1] · 7.8.61
    case leSetPeriodicAdvertisingParameters(PeriodicAdvertisingParameters)
    /// LE Set Periodic Advertising Data · 7.8.62
    case leSetPeriodicAdvertisingData(AdvertisingHandle, AdvertisingDataFragment)
    /// LE Set Periodic Advertising Enable · 7.8.63
    case leSetPeriodicAdvertisingEnable(PeriodicAdvertisingEnable, AdvertisingHandle)
    /// LE Periodic Advertising Create Sync · 7.8.67
    case lePeriodicAdvertisingCreateSync(PeriodicAdvertisingCreateSync)
    /// LE Periodic Advertising Create Sync Cancel · 7.8.68
    case lePeriodicAdvertisingCreateSyncCancel
    /// LE Periodic Advertising Terminate Sync · 7.8.69
    case lePeriodicAdvertisingTerminateSync(SyncHandle)
    /// LE Add Device To Periodic Advertiser List · 7.8.70
    case leAddDeviceToPeriodicAdvertiserList(PeriodicAdvertiser)
    /// LE Remove Device From Periodic Advertiser List · 7.8.71
    case leRemoveDeviceFromPeriodicAdvertiserList(PeriodicAdvertiser)
    /// LE Clear Periodic Advertiser List · 7.8.72
    case leClearPeriodicAdvertiserList
    /// LE Read Periodic Advertiser List Size · 7.8.73
    case leReadPeriodicAdvertiserListSize
    /// LE Set Periodic Advertising Receive Enable · 7.8.88
    case leSetPeriodicAdvertisingReceiveEnable(SyncHandle, PeriodicAdvertisingReceiveEnable)
    /// LE Periodic Advertising Sync Transfer · 7.8.89
    case lePeriodicAdvertisingSyncTransfer(ConnectionHandle, serviceData: UInt16, SyncHandle)
    /// LE Periodic Advertising Set Info Transfer · 7.8.90
    case lePeriodicAdvertisingSetInfoTransfer(ConnectionHandle, serviceData: UInt16, AdvertisingHandle)
    /// LE Set Periodic Advertising Sync Transfer Parameters · 7.8.91
    case leSetPeriodicAdvertisingSyncTransferParameters(ConnectionHandle, SyncTransferParameters)
    /// LE Set Default Periodic Advertising Sync Transfer Parameters · 7.8.92
    case leSetDefaultPeriodicAdvertisingSyncTransferParameters(SyncTransferParameters)

    // Power, privacy, clocks, features
    /// LE Read Transmit Power · 7.8.74
    case leReadTransmitPower
    /// LE Read RF Path Compensation · 7.8.75
    case leReadRFPathCompensation
    /// LE Write RF Path Compensation · 7.8.76; units of 0.1 dB, -1280 to 1280.
    case leWriteRFPathCompensation(transmit: Int16, receive: Int16)
    /// LE Set Privacy Mode · 7.8.77; true for device privacy mode, false for network privacy mode.
    case leSetPrivacyMode(PeerAddress, isDevicePrivacy: Bool)
    /// LE Generate DHKey [v2] · 7.8.37; the coordinates as in v1. If `usesDebugKey`, the private key is the debug
    /// key.
    case leGenerateDHKeyV2(ByteSlice, usesDebugKey: Bool)
    /// LE Modify Sleep Clock Accuracy · 7.8.94
    case leModifySleepClockAccuracy(isLessAccurate: Bool)
    /// LE Read Buffer Size [v2] · 7.8.2
    case leReadBufferSizeV2
    /// LE Request Peer SCA · 7.8.108
    case leRequestPeerSCA(ConnectionHandle)
    /// LE Set Host Feature [v1] · 7.8.115; the number of the bit in the LE features, and its value.
    case leSetHostFeature(bit: UInt8, Bool)
    /// LE Set Data Related Address Changes · 7.8.122
    case leSetDataRelatedAddressChanges(AdvertisingHandle, AddressChangeReasons)

    /// A command without a case in this type.
    case unknown(Opcode, ByteSlice)
  }
}

extension HCI.Command {
  package var opcode: HCI.Opcode { heading.opcode }

  /// The link to which the command belongs; nil: none. Host Number Of Completed Packets, which can name several links,
  /// has none.
  package var connection: HCI.ConnectionHandle? { heading.connection }

  /// The properties of a command that do not depend on its other parameters.
  private struct Heading {
    let opcode: HCI.Opcode
    let connection: HCI.ConnectionHandle?

    init(_ code: HCI.CommandCode, on connection: HCI.ConnectionHandle? = nil) {
      opcode = HCI.Opcode(code)
      self.connection = connection
    }

    init(_ opcode: HCI.Opcode) {
      self.opcode = opcode
      connection = nil
    }
  }

  private var heading: Heading {
    switch self {
    // Link Control
    case .disconnect(let handle, _): .init(.disconnect, on: handle)
    case .readRemoteVersionInformation(let handle): .init(.readRemoteVersionInformation, on: handle)
    // Controller & Baseband
    case .setEventMask: .init(.setEventMask)
    case .reset: .init(.reset)
    case .readTransmitPowerLevel(let handle, _): .init(.readTransmitPowerLevel, on: handle)
    case .setControllerToHostFlowControl: .init(.setControllerToHostFlowControl)
    case .hostBufferSize: .init(.hostBufferSize)
    case .hostNumberOfCompletedPackets: .init(.hostNumberOfCompletedPackets)
    case .setEventMaskPage2: .init(.setEventMaskPage2)
    case .readLEHostSupport: .init(.readLEHostSupport)
    case .writeLEHostSupport: .init(.writeLEHostSupport)
    case .readAuthenticatedPayloadTimeout(let handle): .init(.readAuthenticatedPayloadTimeout, on: handle)
    case .writeAuthenticatedPayloadTimeout(let handle, _): .init(.writeAuthenticatedPayloadTimeout, on: handle)
    // Informational Parameters
    case .readLocalVersionInformation: .init(.readLocalVersionInformation)
    case .readLocalSupportedCommands: .init(.readLocalSupportedCommands)
    case .readLocalSupportedFeatures: .init(.readLocalSupportedFeatures)
    case .readLocalExtendedFeatures: .init(.readLocalExtendedFeatures)
    case .readBufferSize: .init(.readBufferSize)
    case .readBDADDR: .init(.readBDADDR)
    // Status Parameters
    case .readRSSI(let handle): .init(.readRSSI, on: handle)
    // LE Controller
    case .leSetEventMask: .init(.leSetEventMask)
    case .leReadBufferSize: .init(.leReadBufferSize)
    case .leReadLocalSupportedFeatures: .init(.leReadLocalSupportedFeatures)
    case .leSetRandomAddress: .init(.leSetRandomAddress)
    case .leSetAdvertisingParameters: .init(.leSetAdvertisingParameters)
    case .leReadAdvertisingPhysicalChannelTxPower: .init(.leReadAdvertisingPhysicalChannelTxPower)
    case .leSetAdvertisingData: .init(.leSetAdvertisingData)
    case .leSetScanResponseData: .init(.leSetScanResponseData)
    case .leSetAdvertisingEnable: .init(.leSetAdvertisingEnable)
    case .leSetScanParameters: .init(.leSetScanParameters)
    case .leSetScanEnable: .init(.leSetScanEnable)
    case .leCreateConnection: .init(.leCreateConnection)
    case .leCreateConnectionCancel: .init(.leCreateConnectionCancel)
    case .leReadFilterAcceptListSize: .init(.leReadFilterAcceptListSize)
    case .leClearFilterAcceptList: .init(.leClearFilterAcceptList)
    case .leAddDeviceToFilterAcceptList: .init(.leAddDeviceToFilterAcceptList)
    case .leRemoveDeviceFromFilterAcceptList: .init(.leRemoveDeviceFromFilterAcceptList)
    case .leConnectionUpdate(let handle, _, _): .init(.leConnectionUpdate, on: handle)
    case .leSetHostChannelClassification: .init(.leSetHostChannelClassification)
    case .leReadChannelMap(let handle): .init(.leReadChannelMap, on: handle)
    case .leReadRemoteFeatures(let handle): .init(.leReadRemoteFeatures, on: handle)
    case .leEncrypt: .init(.leEncrypt)
    case .leRand: .init(.leRand)
    case .leEnableEncryption(let handle, _, _, _): .init(.leEnableEncryption, on: handle)
    case .leLongTermKeyRequestReply(let handle, _): .init(.leLongTermKeyRequestReply, on: handle)
    case .leLongTermKeyRequestNegativeReply(let handle): .init(.leLongTermKeyRequestNegativeReply, on: handle)
    case .leReadSupportedStates: .init(.leReadSupportedStates)
    case .leRemoteConnectionParameterRequestReply(let handle, _, _):
      .init(.leRemoteConnectionParameterRequestReply, on: handle)
    case .leRemoteConnectionParameterRequestNegativeReply(let handle, _):
      .init(.leRemoteConnectionParameterRequestNegativeReply, on: handle)
    case .leSetDataLength(let handle, _): .init(.leSetDataLength, on: handle)
    case .leReadSuggestedDefaultDataLength: .init(.leReadSuggestedDefaultDataLength)
    case .leWriteSuggestedDefaultDataLength: .init(.leWriteSuggestedDefaultDataLength)
    case .leReadLocalP256PublicKey: .init(.leReadLocalP256PublicKey)
    case .leGenerateDHKey: .init(.leGenerateDHKey)
    case .leAddDeviceToResolvingList: .init(.leAddDeviceToResolvingList)
    case .leRemoveDeviceFromResolvingList: .init(.leRemoveDeviceFromResolvingList)
    case .leClearResolvingList: .init(.leClearResolvingList)
    case .leReadResolvingListSize: .init(.leReadResolvingListSize)
    case .leReadPeerResolvableAddress: .init(.leReadPeerResolvableAddress)
    case .leReadLocalResolvableAddress: .init(.leReadLocalResolvableAddress)
    case .leSetAddressResolutionEnable: .init(.leSetAddressResolutionEnable)
    case .leSetResolvablePrivateAddressTimeout: .init(.leSetResolvablePrivateAddressTimeout)
    case .leReadMaximumDataLength: .init(.leReadMaximumDataLength)
    case .leReadPHY(let handle): .init(.leReadPHY, on: handle)
    case .leSetDefaultPHY: .init(.leSetDefaultPHY)
    case .leSetPHY(let handle, _, _): .init(.leSetPHY, on: handle)
    // Extended advertising, scanning and initiating
    case .leSetAdvertisingSetRandomAddress: .init(.leSetAdvertisingSetRandomAddress)
    case .leSetExtendedAdvertisingParameters: .init(.leSetExtendedAdvertisingParameters)
    case .leSetExtendedAdvertisingParametersV2: .init(.leSetExtendedAdvertisingParametersV2)
    case .leSetExtendedAdvertisingData: .init(.leSetExtendedAdvertisingData)
    case .leSetExtendedScanResponseData: .init(.leSetExtendedScanResponseData)
    case .leSetExtendedAdvertisingEnable: .init(.leSetExtendedAdvertisingEnable)
    case .leReadMaximumAdvertisingDataLength: .init(.leReadMaximumAdvertisingDataLength)
    case .leReadNumberOfSupportedAdvertisingSets: .init(.leReadNumberOfSupportedAdvertisingSets)
    case .leRemoveAdvertisingSet: .init(.leRemoveAdvertisingSet)
    case .leClearAdvertisingSets: .init(.leClearAdvertisingSets)
    case .leSetExtendedScanParameters: .init(.leSetExtendedScanParameters)
    case .leSetExtendedScanEnable: .init(.leSetExtendedScanEnable)
    case .leExtendedCreateConnection: .init(.leExtendedCreateConnection)
    // Periodic advertising
    case .leSetPeriodicAdvertisingParameters: .init(.leSetPeriodicAdvertisingParameters)
    case .leSetPeriodicAdvertisingData: .init(.leSetPeriodicAdvertisingData)
    case .leSetPeriodicAdvertisingEnable: .init(.leSetPeriodicAdvertisingEnable)
    case .lePeriodicAdvertisingCreateSync: .init(.lePeriodicAdvertisingCreateSync)
    case .lePeriodicAdvertisingCreateSyncCancel: .init(.lePeriodicAdvertisingCreateSyncCancel)
    case .lePeriodicAdvertisingTerminateSync: .init(.lePeriodicAdvertisingTerminateSync)
    case .leAddDeviceToPeriodicAdvertiserList: .init(.leAddDeviceToPeriodicAdvertiserList)
    case .leRemoveDeviceFromPeriodicAdvertiserList: .init(.leRemoveDeviceFromPeriodicAdvertiserList)
    case .leClearPeriodicAdvertiserList: .init(.leClearPeriodicAdvertiserList)
    case .leReadPeriodicAdvertiserListSize: .init(.leReadPeriodicAdvertiserListSize)
    case .leSetPeriodicAdvertisingReceiveEnable: .init(.leSetPeriodicAdvertisingReceiveEnable)
    case .lePeriodicAdvertisingSyncTransfer(let handle, _, _): .init(.lePeriodicAdvertisingSyncTransfer, on: handle)
    case .lePeriodicAdvertisingSetInfoTransfer(let handle, _, _):
      .init(.lePeriodicAdvertisingSetInfoTransfer, on: handle)
    case .leSetPeriodicAdvertisingSyncTransferParameters(let handle, _):
      .init(.leSetPeriodicAdvertisingSyncTransferParameters, on: handle)
    case .leSetDefaultPeriodicAdvertisingSyncTransferParameters:
      .init(.leSetDefaultPeriodicAdvertisingSyncTransferParameters)
    // Power, privacy, clocks, features
    case .leReadTransmitPower: .init(.leReadTransmitPower)
    case .leReadRFPathCompensation: .init(.leReadRFPathCompensation)
    case .leWriteRFPathCompensation: .init(.leWriteRFPathCompensation)
    case .leSetPrivacyMode: .init(.leSetPrivacyMode)
    case .leGenerateDHKeyV2: .init(.leGenerateDHKeyV2)
    case .leModifySleepClockAccuracy: .init(.leModifySleepClockAccuracy)
    case .leReadBufferSizeV2: .init(.leReadBufferSizeV2)
    case .leRequestPeerSCA(let handle): .init(.leRequestPeerSCA, on: handle)
    case .leSetHostFeature: .init(.leSetHostFeature)
    case .leSetDataRelatedAddressChanges: .init(.leSetDataRelatedAddressChanges)
    case .unknown(let opcode, _): .init(opcode)
    }
  }
}
