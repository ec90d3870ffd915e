extension HCI.Command {
  /// The Command packet, its parameters in a storage of `pool`.
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
      .leReadResolvingListSize, .leReadMaximumDataLength, .leReadTransmitPower:
      break
    case .readRemoteVersionInformation(let handle), .readAuthenticatedPayloadTimeout(let handle),
      .readRSSI(let handle), .leReadChannelMap(let handle), .leReadRemoteFeatures(let handle),
      .leLongTermKeyRequestNegativeReply(let handle), .leReadPHY(let handle):
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
      writer.append(key)
      writer.append(plaintext)
    case .leEnableEncryption(let handle, let random, let diversifier, let key):
      writer.append(handle)
      writer.append(random)
      writer.append(diversifier)
      writer.append(key)
    case .leLongTermKeyRequestReply(let handle, let key):
      writer.append(handle)
      writer.append(key)
    case .leSetDataLength(let handle, let length):
      writer.append(handle)
      length.encode(into: &writer)
    case .leWriteSuggestedDefaultDataLength(let length): length.encode(into: &writer)
    case .leGenerateDHKey(let coordinates): writer.append(coordinates.prefix(64))
    case .leAddDeviceToResolvingList(let peer, let peerIRK, let localIRK):
      peer.encode(into: &writer)
      writer.append(peerIRK)
      writer.append(localIRK)
    case .leSetResolvablePrivateAddressTimeout(let seconds): writer.append(seconds)
    case .leSetDefaultPHY(let preference): preference.encode(into: &writer)
    case .leSetPHY(let handle, let preference, let options):
      writer.append(handle)
      preference.encode(into: &writer)
      writer.append(options)
    case .leSetPrivacyMode(let peer, let isDevicePrivacy):
      peer.encode(into: &writer)
      writer.append(flag: isDevicePrivacy)
    case .unknown(_, let parameters): writer.append(parameters.prefix(255))
    }
  }
}
