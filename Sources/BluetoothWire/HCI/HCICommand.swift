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
    case leConnectionUpdate(ConnectionHandle, LinkParameters, ConnectionEventLength)
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
    case leRemoteConnectionParameterRequestReply(ConnectionHandle, LinkParameters, ConnectionEventLength)
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
  package var opcode: HCI.Opcode {
    var finder = HCIRowFinder()
    return visit(&finder)
  }

  /// The link to which the command belongs; nil: none. Host Number Of Completed Packets, which can name several links,
  /// has none.
  package var connection: HCI.ConnectionHandle? {
    var finder = HCIFieldFinder<HCI.ConnectionHandle>()
    _ = visit(&finder)
    return finder.found
  }

  /// The fields of the command, for descriptions.
  package var fields: [Any] {
    var list = HCIFieldList()
    _ = visit(&list)
    return list.fields
  }

  /// Decodes a Command packet. An opcode without a row, or whose fields are not decoded, gives `unknown`.
  ///
  /// A controller responds to `truncated`, `excess` and `invalid` with Invalid HCI Command Parameters. It responds to
  /// the error `unknown`, which stands for a value reserved for future use, with Unsupported Feature or Parameter
  /// Value.
  package init(opcode: HCI.Opcode, parameters: ByteSlice) throws(DecodingError) {
    guard let fields = opcode.definition?.fields else {
      self = .unknown(opcode, parameters)
      return
    }
    var reader = ByteReader(parameters)
    self = try fields.decode(&reader)
    try reader.end()
  }

  /// Returns the Command packet, with its parameters in a storage of `pool`.
  package func packet(in pool: PacketPool) -> HCI.Packet {
    var writer = ByteWriter(pool, capacity: 255, headroom: 0)
    let opcode = visit(&writer)
    return .command(opcode: opcode, parameters: writer.finish())
  }
}

extension HCI.Command {
  /// Visits the fields of a command in their order, and returns its opcode.
  private func visit<Visitor: HCIFieldVisitor & ~Copyable>(_ visitor: inout Visitor) -> HCI.Opcode {
    switch self {
    // Link Control
    case .disconnect(let handle, let reason): visitor.visit(HCI.commands.disconnect, handle, reason)
    case .readRemoteVersionInformation(let handle): visitor.visit(HCI.commands.readRemoteVersionInformation, handle)
    // Controller & Baseband
    case .setEventMask(let mask): visitor.visit(HCI.commands.setEventMask, mask)
    case .reset: visitor.visit(HCI.commands.reset)
    case .readTransmitPowerLevel(let handle, let isMaximum):
      visitor.visit(HCI.commands.readTransmitPowerLevel, handle, HCI.Shown(isMaximum) { $0 ? "maximum" : "current" })
    case .setControllerToHostFlowControl(let value): visitor.visit(HCI.commands.setControllerToHostFlowControl, value)
    case .hostBufferSize(let value): visitor.visit(HCI.commands.hostBufferSize, value)
    case .hostNumberOfCompletedPackets(let packets): visitor.visit(HCI.commands.hostNumberOfCompletedPackets, packets)
    case .setEventMaskPage2(let mask): visitor.visit(HCI.commands.setEventMaskPage2, mask)
    case .readLEHostSupport: visitor.visit(HCI.commands.readLEHostSupport)
    case .writeLEHostSupport(let isSupported): visitor.visit(HCI.commands.writeLEHostSupport, isSupported, UInt8(0))
    case .readAuthenticatedPayloadTimeout(let handle):
      visitor.visit(HCI.commands.readAuthenticatedPayloadTimeout, handle)
    case .writeAuthenticatedPayloadTimeout(let handle, let value):
      visitor.visit(HCI.commands.writeAuthenticatedPayloadTimeout, handle, value)
    // Informational Parameters
    case .readLocalVersionInformation: visitor.visit(HCI.commands.readLocalVersionInformation)
    case .readLocalSupportedCommands: visitor.visit(HCI.commands.readLocalSupportedCommands)
    case .readLocalSupportedFeatures: visitor.visit(HCI.commands.readLocalSupportedFeatures)
    case .readLocalExtendedFeatures(let page): visitor.visit(HCI.commands.readLocalExtendedFeatures, page)
    case .readBufferSize: visitor.visit(HCI.commands.readBufferSize)
    case .readBDADDR: visitor.visit(HCI.commands.readBDADDR)
    // Status Parameters
    case .readRSSI(let handle): visitor.visit(HCI.commands.readRSSI, handle)
    // LE Controller
    case .leSetEventMask(let mask): visitor.visit(HCI.commands.leSetEventMask, mask)
    case .leReadBufferSize: visitor.visit(HCI.commands.leReadBufferSize)
    case .leReadLocalSupportedFeatures: visitor.visit(HCI.commands.leReadLocalSupportedFeatures)
    case .leSetRandomAddress(let value): visitor.visit(HCI.commands.leSetRandomAddress, HCI.AddressValue(value))
    case .leSetAdvertisingParameters(let value): visitor.visit(HCI.commands.leSetAdvertisingParameters, value)
    case .leReadAdvertisingPhysicalChannelTxPower: visitor.visit(HCI.commands.leReadAdvertisingPhysicalChannelTxPower)
    case .leSetAdvertisingData(let data):
      visitor.visit(HCI.commands.leSetAdvertisingData, HCI.LegacyAdvertisingData(data))
    case .leSetScanResponseData(let data):
      visitor.visit(HCI.commands.leSetScanResponseData, HCI.LegacyAdvertisingData(data))
    case .leSetAdvertisingEnable(let flag): visitor.visit(HCI.commands.leSetAdvertisingEnable, flag)
    case .leSetScanParameters(let value): visitor.visit(HCI.commands.leSetScanParameters, value)
    case .leSetScanEnable(let isEnabled, let filters):
      visitor.visit(HCI.commands.leSetScanEnable, isEnabled, HCI.Shown(filters) { $0 ? "no duplicates" : "" })
    case .leCreateConnection(let value): visitor.visit(HCI.commands.leCreateConnection, value)
    case .leCreateConnectionCancel: visitor.visit(HCI.commands.leCreateConnectionCancel)
    case .leReadFilterAcceptListSize: visitor.visit(HCI.commands.leReadFilterAcceptListSize)
    case .leClearFilterAcceptList: visitor.visit(HCI.commands.leClearFilterAcceptList)
    case .leAddDeviceToFilterAcceptList(let peer): visitor.visit(HCI.commands.leAddDeviceToFilterAcceptList, peer)
    case .leRemoveDeviceFromFilterAcceptList(let peer):
      visitor.visit(HCI.commands.leRemoveDeviceFromFilterAcceptList, peer)
    case .leConnectionUpdate(let handle, let parameters, let length):
      visitor.visit(HCI.commands.leConnectionUpdate, handle, parameters, length)
    case .leSetHostChannelClassification(let map):
      visitor.visit(HCI.commands.leSetHostChannelClassification, HCI.ChannelBits(map))
    case .leReadChannelMap(let handle): visitor.visit(HCI.commands.leReadChannelMap, handle)
    case .leReadRemoteFeatures(let handle): visitor.visit(HCI.commands.leReadRemoteFeatures, handle)
    case .leEncrypt(let key, let plaintext): visitor.visit(HCI.commands.leEncrypt, key, plaintext)
    case .leRand: visitor.visit(HCI.commands.leRand)
    case .leEnableEncryption(let handle, let random, let encryptedDiversifier, let longTermKey):
      visitor.visit(HCI.commands.leEnableEncryption, handle, random, encryptedDiversifier, longTermKey)
    case .leLongTermKeyRequestReply(let handle, let longTermKey):
      visitor.visit(HCI.commands.leLongTermKeyRequestReply, handle, longTermKey)
    case .leLongTermKeyRequestNegativeReply(let handle):
      visitor.visit(HCI.commands.leLongTermKeyRequestNegativeReply, handle)
    case .leReadSupportedStates: visitor.visit(HCI.commands.leReadSupportedStates)
    case .leRemoteConnectionParameterRequestReply(let handle, let parameters, let length):
      visitor.visit(HCI.commands.leRemoteConnectionParameterRequestReply, handle, parameters, length)
    case .leRemoteConnectionParameterRequestNegativeReply(let handle, let reason):
      visitor.visit(HCI.commands.leRemoteConnectionParameterRequestNegativeReply, handle, reason)
    case .leSetDataLength(let handle, let length): visitor.visit(HCI.commands.leSetDataLength, handle, length)
    case .leReadSuggestedDefaultDataLength: visitor.visit(HCI.commands.leReadSuggestedDefaultDataLength)
    case .leWriteSuggestedDefaultDataLength(let length):
      visitor.visit(HCI.commands.leWriteSuggestedDefaultDataLength, length)
    case .leReadLocalP256PublicKey: visitor.visit(HCI.commands.leReadLocalP256PublicKey)
    case .leGenerateDHKey(let coordinates): visitor.visit(HCI.commands.leGenerateDHKey, HCI.Octets<64>(coordinates))
    case .leAddDeviceToResolvingList(let peer, let peerIRK, let localIRK):
      visitor.visit(HCI.commands.leAddDeviceToResolvingList, peer, peerIRK, localIRK)
    case .leRemoveDeviceFromResolvingList(let peer): visitor.visit(HCI.commands.leRemoveDeviceFromResolvingList, peer)
    case .leClearResolvingList: visitor.visit(HCI.commands.leClearResolvingList)
    case .leReadResolvingListSize: visitor.visit(HCI.commands.leReadResolvingListSize)
    case .leReadPeerResolvableAddress(let peer): visitor.visit(HCI.commands.leReadPeerResolvableAddress, peer)
    case .leReadLocalResolvableAddress(let peer): visitor.visit(HCI.commands.leReadLocalResolvableAddress, peer)
    case .leSetAddressResolutionEnable(let flag): visitor.visit(HCI.commands.leSetAddressResolutionEnable, flag)
    case .leSetResolvablePrivateAddressTimeout(let value):
      visitor.visit(HCI.commands.leSetResolvablePrivateAddressTimeout, value)
    case .leReadMaximumDataLength: visitor.visit(HCI.commands.leReadMaximumDataLength)
    case .leReadPHY(let handle): visitor.visit(HCI.commands.leReadPHY, handle)
    case .leSetDefaultPHY(let preference): visitor.visit(HCI.commands.leSetDefaultPHY, preference)
    case .leSetPHY(let handle, let preference, let options):
      visitor.visit(HCI.commands.leSetPHY, handle, preference, options)
    // Extended advertising, scanning and initiating
    case .leSetAdvertisingSetRandomAddress(let set, let value):
      visitor.visit(HCI.commands.leSetAdvertisingSetRandomAddress, set, HCI.AddressValue(value))
    case .leSetExtendedAdvertisingParameters(let value):
      visitor.visit(HCI.commands.leSetExtendedAdvertisingParameters, value)
    case .leSetExtendedAdvertisingParametersV2(let value):
      visitor.visit(
        HCI.commands.leSetExtendedAdvertisingParametersV2, HCI.OtherForm(value) { $0.encode(into: &$1, isV2: true) })
    case .leSetExtendedAdvertisingData(let set, let fragment):
      visitor.visit(HCI.commands.leSetExtendedAdvertisingData, set, fragment)
    case .leSetExtendedScanResponseData(let set, let fragment):
      visitor.visit(HCI.commands.leSetExtendedScanResponseData, set, fragment)
    case .leSetExtendedAdvertisingEnable(let flag, let value):
      visitor.visit(HCI.commands.leSetExtendedAdvertisingEnable, flag, value)
    case .leReadMaximumAdvertisingDataLength: visitor.visit(HCI.commands.leReadMaximumAdvertisingDataLength)
    case .leReadNumberOfSupportedAdvertisingSets: visitor.visit(HCI.commands.leReadNumberOfSupportedAdvertisingSets)
    case .leRemoveAdvertisingSet(let set): visitor.visit(HCI.commands.leRemoveAdvertisingSet, set)
    case .leClearAdvertisingSets: visitor.visit(HCI.commands.leClearAdvertisingSets)
    case .leSetExtendedScanParameters(let value): visitor.visit(HCI.commands.leSetExtendedScanParameters, value)
    case .leSetExtendedScanEnable(let value): visitor.visit(HCI.commands.leSetExtendedScanEnable, value)
    case .leExtendedCreateConnection(let value): visitor.visit(HCI.commands.leExtendedCreateConnection, value)
    // Periodic advertising
    case .leSetPeriodicAdvertisingParameters(let value):
      visitor.visit(HCI.commands.leSetPeriodicAdvertisingParameters, value)
    case .leSetPeriodicAdvertisingData(let set, let fragment):
      visitor.visit(
        HCI.commands.leSetPeriodicAdvertisingData, set,
        HCI.OtherForm(fragment) { $0.encode(into: &$1, isPeriodic: true) })
    case .leSetPeriodicAdvertisingEnable(let value, let set):
      visitor.visit(HCI.commands.leSetPeriodicAdvertisingEnable, value, set)
    case .lePeriodicAdvertisingCreateSync(let value): visitor.visit(HCI.commands.lePeriodicAdvertisingCreateSync, value)
    case .lePeriodicAdvertisingCreateSyncCancel: visitor.visit(HCI.commands.lePeriodicAdvertisingCreateSyncCancel)
    case .lePeriodicAdvertisingTerminateSync(let sync):
      visitor.visit(HCI.commands.lePeriodicAdvertisingTerminateSync, sync)
    case .leAddDeviceToPeriodicAdvertiserList(let value):
      visitor.visit(HCI.commands.leAddDeviceToPeriodicAdvertiserList, value)
    case .leRemoveDeviceFromPeriodicAdvertiserList(let value):
      visitor.visit(HCI.commands.leRemoveDeviceFromPeriodicAdvertiserList, value)
    case .leClearPeriodicAdvertiserList: visitor.visit(HCI.commands.leClearPeriodicAdvertiserList)
    case .leReadPeriodicAdvertiserListSize: visitor.visit(HCI.commands.leReadPeriodicAdvertiserListSize)
    case .leSetPeriodicAdvertisingReceiveEnable(let sync, let value):
      visitor.visit(HCI.commands.leSetPeriodicAdvertisingReceiveEnable, sync, value)
    case .lePeriodicAdvertisingSyncTransfer(let handle, let serviceData, let sync):
      visitor.visit(HCI.commands.lePeriodicAdvertisingSyncTransfer, handle, serviceData, sync)
    case .lePeriodicAdvertisingSetInfoTransfer(let handle, let serviceData, let set):
      visitor.visit(HCI.commands.lePeriodicAdvertisingSetInfoTransfer, handle, serviceData, set)
    case .leSetPeriodicAdvertisingSyncTransferParameters(let handle, let value):
      visitor.visit(HCI.commands.leSetPeriodicAdvertisingSyncTransferParameters, handle, value)
    case .leSetDefaultPeriodicAdvertisingSyncTransferParameters(let value):
      visitor.visit(HCI.commands.leSetDefaultPeriodicAdvertisingSyncTransferParameters, value)
    // Power, privacy, clocks, features
    case .leReadTransmitPower: visitor.visit(HCI.commands.leReadTransmitPower)
    case .leReadRFPathCompensation: visitor.visit(HCI.commands.leReadRFPathCompensation)
    case .leWriteRFPathCompensation(let transmit, let receive):
      visitor.visit(HCI.commands.leWriteRFPathCompensation, transmit, receive)
    case .leSetPrivacyMode(let peer, let isDevicePrivacy):
      visitor.visit(
        HCI.commands.leSetPrivacyMode, peer, HCI.Shown(isDevicePrivacy) { $0 ? "device privacy" : "network privacy" })
    case .leGenerateDHKeyV2(let coordinates, let usesDebugKey):
      visitor.visit(
        HCI.commands.leGenerateDHKeyV2, HCI.Octets<64>(coordinates),
        HCI.Shown(usesDebugKey) { $0 ? "debug key" : "generated key" })
    case .leModifySleepClockAccuracy(let isLessAccurate):
      visitor.visit(
        HCI.commands.leModifySleepClockAccuracy, HCI.Shown(isLessAccurate) { $0 ? "less accurate" : "more accurate" })
    case .leReadBufferSizeV2: visitor.visit(HCI.commands.leReadBufferSizeV2)
    case .leRequestPeerSCA(let handle): visitor.visit(HCI.commands.leRequestPeerSCA, handle)
    case .leSetHostFeature(let bit, let flag):
      visitor.visit(HCI.commands.leSetHostFeature, HCI.Shown(bit) { "bit \($0)" }, flag)
    case .leSetDataRelatedAddressChanges(let set, let value):
      visitor.visit(HCI.commands.leSetDataRelatedAddressChanges, set, value)
    case .unknown(let opcode, let parameters):
      visitor.visit(HCI.Rest(octets: parameters.prefix(255)), for: opcode)
    }
  }
}
