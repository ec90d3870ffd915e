extension HCI.Command {
  /// Decodes a Command packet. An opcode without a case gives `unknown`.
  ///
  /// A controller responds to `truncated`, `excess` and `invalid` with Invalid HCI Command Parameters. It responds to
  /// the error `unknown`, which stands for a value reserved for future use, with Unsupported Feature or Parameter
  /// Value.
  package init(opcode: HCI.Opcode, parameters: ByteSlice) throws(DecodingError) {
    var reader = ByteReader(parameters)
    guard let code = opcode.code, let command = try Self.decoded(code, &reader) else {
      self = .unknown(opcode, parameters)
      return
    }
    self = command
    try reader.end()
  }

  /// Returns the command with parameters from `reader`; nil: the command is not decoded.
  private static func decoded(_ code: HCI.CommandCode, _ reader: inout ByteReader) throws(DecodingError) -> Self? {
    switch code {
    // Link Control, Controller & Baseband, Informational and Status Parameters
    case .disconnect:
      return .disconnect(try HCI.ConnectionHandle(from: &reader), reason: try reader.errorCode())
    case .readRemoteVersionInformation:
      return .readRemoteVersionInformation(try HCI.ConnectionHandle(from: &reader))
    case .setEventMask: return .setEventMask(HCI.EventMask(rawValue: try reader.uint64()))
    case .reset: return .reset
    case .readTransmitPowerLevel:
      return .readTransmitPowerLevel(try HCI.ConnectionHandle(from: &reader), isMaximum: try reader.flag("Type"))
    case .setControllerToHostFlowControl:
      guard let mode = HCI.FlowControl(rawValue: try reader.uint8()) else {
        throw .invalid(field: "Flow_Control_Enable")
      }
      return .setControllerToHostFlowControl(mode)
    case .hostBufferSize: return .hostBufferSize(try HCI.BufferSize(from: &reader))
    case .hostNumberOfCompletedPackets:
      return .hostNumberOfCompletedPackets(try HCI.CompletedPackets(from: &reader))
    case .setEventMaskPage2: return .setEventMaskPage2(HCI.EventMaskPage2(rawValue: try reader.uint64()))
    case .readLEHostSupport: return .readLEHostSupport
    case .writeLEHostSupport:
      let isSupported = try reader.flag("LE_Supported_Host")
      // Simultaneous_LE_Host is reserved and ignored · 7.3.79.
      _ = try reader.uint8()
      return .writeLEHostSupport(isSupported)
    case .readAuthenticatedPayloadTimeout:
      return .readAuthenticatedPayloadTimeout(try HCI.ConnectionHandle(from: &reader))
    case .writeAuthenticatedPayloadTimeout:
      return .writeAuthenticatedPayloadTimeout(try HCI.ConnectionHandle(from: &reader), try reader.uint16())
    case .readLocalVersionInformation: return .readLocalVersionInformation
    case .readLocalSupportedCommands: return .readLocalSupportedCommands
    case .readLocalSupportedFeatures: return .readLocalSupportedFeatures
    case .readLocalExtendedFeatures: return .readLocalExtendedFeatures(page: try reader.uint8())
    case .readBufferSize: return .readBufferSize
    case .readBDADDR: return .readBDADDR
    case .readRSSI: return .readRSSI(try HCI.ConnectionHandle(from: &reader))
    // LE Controller
    case .leSetEventMask: return .leSetEventMask(HCI.LEEventMask(rawValue: try reader.uint64()))
    case .leReadBufferSize: return .leReadBufferSize
    case .leReadBufferSizeV2: return .leReadBufferSizeV2
    case .leReadLocalSupportedFeatures: return .leReadLocalSupportedFeatures
    case .leSetRandomAddress: return .leSetRandomAddress(try reader.addressValue())
    case .leSetAdvertisingParameters:
      return .leSetAdvertisingParameters(try HCI.AdvertisingParameters(from: &reader))
    case .leReadAdvertisingPhysicalChannelTxPower: return .leReadAdvertisingPhysicalChannelTxPower
    case .leSetAdvertisingData: return .leSetAdvertisingData(try advertisingData(&reader))
    case .leSetScanResponseData: return .leSetScanResponseData(try advertisingData(&reader))
    case .leSetAdvertisingEnable: return .leSetAdvertisingEnable(try reader.flag("Advertising_Enable"))
    case .leSetScanParameters: return .leSetScanParameters(try HCI.ScanParameters(from: &reader))
    case .leSetScanEnable:
      let isEnabled = try reader.flag("LE_Scan_Enable")
      if isEnabled { return .leSetScanEnable(true, filterDuplicates: try reader.flag("Filter_Duplicates")) }
      // Filter_Duplicates is ignored when scanning is disabled · 7.8.11.
      let duplicates = try reader.uint8()
      return .leSetScanEnable(false, filterDuplicates: duplicates == 1)
    case .leCreateConnection: return .leCreateConnection(try HCI.CreateConnection(from: &reader))
    case .leCreateConnectionCancel: return .leCreateConnectionCancel
    case .leReadFilterAcceptListSize: return .leReadFilterAcceptListSize
    case .leClearFilterAcceptList: return .leClearFilterAcceptList
    case .leAddDeviceToFilterAcceptList:
      return .leAddDeviceToFilterAcceptList(try HCI.PeerAddress(from: &reader))
    case .leRemoveDeviceFromFilterAcceptList:
      return .leRemoveDeviceFromFilterAcceptList(try HCI.PeerAddress(from: &reader))
    case .leConnectionUpdate:
      return .leConnectionUpdate(
        try HCI.ConnectionHandle(from: &reader), try ConnectionParameters(from: &reader),
        try HCI.ConnectionEventLength(from: &reader))
    case .leSetHostChannelClassification: return .leSetHostChannelClassification(try reader.uint40())
    case .leReadChannelMap: return .leReadChannelMap(try HCI.ConnectionHandle(from: &reader))
    case .leReadRemoteFeatures: return .leReadRemoteFeatures(try HCI.ConnectionHandle(from: &reader))
    case .leReadSupportedStates: return .leReadSupportedStates
    case .leRemoteConnectionParameterRequestReply:
      return .leRemoteConnectionParameterRequestReply(
        try HCI.ConnectionHandle(from: &reader), try ConnectionParameters(from: &reader),
        try HCI.ConnectionEventLength(from: &reader))
    case .leRemoteConnectionParameterRequestNegativeReply:
      return .leRemoteConnectionParameterRequestNegativeReply(
        try HCI.ConnectionHandle(from: &reader), reason: try reader.errorCode())
    case .leSetDataLength:
      return .leSetDataLength(try HCI.ConnectionHandle(from: &reader), try HCI.DataLength(from: &reader))
    case .leReadSuggestedDefaultDataLength: return .leReadSuggestedDefaultDataLength
    case .leWriteSuggestedDefaultDataLength:
      return .leWriteSuggestedDefaultDataLength(try HCI.DataLength(from: &reader))
    case .leReadMaximumDataLength: return .leReadMaximumDataLength
    case .leReadPHY: return .leReadPHY(try HCI.ConnectionHandle(from: &reader))
    case .leSetDefaultPHY: return .leSetDefaultPHY(try HCI.PHYPreference(from: &reader))
    case .leSetPHY:
      return .leSetPHY(
        try HCI.ConnectionHandle(from: &reader), try HCI.PHYPreference(from: &reader), options: try reader.uint16())
    case .leReadTransmitPower: return .leReadTransmitPower
    case .leReadRFPathCompensation: return .leReadRFPathCompensation
    case .leWriteRFPathCompensation:
      return .leWriteRFPathCompensation(transmit: try reader.int16(), receive: try reader.int16())
    case .leModifySleepClockAccuracy: return .leModifySleepClockAccuracy(isLessAccurate: try reader.flag("Action"))
    case .leRequestPeerSCA: return .leRequestPeerSCA(try HCI.ConnectionHandle(from: &reader))
    case .leSetHostFeature: return .leSetHostFeature(bit: try reader.uint8(), try reader.flag("Bit_Value"))
    // Encryption and privacy
    case .leEncrypt: return .leEncrypt(key: try reader.uint128(), plaintext: try reader.uint128())
    case .leRand: return .leRand
    case .leEnableEncryption:
      return .leEnableEncryption(
        try HCI.ConnectionHandle(from: &reader), random: try reader.uint64(),
        encryptedDiversifier: try reader.uint16(), longTermKey: try reader.uint128())
    case .leLongTermKeyRequestReply:
      return .leLongTermKeyRequestReply(
        try HCI.ConnectionHandle(from: &reader), longTermKey: try reader.uint128())
    case .leLongTermKeyRequestNegativeReply:
      return .leLongTermKeyRequestNegativeReply(try HCI.ConnectionHandle(from: &reader))
    case .leReadLocalP256PublicKey: return .leReadLocalP256PublicKey
    case .leGenerateDHKey: return .leGenerateDHKey(try reader.take(64))
    case .leGenerateDHKeyV2:
      return .leGenerateDHKeyV2(try reader.take(64), usesDebugKey: try reader.flag("Key_Type"))
    case .leAddDeviceToResolvingList:
      return .leAddDeviceToResolvingList(
        try HCI.PeerAddress(from: &reader), peerIRK: try reader.uint128(), localIRK: try reader.uint128())
    case .leRemoveDeviceFromResolvingList:
      return .leRemoveDeviceFromResolvingList(try HCI.PeerAddress(from: &reader))
    case .leClearResolvingList: return .leClearResolvingList
    case .leReadResolvingListSize: return .leReadResolvingListSize
    case .leReadPeerResolvableAddress:
      return .leReadPeerResolvableAddress(try HCI.PeerAddress(from: &reader))
    case .leReadLocalResolvableAddress:
      return .leReadLocalResolvableAddress(try HCI.PeerAddress(from: &reader))
    case .leSetAddressResolutionEnable:
      return .leSetAddressResolutionEnable(try reader.flag("Address_Resolution_Enable"))
    case .leSetResolvablePrivateAddressTimeout:
      return .leSetResolvablePrivateAddressTimeout(try reader.uint16())
    case .leSetPrivacyMode:
      return .leSetPrivacyMode(
        try HCI.PeerAddress(from: &reader), isDevicePrivacy: try reader.flag("Privacy_Mode"))
    // Extended advertising, scanning and initiating
    case .leSetAdvertisingSetRandomAddress:
      return .leSetAdvertisingSetRandomAddress(
        try HCI.AdvertisingHandle(from: &reader), try reader.addressValue())
    case .leSetExtendedAdvertisingParameters:
      return .leSetExtendedAdvertisingParameters(
        try HCI.ExtendedAdvertisingParameters(from: &reader, isV2: false))
    case .leSetExtendedAdvertisingParametersV2:
      return .leSetExtendedAdvertisingParametersV2(
        try HCI.ExtendedAdvertisingParameters(from: &reader, isV2: true))
    case .leSetExtendedAdvertisingData:
      return .leSetExtendedAdvertisingData(
        try HCI.AdvertisingHandle(from: &reader), try HCI.AdvertisingDataFragment(from: &reader, isPeriodic: false))
    case .leSetExtendedScanResponseData:
      return .leSetExtendedScanResponseData(
        try HCI.AdvertisingHandle(from: &reader), try HCI.AdvertisingDataFragment(from: &reader, isPeriodic: false))
    case .leSetExtendedAdvertisingEnable:
      return .leSetExtendedAdvertisingEnable(
        try reader.flag("Enable"), try HCI.AdvertisingSetEnables(from: &reader))
    case .leReadMaximumAdvertisingDataLength: return .leReadMaximumAdvertisingDataLength
    case .leReadNumberOfSupportedAdvertisingSets: return .leReadNumberOfSupportedAdvertisingSets
    case .leRemoveAdvertisingSet: return .leRemoveAdvertisingSet(try HCI.AdvertisingHandle(from: &reader))
    case .leClearAdvertisingSets: return .leClearAdvertisingSets
    case .leSetExtendedScanParameters:
      return .leSetExtendedScanParameters(try HCI.ExtendedScanParameters(from: &reader))
    case .leSetExtendedScanEnable: return .leSetExtendedScanEnable(try HCI.ExtendedScanEnable(from: &reader))
    case .leExtendedCreateConnection:
      return .leExtendedCreateConnection(try HCI.ExtendedCreateConnection(from: &reader))
    case .leSetDataRelatedAddressChanges:
      return .leSetDataRelatedAddressChanges(
        try HCI.AdvertisingHandle(from: &reader), HCI.AddressChangeReasons(rawValue: try reader.uint8()))
    // Periodic advertising
    case .leSetPeriodicAdvertisingParameters:
      return .leSetPeriodicAdvertisingParameters(try HCI.PeriodicAdvertisingParameters(from: &reader))
    case .leSetPeriodicAdvertisingData:
      return .leSetPeriodicAdvertisingData(
        try HCI.AdvertisingHandle(from: &reader), try HCI.AdvertisingDataFragment(from: &reader, isPeriodic: true))
    case .leSetPeriodicAdvertisingEnable:
      return .leSetPeriodicAdvertisingEnable(
        HCI.PeriodicAdvertisingEnable(rawValue: try reader.uint8()), try HCI.AdvertisingHandle(from: &reader))
    case .lePeriodicAdvertisingCreateSync:
      return .lePeriodicAdvertisingCreateSync(try HCI.PeriodicAdvertisingCreateSync(from: &reader))
    case .lePeriodicAdvertisingCreateSyncCancel: return .lePeriodicAdvertisingCreateSyncCancel
    case .lePeriodicAdvertisingTerminateSync:
      return .lePeriodicAdvertisingTerminateSync(try HCI.SyncHandle(from: &reader))
    case .leAddDeviceToPeriodicAdvertiserList:
      return .leAddDeviceToPeriodicAdvertiserList(try HCI.PeriodicAdvertiser(from: &reader))
    case .leRemoveDeviceFromPeriodicAdvertiserList:
      return .leRemoveDeviceFromPeriodicAdvertiserList(try HCI.PeriodicAdvertiser(from: &reader))
    case .leClearPeriodicAdvertiserList: return .leClearPeriodicAdvertiserList
    case .leReadPeriodicAdvertiserListSize: return .leReadPeriodicAdvertiserListSize
    case .leSetPeriodicAdvertisingReceiveEnable:
      return .leSetPeriodicAdvertisingReceiveEnable(
        try HCI.SyncHandle(from: &reader), HCI.PeriodicAdvertisingReceiveEnable(rawValue: try reader.uint8()))
    case .lePeriodicAdvertisingSyncTransfer:
      return .lePeriodicAdvertisingSyncTransfer(
        try HCI.ConnectionHandle(from: &reader), serviceData: try reader.uint16(),
        try HCI.SyncHandle(from: &reader))
    case .lePeriodicAdvertisingSetInfoTransfer:
      return .lePeriodicAdvertisingSetInfoTransfer(
        try HCI.ConnectionHandle(from: &reader), serviceData: try reader.uint16(),
        try HCI.AdvertisingHandle(from: &reader))
    case .leSetPeriodicAdvertisingSyncTransferParameters:
      return .leSetPeriodicAdvertisingSyncTransferParameters(
        try HCI.ConnectionHandle(from: &reader), try HCI.SyncTransferParameters(from: &reader))
    case .leSetDefaultPeriodicAdvertisingSyncTransferParameters:
      return .leSetDefaultPeriodicAdvertisingSyncTransferParameters(try HCI.SyncTransferParameters(from: &reader))
    // Tests of the radio
    case .leReceiverTest, .leTransmitterTest, .leTestEnd: return nil
    }
  }

  /// Reads a length of at most 31 and a field of 31 octets. Returns the first `length` octets of the field.
  private static func advertisingData(_ reader: inout ByteReader) throws(DecodingError) -> ByteSlice {
    let length = Int(try reader.uint8())
    let data = try reader.take(HCI.maximumAdvertisingDataLength)
    guard length <= data.count else { throw .invalid(field: "Advertising_Data_Length") }
    return data.prefix(length)
  }

  // MARK: Encoding

  /// Returns the Command packet, with its parameters in a storage of `pool`.
  package func packet(in pool: PacketPool) -> HCI.Packet {
    var writer = ByteWriter(pool, capacity: 255, headroom: 0)
    encodeParameters(into: &writer)
    return .command(opcode: opcode, parameters: writer.finish())
  }

  private func encodeParameters(into writer: inout ByteWriter) {
    switch self {
    case .reset, .readLEHostSupport, .readLocalVersionInformation, .readLocalSupportedCommands,
      .readLocalSupportedFeatures, .readBufferSize, .readBDADDR, .leReadBufferSize, .leReadBufferSizeV2,
      .leReadLocalSupportedFeatures, .leReadAdvertisingPhysicalChannelTxPower, .leCreateConnectionCancel,
      .leReadFilterAcceptListSize, .leClearFilterAcceptList, .leRand, .leReadSupportedStates,
      .leReadSuggestedDefaultDataLength, .leReadLocalP256PublicKey, .leClearResolvingList,
      .leReadResolvingListSize, .leReadMaximumDataLength, .leReadTransmitPower,
      .leReadMaximumAdvertisingDataLength, .leReadNumberOfSupportedAdvertisingSets, .leClearAdvertisingSets,
      .lePeriodicAdvertisingCreateSyncCancel, .leClearPeriodicAdvertiserList, .leReadPeriodicAdvertiserListSize,
      .leReadRFPathCompensation:
      break
    case .readRemoteVersionInformation(let handle), .readAuthenticatedPayloadTimeout(let handle),
      .readRSSI(let handle), .leReadChannelMap(let handle), .leReadRemoteFeatures(let handle),
      .leLongTermKeyRequestNegativeReply(let handle), .leReadPHY(let handle), .leRequestPeerSCA(let handle):
      writer.append(handle)
    case .leAddDeviceToFilterAcceptList(let peer), .leRemoveDeviceFromFilterAcceptList(let peer),
      .leRemoveDeviceFromResolvingList(let peer), .leReadPeerResolvableAddress(let peer),
      .leReadLocalResolvableAddress(let peer):
      peer.encode(into: &writer)
    case .disconnect(let handle, let reason), .leRemoteConnectionParameterRequestNegativeReply(let handle, let reason):
      writer.append(handle)
      writer.append(reason)
    case .setEventMask(let mask): writer.append(mask.rawValue)
    case .setEventMaskPage2(let mask): writer.append(mask.rawValue)
    case .leSetEventMask(let mask): writer.append(mask.rawValue)
    case .readTransmitPowerLevel(let handle, let isMaximum):
      writer.append(handle)
      writer.append(flag: isMaximum)
    case .setControllerToHostFlowControl(let mode): writer.append(mode.rawValue)
    case .hostBufferSize(let size): size.encode(into: &writer)
    case .hostNumberOfCompletedPackets(let packets): packets.encode(into: &writer)
    case .writeLEHostSupport(let isSupported):
      writer.append(flag: isSupported)
      writer.append(UInt8(0))
    case .writeAuthenticatedPayloadTimeout(let handle, let timeout):
      writer.append(handle)
      writer.append(timeout)
    case .readLocalExtendedFeatures(let page): writer.append(page)
    case .leSetRandomAddress(let value): writer.append(addressValue: value)
    case .leSetAdvertisingParameters(let parameters): parameters.encode(into: &writer)
    case .leSetAdvertisingData(let data), .leSetScanResponseData(let data):
      let data = data.prefix(HCI.maximumAdvertisingDataLength)
      writer.append(UInt8(truncatingIfNeeded: data.count))
      writer.append(data)
      writer.appendZeros(HCI.maximumAdvertisingDataLength - data.count)
    case .leSetAdvertisingEnable(let flag), .leSetAddressResolutionEnable(let flag): writer.append(flag: flag)
    case .leSetScanParameters(let parameters): parameters.encode(into: &writer)
    case .leSetScanEnable(let isEnabled, let filterDuplicates):
      writer.append(flag: isEnabled)
      writer.append(flag: filterDuplicates)
    case .leCreateConnection(let parameters): parameters.encode(into: &writer)
    case .leConnectionUpdate(let handle, let parameters, let length),
      .leRemoteConnectionParameterRequestReply(let handle, let parameters, let length):
      writer.append(handle)
      parameters.encode(into: &writer)
      length.encode(into: &writer)
    case .leSetHostChannelClassification(let map): writer.append40(map)
    case .leEncrypt(let key, let plaintext):
      writer.append(key.value)
      writer.append(plaintext.value)
    case .leEnableEncryption(let handle, let random, let diversifier, let key):
      writer.append(handle)
      writer.append(random)
      writer.append(diversifier)
      writer.append(key.value)
    case .leLongTermKeyRequestReply(let handle, let key):
      writer.append(handle)
      writer.append(key.value)
    case .leSetDataLength(let handle, let length):
      writer.append(handle)
      length.encode(into: &writer)
    case .leWriteSuggestedDefaultDataLength(let length): length.encode(into: &writer)
    case .leGenerateDHKey(let coordinates): writer.append(coordinates.prefix(64))
    case .leAddDeviceToResolvingList(let peer, let peerIRK, let localIRK):
      peer.encode(into: &writer)
      writer.append(peerIRK.value)
      writer.append(localIRK.value)
    case .leSetResolvablePrivateAddressTimeout(let seconds): writer.append(seconds)
    case .leSetDefaultPHY(let preference): preference.encode(into: &writer)
    case .leSetPHY(let handle, let preference, let options):
      writer.append(handle)
      preference.encode(into: &writer)
      writer.append(options)
    case .leSetPrivacyMode(let peer, let isDevicePrivacy):
      peer.encode(into: &writer)
      writer.append(flag: isDevicePrivacy)
    case .leGenerateDHKeyV2(let coordinates, let usesDebugKey):
      writer.append(coordinates.prefix(64))
      writer.append(flag: usesDebugKey)
    case .leWriteRFPathCompensation(let transmit, let receive):
      writer.append(transmit)
      writer.append(receive)
    case .leModifySleepClockAccuracy(let isLessAccurate): writer.append(flag: isLessAccurate)
    case .leSetHostFeature(let bit, let value):
      writer.append(bit)
      writer.append(flag: value)
    // Extended advertising, scanning and initiating
    case .leSetAdvertisingSetRandomAddress(let handle, let address):
      writer.append(handle.rawValue)
      writer.append(addressValue: address)
    case .leSetExtendedAdvertisingParameters(let parameters): parameters.encode(into: &writer, isV2: false)
    case .leSetExtendedAdvertisingParametersV2(let parameters): parameters.encode(into: &writer, isV2: true)
    case .leSetExtendedAdvertisingData(let handle, let fragment),
      .leSetExtendedScanResponseData(let handle, let fragment):
      writer.append(handle.rawValue)
      fragment.encode(into: &writer, isPeriodic: false)
    case .leSetExtendedAdvertisingEnable(let isEnabled, let sets):
      writer.append(flag: isEnabled)
      sets.encode(into: &writer)
    case .leRemoveAdvertisingSet(let handle): writer.append(handle.rawValue)
    case .leSetExtendedScanParameters(let parameters): parameters.encode(into: &writer)
    case .leSetExtendedScanEnable(let enable): enable.encode(into: &writer)
    case .leExtendedCreateConnection(let request): request.encode(into: &writer)
    case .leSetDataRelatedAddressChanges(let handle, let reasons):
      writer.append(handle.rawValue)
      writer.append(reasons.rawValue)
    // Periodic advertising
    case .leSetPeriodicAdvertisingParameters(let parameters): parameters.encode(into: &writer)
    case .leSetPeriodicAdvertisingData(let handle, let fragment):
      writer.append(handle.rawValue)
      fragment.encode(into: &writer, isPeriodic: true)
    case .leSetPeriodicAdvertisingEnable(let enable, let handle):
      writer.append(enable.rawValue)
      writer.append(handle.rawValue)
    case .lePeriodicAdvertisingCreateSync(let request): request.encode(into: &writer)
    case .lePeriodicAdvertisingTerminateSync(let sync): writer.append(sync.rawValue)
    case .leAddDeviceToPeriodicAdvertiserList(let advertiser),
      .leRemoveDeviceFromPeriodicAdvertiserList(let advertiser):
      advertiser.encode(into: &writer)
    case .leSetPeriodicAdvertisingReceiveEnable(let sync, let enable):
      writer.append(sync.rawValue)
      writer.append(enable.rawValue)
    case .lePeriodicAdvertisingSyncTransfer(let handle, let serviceData, let sync):
      writer.append(handle)
      writer.append(serviceData)
      writer.append(sync.rawValue)
    case .lePeriodicAdvertisingSetInfoTransfer(let handle, let serviceData, let advertisingHandle):
      writer.append(handle)
      writer.append(serviceData)
      writer.append(advertisingHandle.rawValue)
    case .leSetPeriodicAdvertisingSyncTransferParameters(let handle, let parameters):
      writer.append(handle)
      parameters.encode(into: &writer)
    case .leSetDefaultPeriodicAdvertisingSyncTransferParameters(let parameters): parameters.encode(into: &writer)
    case .unknown(_, let parameters): writer.append(parameters.prefix(255))
    }
  }
}

extension HCI {
  /// The maximum length of the data in a legacy advertising packet or scan response, in octets · Vol 6, Part B,
  /// 2.3.1.
  package static let maximumAdvertisingDataLength = 31
}
