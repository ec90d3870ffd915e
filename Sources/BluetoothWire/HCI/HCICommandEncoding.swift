extension HCI.Command {
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
    case .unknown(_, let parameters): writer.append(parameters.prefix(255))
    default:
      encodeExtendedAdvertising(into: &writer)
      encodePeriodicAdvertising(into: &writer)
    }
  }

  private func encodeExtendedAdvertising(into writer: inout ByteWriter) {
    switch self {
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
    default: break
    }
  }

  private func encodePeriodicAdvertising(into writer: inout ByteWriter) {
    switch self {
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
    default: break
    }
  }
}
