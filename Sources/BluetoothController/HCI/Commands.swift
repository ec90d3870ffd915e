import BluetoothWire

/// The execution of HCI commands · Vol 4, Part E, 7.
extension Controller {
  /// Executes a command of the host and answers it. Returns true if the command may have changed anything; false if
  /// it was refused before it was decoded, or only asks for information.
  mutating func command(_ opcode: HCI.Opcode, _ parameters: ByteSlice, at now: Instant) -> Bool {
    guard let served = supported(opcode) else {
      output.send(.commandStatus(.unknownHCICommand, credits: 1, opcode))
      return false
    }
    guard admits(served) else {
      refuse(opcode, parameters, .commandDisallowed)
      return false
    }
    let command: HCI.Command
    do throws(DecodingError) {
      command = try HCI.Command(opcode: opcode, parameters: parameters)
    } catch {
      refuse(opcode, parameters, HCI.ErrorCode(error))
      return false
    }
    switch perform(command, opcode, at: now) {
    case .information(let parameters):
      output.send(.commandComplete(credits: 1, opcode, parameters))
      return false
    case .complete(let parameters): output.send(.commandComplete(credits: 1, opcode, parameters))
    case .refusal(let status): refuse(opcode, parameters, status)
    case .done: break
    case .unknown: output.send(.commandStatus(.unknownHCICommand, credits: 1, opcode))
    }
    return true
  }

  /// True if the host has not used a command of the other generation; its first command decides · 3.1.1.
  private mutating func admits(_ command: ServedCommand) -> Bool {
    guard let generation = command.generation else { return true }
    if host.commandGeneration == nil { host.commandGeneration = generation }
    return host.commandGeneration == generation
  }

  private mutating func refuse(_ opcode: HCI.Opcode, _ parameters: ByteSlice, _ status: HCI.ErrorCode) {
    switch opcode.code?.definition.answer {
    case .commandStatus: output.send(.commandStatus(status, credits: 1, opcode))
    case .commandComplete, nil:
      output.send(.commandComplete(credits: 1, opcode, .failure(status, of: opcode, parameters)))
    }
  }

  /// The result of a command, from which its answer follows.
  private enum Result {
    /// Command Complete. Nothing has changed.
    case information(HCI.ReturnParameters)
    /// Command Complete.
    case complete(HCI.ReturnParameters)
    /// The command is answered only because it is wrong.
    case refusal(HCI.ErrorCode)
    /// The command has been answered, or needs no answer.
    case done
    /// The controller does not implement the command.
    case unknown

    /// Command Complete with nothing but a status.
    static func status(_ status: HCI.ErrorCode) -> Result { .complete(.status(status)) }
    /// Command Complete with a status and a connection handle.
    static func handle(_ handle: HCI.ConnectionHandle, _ status: HCI.ErrorCode) -> Result {
      .complete(.handle(status, handle))
    }
  }

  /// Sends Command Status. If the status is success, `body` begins what another event will report.
  private mutating func begin(
    _ opcode: HCI.Opcode, _ status: HCI.ErrorCode, _ body: (inout Controller) -> Void
  ) -> Result {
    output.send(.commandStatus(status, credits: 1, opcode))
    if status == .success { body(&self) }
    return .done
  }

  /// Sends Command Complete. If the status is success, `body` cancels what another event will report.
  private mutating func cancel(
    _ opcode: HCI.Opcode, _ status: HCI.ErrorCode, _ body: (inout Controller) -> Void
  ) -> Result {
    output.send(.commandComplete(credits: 1, opcode, .status(status)))
    if status == .success { body(&self) }
    return .done
  }

  private mutating func perform(_ command: HCI.Command, _ opcode: HCI.Opcode, at now: Instant) -> Result {
    switch command {
    // Link Control
    case .disconnect(let handle, let reason):
      return begin(opcode, checkDisconnect(handle, reason)) {
        $0.begin(.termination(reason: .connectionTerminatedByLocalHost, code: reason), on: handle, at: now)
      }
    case .readRemoteVersionInformation(let handle):
      return begin(opcode, checkProcedure(on: handle)) { $0.begin(.versionExchange, on: handle, at: now) }

    // Controller & Baseband
    case .setEventMask(let mask):
      output.eventMask = mask
      return .status(.success)
    case .reset:
      reset()
      return .status(.success)
    case .readTransmitPowerLevel(let handle, _):
      return .complete(with(handle) { .transmitPowerLevel(handle, $0.transmitPower.hciLevel) })
    case .setControllerToHostFlowControl(let mode): return .status(setHostFlowControl(mode))
    case .hostBufferSize(let size): return .status(setHostBufferSize(size))
    case .hostNumberOfCompletedPackets(let packets):
      // The controller answers this command only if it is wrong · 7.3.40.
      return output.hostCompleted(packets) ? .done : .refusal(.invalidHCICommandParameters)
    case .setEventMaskPage2(let mask):
      output.eventMaskPage2 = mask
      return .status(.success)
    case .readAuthenticatedPayloadTimeout(let handle):
      return .complete(with(handle) { .authenticatedPayloadTimeout(handle, $0.encryption.payloadTimer.timeout) })
    case .writeAuthenticatedPayloadTimeout(let handle, let timeout):
      return .handle(handle, setPayloadTimeout(timeout, on: handle, at: now))

    // Informational and Status Parameters
    case .readLocalVersionInformation: return .information(.localVersionInformation(versionInformation))
    case .readLocalSupportedCommands:
      return .information(.localSupportedCommands(HCI.SupportedCommands(supportedOpcodes)))
    case .readLocalSupportedFeatures: return .information(.localSupportedFeatures(Self.lmpFeatures))
    case .readLocalExtendedFeatures(let page):
      // Page 0 is the only page · 7.4.4.
      return .information(
        page == 0
          ? .localExtendedFeatures(page: 0, maximumPage: 0, Self.lmpFeatures.rawValue)
          : .status(.invalidHCICommandParameters))
    case .readBufferSize:
      return .information(
        .bufferSize(
          HCI.BufferSize(
            aclLength: UInt16(clamping: configuration.aclBufferLength),
            aclCount: UInt16(clamping: configuration.aclBufferCount))))
    case .readBDADDR:
      // A controller without a public address reports zeros · 7.4.6.
      return .information(.bdADDR(configuration.address.kind == .public ? configuration.address.value : 0))
    case .readRSSI(let handle): return .complete(with(handle) { .rssi(handle, $0.level?.hciLevel ?? 127) })

    // LE: properties and settings of the controller
    case .leSetEventMask(let mask):
      output.leEventMask = mask
      return .status(.success)
    case .leReadBufferSize:
      return .information(
        .leBufferSize(
          aclLength: UInt16(clamping: configuration.aclBufferLength),
          aclCount: UInt8(clamping: configuration.aclBufferCount)))
    case .leReadLocalSupportedFeatures: return .information(.leLocalSupportedFeatures(features))
    case .leReadSupportedStates: return .information(.leSupportedStates(configuration.supportedStates))
    case .leReadTransmitPower:
      return .information(
        .leTransmitPower(
          minimum: AdvertisingProperties.minimumPower.hciLevel, maximum: AdvertisingProperties.maximumPower.hciLevel))
    case .leReadSuggestedDefaultDataLength: return .information(.leSuggestedDefaultDataLength(host.suggestedLength))
    case .leWriteSuggestedDefaultDataLength(let length): return .status(setSuggestedLength(length))
    case .leReadMaximumDataLength:
      let longest = DataLengthState.maximum(with: features)
      return .information(.leMaximumDataLength(transmit: longest, receive: longest))
    case .leSetHostFeature(let bit, let value): return .status(setHostFeature(bit, value))
    case .leModifySleepClockAccuracy(let isLessAccurate):
      return .status(modifySleepClockAccuracy(isLessAccurate: isLessAccurate, at: now))

    // LE: legacy advertising, and the Filter Accept List
    case .leSetRandomAddress(let value): return .status(setRandomAddress(value))
    case .leSetAdvertisingParameters(let parameters): return .status(setAdvertisingParameters(parameters))
    case .leReadAdvertisingPhysicalChannelTxPower:
      return .complete(.leAdvertisingPhysicalChannelTxPower(configuration.transmitPower.hciLevel))
    case .leSetAdvertisingData(let data): return .status(setAdvertisingData(data))
    case .leSetScanResponseData(let data): return .status(setScanResponseData(data))
    case .leSetAdvertisingEnable(let isEnabled): return .status(setAdvertisingEnable(isEnabled, at: now))
    case .leReadFilterAcceptListSize: return .complete(.leFilterAcceptListSize(UInt8(AcceptList.capacity)))
    case .leClearFilterAcceptList: return .status(clearAcceptList())
    case .leAddDeviceToFilterAcceptList(let peer): return .status(addToAcceptList(peer))
    case .leRemoveDeviceFromFilterAcceptList(let peer): return .status(removeFromAcceptList(peer))

    // LE: scanning and initiating
    case .leSetScanParameters(let parameters): return .status(setScanParameters(parameters))
    case .leSetScanEnable(let isEnabled, let filterDuplicates):
      let enable = HCI.ExtendedScanEnable(isEnabled, duplicates: filterDuplicates ? .on : .off)
      return .status(setScanEnable(enable, isExtended: false, at: now))
    case .leSetExtendedScanParameters(let parameters): return .status(setScanParameters(parameters))
    case .leSetExtendedScanEnable(let enable): return .status(setExtendedScanEnable(enable, at: now))
    case .leCreateConnection(let request):
      return begin(opcode, checkInitiating(request, at: now)) {
        $0.initiate(HCI.ExtendedCreateConnection(request), isExtended: false, at: now)
      }
    case .leExtendedCreateConnection(let request):
      return begin(opcode, checkInitiating(request, at: now)) { $0.initiate(request, isExtended: true, at: now) }
    case .leCreateConnectionCancel: return cancel(opcode, checkInitiatingCancel()) { $0.cancelInitiating() }

    // LE: connections
    case .leConnectionUpdate(let handle, let parameters, _):
      return begin(opcode, checkConnectionUpdate(handle, parameters)) {
        $0.updateConnection(handle, parameters, at: now)
      }
    case .leSetHostChannelClassification(let bits):
      return .status(setChannelClassification(ChannelMap(bits: bits), at: now))
    case .leReadChannelMap(let handle): return .complete(with(handle) { .leChannelMap(handle, $0.channelMap.bits) })
    case .leReadRemoteFeatures(let handle):
      return begin(opcode, checkReadRemoteFeatures(handle)) { $0.readRemoteFeatures(handle, at: now) }
    case .leRemoteConnectionParameterRequestReply(let handle, let parameters, _):
      return .handle(handle, acceptParameterRequest(on: handle, parameters, at: now))
    case .leRemoteConnectionParameterRequestNegativeReply(let handle, let reason):
      return .handle(handle, rejectParameterRequest(on: handle, reason, at: now))
    case .leSetDataLength(let handle, let length): return .handle(handle, setDataLength(length, on: handle, at: now))
    case .leReadPHY(let handle):
      return .complete(
        with(handle) {
          .lePHY(handle, transmit: $0.phys.current.transmit.rawValue, receive: $0.phys.current.receive.rawValue)
        })
    case .leSetDefaultPHY(let preference): return .status(setDefaultPHY(preference))
    case .leSetPHY(let handle, let preference, let options):
      return begin(opcode, checkSetPHY(handle, preference)) {
        $0.setPHY(handle, preference, options: options, at: now)
      }
    case .leRequestPeerSCA(let handle):
      return begin(opcode, checkRequestPeerSCA(handle)) {
        $0.begin(.clockAccuracyUpdate(isHosts: true), on: handle, at: now)
      }

    // LE: encryption and cryptography
    case .leEnableEncryption(let handle, let random, let diversifier, let key):
      return begin(opcode, checkEnableEncryption(handle)) {
        let request = Encryption.Request(random: random, encryptedDiversifier: diversifier, longTermKey: key)
        $0.begin(.encryption(request), on: handle, at: now)
      }
    case .leLongTermKeyRequestReply(let handle, let key):
      return .handle(handle, takeLongTermKey(key, on: handle, at: now))
    case .leLongTermKeyRequestNegativeReply(let handle):
      return .handle(handle, refuseLongTermKey(on: handle, at: now))
    case .leEncrypt(let key, let plaintext): return .complete(.leEncrypt(encrypt(plaintext, key: key)))
    case .leRand: return .complete(.leRand(random.next()))
    case .leReadLocalP256PublicKey: return begin(opcode, .success) { $0.readLocalPublicKey() }
    case .leGenerateDHKey(let coordinates):
      return begin(opcode, checkGenerateDHKey(coordinates, usesDebugKey: false)) {
        $0.generateDHKey(coordinates, usesDebugKey: false)
      }
    case .leGenerateDHKeyV2(let coordinates, let usesDebugKey):
      return begin(opcode, checkGenerateDHKey(coordinates, usesDebugKey: usesDebugKey)) {
        $0.generateDHKey(coordinates, usesDebugKey: usesDebugKey)
      }

    // LE: privacy
    case .leAddDeviceToResolvingList(let peer, let peerIRK, let localIRK):
      return .status(changeResolvingList { $0.add(peer, peerIRK: peerIRK.value, localIRK: localIRK.value) })
    case .leRemoveDeviceFromResolvingList(let peer): return .status(changeResolvingList { $0.remove(peer) })
    case .leClearResolvingList: return .status(clearResolvingList())
    case .leReadResolvingListSize: return .complete(.leResolvingListSize(UInt8(ResolvingList.capacity)))
    case .leReadPeerResolvableAddress(let peer): return .complete(peerResolvableAddress(of: peer))
    case .leReadLocalResolvableAddress(let peer): return .complete(localResolvableAddress(for: peer, at: now))
    case .leSetAddressResolutionEnable(let isEnabled): return .status(setAddressResolution(isEnabled))
    case .leSetResolvablePrivateAddressTimeout(let seconds):
      return .status(resolvingList.setTimeout(seconds, at: now))
    case .leSetPrivacyMode(let peer, let isDevicePrivacy):
      return .status(changeResolvingList { $0.setPrivacyMode(of: peer, usesDevicePrivacy: isDevicePrivacy) })

    // LE: advertising sets
    case .leSetAdvertisingSetRandomAddress(let handle, let value):
      return .status(withSet(handle) { $0.setRandomAddress(value, of: $1) })
    case .leSetExtendedAdvertisingParameters(let parameters), .leSetExtendedAdvertisingParametersV2(let parameters):
      return .complete(setParameters(parameters))
    case .leSetExtendedAdvertisingData(let handle, let fragment):
      return .status(withSet(handle) { $0.setData(fragment, of: $1) })
    case .leSetExtendedScanResponseData(let handle, let fragment):
      return .status(withSet(handle) { $0.setResponse(fragment, of: $1) })
    case .leSetExtendedAdvertisingEnable(let isEnabled, let elements):
      return .status(isEnabled ? enable(elements, at: now) : disable(elements))
    case .leReadMaximumAdvertisingDataLength:
      return .complete(.leMaximumAdvertisingDataLength(UInt16(AdvertisingContent.maximumLength)))
    case .leReadNumberOfSupportedAdvertisingSets:
      return .complete(.leNumberOfSupportedAdvertisingSets(UInt8(AdvertisingSets.capacity)))
    case .leRemoveAdvertisingSet(let handle): return .status(withSet(handle) { $0.removeSet($1) })
    case .leClearAdvertisingSets: return .status(clearSets())
    case .leSetDataRelatedAddressChanges(let handle, let reasons):
      return .status(setAddressChanges(reasons, of: handle))

    // LE: periodic advertising
    case .leSetPeriodicAdvertisingParameters(let parameters):
      return .status(withSet(parameters.handle) { $0.setPeriodicParameters(parameters, of: $1) })
    case .leSetPeriodicAdvertisingData(let handle, let fragment):
      return .status(withSet(handle) { $0.setPeriodicData(fragment, of: $1) })
    case .leSetPeriodicAdvertisingEnable(let enable, let handle):
      return .status(withSet(handle) { $0.setPeriodicEnable(enable, of: $1, at: now) })
    case .lePeriodicAdvertisingCreateSync(let request):
      return begin(opcode, checkSynchronizing(request)) { $0.synchronize(request) }
    case .lePeriodicAdvertisingCreateSyncCancel:
      return cancel(opcode, syncs.request == nil ? .commandDisallowed : .success) { $0.cancelSynchronizing() }
    case .lePeriodicAdvertisingTerminateSync(let handle): return .status(terminateSync(handle))
    case .leAddDeviceToPeriodicAdvertiserList(let advertiser): return .status(syncs.add(advertiser))
    case .leRemoveDeviceFromPeriodicAdvertiserList(let advertiser): return .status(syncs.remove(advertiser))
    case .leClearPeriodicAdvertiserList: return .status(syncs.clearList())
    case .leReadPeriodicAdvertiserListSize:
      return .complete(.lePeriodicAdvertiserListSize(UInt8(PeriodicSyncs.listCapacity)))
    case .leSetPeriodicAdvertisingReceiveEnable(let handle, let enable):
      return .status(setReceiving(enable, of: handle))
    case .lePeriodicAdvertisingSyncTransfer(let connection, let serviceData, let sync):
      return .handle(connection, transfer(sync, serviceData: serviceData, to: connection, at: now))
    case .lePeriodicAdvertisingSetInfoTransfer(let connection, let serviceData, let handle):
      return .handle(connection, transferTrain(of: handle, to: connection, serviceData: serviceData, at: now))
    case .leSetPeriodicAdvertisingSyncTransferParameters(let connection, let parameters):
      return .handle(connection, setSyncTransfer(parameters, on: connection))
    case .leSetDefaultPeriodicAdvertisingSyncTransferParameters(let parameters):
      return .status(setDefaultSyncTransfer(parameters))

    // `supported` has refused these.
    case .readLEHostSupport, .writeLEHostSupport, .leReadBufferSizeV2, .leReadRFPathCompensation,
      .leWriteRFPathCompensation, .unknown:
      return .unknown
    }
  }

  private var versionInformation: HCI.VersionInformation {
    mutating get {
      HCI.VersionInformation(
        hciVersion: configuration.version, hciSubversion: configuration.subversion, lmpVersion: configuration.version,
        companyIdentifier: configuration.companyIdentifier, lmpSubversion: configuration.subversion)
    }
  }

  private mutating func setSuggestedLength(_ length: HCI.DataLength) -> HCI.ErrorCode {
    guard length.isValid else { return .invalidHCICommandParameters }
    host.suggestedLength = length
    return .success
  }
}

extension HCI.DataLength {
  /// True if both values are in range · Vol 4, Part E, 7.8.33, 7.8.35.
  var isValid: Bool { 27...251 ~= octets && 328...17_040 ~= time }
  /// Returns the values limited to what a controller with these features can send.
  func supported(by features: HCI.LEFeatures) -> HCI.DataLength {
    let longest = DataLengthState.maximum(with: features)
    return HCI.DataLength(octets: min(octets, longest.octets), time: min(time, longest.time))
  }
}

extension HCI.ErrorCode {
  /// Creates the status of a command that can't be decoded · Vol 4, Part E, 4.5: reserved values may have a meaning
  /// in a later version.
  fileprivate init(_ error: DecodingError) {
    switch error {
    case .truncated, .excess, .invalid: self = .invalidHCICommandParameters
    case .unknown: self = .unsupportedFeatureOrParameterValue
    }
  }
}
