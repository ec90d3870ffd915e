// Design: claims and commands
//
// What a controller claims to support is true at every commit, and each kind of claim has one place:
// - `LEFeatures.claimed`: the features;
// - the rows of `HCI.Commands` (in BluetoothWire): the commands, with the feature, role or version that each command
//   needs, and the generation, legacy or extended, which do not mix until Reset;
// - `HCI.EventKind.mask` (in BluetoothWire): the mask bit that lets an event pass;
// - `HCIEventQueue`: which of two forms of an event is sent.
//
// The bitmap of supported commands, the supported states, and the commands that are rejected as unknown follow from
// these. A `ControllerConfiguration` removes features and roles and lowers the version (`bluetooth40Peripheral` is the
// preset). What is removed is then missing from the features, the bitmap, the states and the air.
//
// A command is first decoded (`HCI.Command`). Values that are reserved for future use are `unknown` and get 0x11;
// anything else that cannot be decoded gets 0x12. Then the command is validated and answered, and its work begins after
// the answer has been sent. Each command is answered once; Host Number Of Completed Packets is answered only when it is
// wrong.

import BluetoothWire

/// The execution of HCI commands · Vol 4, Part E, 7.
extension Controller {
  /// Executes a command of the host and responds to it. Returns true if the command may have changed the controller's
  /// state; false if the command was rejected before decoding or only requests information.
  mutating func command(_ opcode: HCI.Opcode, _ parameters: ByteSlice, at now: Instant) -> Bool {
    guard let served = device.supported(opcode) else {
      device.output.send(.commandStatus(.unknownHCICommand, credits: 1, opcode))
      return false
    }
    guard host.admits(served) else {
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
      device.output.send(.commandComplete(credits: 1, opcode, parameters))
      return false
    case .complete(let parameters): device.output.send(.commandComplete(credits: 1, opcode, parameters))
    case .refusal(let status): refuse(opcode, parameters, status)
    case .done: break
    case .unknown: device.output.send(.commandStatus(.unknownHCICommand, credits: 1, opcode))
    }
    return true
  }

  private mutating func refuse(_ opcode: HCI.Opcode, _ parameters: ByteSlice, _ status: HCI.ErrorCode) {
    switch opcode.definition?.answer {
    case .commandStatus: device.output.send(.commandStatus(status, credits: 1, opcode))
    case .commandComplete, nil:
      device.output.send(.commandComplete(credits: 1, opcode, .failure(status, of: opcode, parameters)))
    }
  }

  /// The result of a command, which determines the response.
  private enum Result {
    /// Command Complete. Nothing has changed.
    case information(HCI.ReturnParameters)
    /// Command Complete.
    case complete(HCI.ReturnParameters)
    /// The error response to an invalid command that has no response on success.
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

  /// Sends Command Status. If the status is success, `body` then starts the procedure; another event reports its end.
  private mutating func begin(
    _ opcode: HCI.Opcode, _ status: HCI.ErrorCode, _ body: (inout Controller) -> Void
  ) -> Result {
    device.output.send(.commandStatus(status, credits: 1, opcode))
    if status == .success { body(&self) }
    return .done
  }

  /// Sends Command Complete. If the status is success, `body` then cancels the pending procedure; another event reports
  /// its end.
  private mutating func cancel(
    _ opcode: HCI.Opcode, _ status: HCI.ErrorCode, _ body: (inout Controller) -> Void
  ) -> Result {
    device.output.send(.commandComplete(credits: 1, opcode, .status(status)))
    if status == .success { body(&self) }
    return .done
  }

  private mutating func perform(_ command: HCI.Command, _ opcode: HCI.Opcode, at now: Instant) -> Result {
    switch command {
    // Link Control
    case .disconnect(let handle, let reason):
      return begin(opcode, connections.checkDisconnect(handle, reason)) {
        $0.connections.begin(
          .termination(reason: .connectionTerminatedByLocalHost, code: reason), on: handle, at: now,
          into: &$0.device.output)
      }
    case .readRemoteVersionInformation(let handle):
      return begin(opcode, connections.checkProcedure(on: handle)) {
        $0.connections.begin(.versionExchange, on: handle, at: now, into: &$0.device.output)
      }

    // Controller & Baseband
    case .setEventMask(let mask):
      device.output.eventMask = mask
      return .status(.success)
    case .reset:
      reset()
      return .status(.success)
    case .readTransmitPowerLevel(let handle, _):
      return .complete(connections.with(handle) { .transmitPowerLevel(handle, $0.transmitPower.hciLevel) })
    case .setControllerToHostFlowControl(let mode):
      return .status(device.output.setFlowControl(mode, isConnected: !connections.isEmpty))
    case .hostBufferSize(let size): return .status(device.output.setBuffers(size))
    case .hostNumberOfCompletedPackets(let packets):
      // The controller responds to this command only if it is invalid · 7.3.40.
      return device.output.hostCompleted(packets) ? .done : .refusal(.invalidHCICommandParameters)
    case .setEventMaskPage2(let mask):
      device.output.eventMaskPage2 = mask
      return .status(.success)
    case .readAuthenticatedPayloadTimeout(let handle):
      return .complete(
        connections.with(handle) { .authenticatedPayloadTimeout(handle, $0.encryption.payloadTimer.timeout) })
    case .writeAuthenticatedPayloadTimeout(let handle, let timeout):
      return .handle(handle, connections.setPayloadTimeout(timeout, on: handle, at: now))

    // Informational and Status Parameters
    case .readLocalVersionInformation: return .information(.localVersionInformation(versionInformation))
    case .readLocalSupportedCommands:
      return .information(.localSupportedCommands(HCI.SupportedCommands(device.supportedOpcodes)))
    case .readLocalSupportedFeatures: return .information(.localSupportedFeatures(LocalDevice.lmpFeatures))
    case .readLocalExtendedFeatures(let page):
      // Page 0 is the only page · 7.4.4.
      return .information(
        page == 0
          ? .localExtendedFeatures(page: 0, maximumPage: 0, LocalDevice.lmpFeatures.rawValue)
          : .status(.invalidHCICommandParameters))
    case .readBufferSize:
      return .information(
        .bufferSize(
          HCI.BufferSize(
            aclLength: UInt16(clamping: device.configuration.aclBufferLength),
            aclCount: UInt16(clamping: device.configuration.aclBufferCount))))
    case .readBDADDR:
      // A controller without a public address reports zeros · 7.4.6.
      return .information(
        .bdADDR(device.configuration.address.kind == .public ? device.configuration.address.value : 0))
    case .readRSSI(let handle): return .complete(connections.with(handle) { .rssi(handle, $0.level?.hciLevel ?? 127) })

    // LE: properties and settings of the controller
    case .leSetEventMask(let mask):
      device.output.leEventMask = mask
      return .status(.success)
    case .leReadBufferSize:
      return .information(
        .leBufferSize(
          aclLength: UInt16(clamping: device.configuration.aclBufferLength),
          aclCount: UInt8(clamping: device.configuration.aclBufferCount)))
    case .leReadLocalSupportedFeatures: return .information(.leLocalSupportedFeatures(device.features))
    case .leReadSupportedStates: return .information(.leSupportedStates(device.configuration.supportedStates))
    case .leReadTransmitPower:
      return .information(
        .leTransmitPower(
          minimum: ControllerConfiguration.minimumPower.hciLevel, maximum: ControllerConfiguration.maximumPower.hciLevel
        ))
    case .leReadSuggestedDefaultDataLength:
      return .information(.leSuggestedDefaultDataLength(connections.preferredLength))
    case .leWriteSuggestedDefaultDataLength(let length): return .status(connections.setPreferredLength(length))
    case .leReadMaximumDataLength:
      let longest = DataLengthState.maximum(with: device.features)
      return .information(.leMaximumDataLength(transmit: longest, receive: longest))
    case .leSetHostFeature(let bit, let value):
      return .status(device.setHostFeature(bit, value, isConnected: !connections.isEmpty))
    case .leModifySleepClockAccuracy(let isLessAccurate):
      return .status(modifySleepClockAccuracy(isLessAccurate: isLessAccurate, at: now))

    // LE: legacy advertising, and the Filter Accept List
    case .leSetRandomAddress(let value): return .status(setRandomAddress(value))
    case .leSetAdvertisingParameters(let parameters): return .status(advertising.setLegacyParameters(parameters))
    case .leReadAdvertisingPhysicalChannelTxPower:
      return .complete(.leAdvertisingPhysicalChannelTxPower(device.configuration.transmitPower.hciLevel))
    case .leSetAdvertisingData(let data):
      return .status(advertising.setLegacyData(data, device: &device, radio: &radioControl))
    case .leSetScanResponseData(let data):
      return .status(advertising.setLegacyResponse(data, device: &device, radio: &radioControl))
    case .leSetAdvertisingEnable(let isEnabled):
      return .status(
        advertising.setLegacyEnable(
          isEnabled, connectionCount: connections.count, device: &device, radio: &radioControl, at: now))
    case .leReadFilterAcceptListSize: return .complete(.leFilterAcceptListSize(UInt8(AcceptList.capacity)))
    case .leClearFilterAcceptList: return .status(clearAcceptList())
    case .leAddDeviceToFilterAcceptList(let peer): return .status(addToAcceptList(peer))
    case .leRemoveDeviceFromFilterAcceptList(let peer): return .status(removeFromAcceptList(peer))

    // LE: scanning and initiating
    case .leSetScanParameters(let parameters): return .status(scanning.setParameters(parameters))
    case .leSetScanEnable(let isEnabled, let filterDuplicates):
      let enable = HCI.ExtendedScanEnable(isEnabled, duplicates: filterDuplicates ? .on : .off)
      return .status(setScanEnable(enable, isExtended: false, at: now))
    case .leSetExtendedScanParameters(let parameters):
      return .status(scanning.setParameters(parameters, features: device.features))
    case .leSetExtendedScanEnable(let enable): return .status(setScanEnable(enable, isExtended: true, at: now))
    case .leCreateConnection(let request):
      return begin(opcode, initiating.check(request, connections: &connections, device: &device, at: now)) {
        $0.initiate(HCI.ExtendedCreateConnection(request), isExtended: false, at: now)
      }
    case .leExtendedCreateConnection(let request):
      return begin(opcode, initiating.check(request, connections: &connections, device: &device, at: now)) {
        $0.initiate(request, isExtended: true, at: now)
      }
    case .leCreateConnectionCancel: return cancel(opcode, initiating.statusOfCancelling) { $0.cancelInitiating() }

    // LE: connections
    case .leConnectionUpdate(let handle, let parameters, _):
      return begin(opcode, connections.checkConnectionUpdate(handle, parameters)) {
        $0.connections.update(handle, parameters, at: now, into: &$0.device.output)
      }
    case .leSetHostChannelClassification(let bits):
      return .status(setChannelClassification(ChannelMap(bits: bits), at: now))
    case .leReadChannelMap(let handle):
      return .complete(connections.with(handle) { .leChannelMap(handle, $0.channelMap.bits) })
    case .leReadRemoteFeatures(let handle):
      return begin(opcode, connections.checkReadRemoteFeatures(handle)) {
        $0.connections.readRemoteFeatures(handle, at: now, into: &$0.device.output)
      }
    case .leRemoteConnectionParameterRequestReply(let handle, let parameters, _):
      return .handle(
        handle,
        connections.acceptParameterRequest(on: handle, parameters, at: now, into: &device.output))
    case .leRemoteConnectionParameterRequestNegativeReply(let handle, let reason):
      return .handle(
        handle,
        connections.rejectParameterRequest(on: handle, reason, at: now, into: &device.output))
    case .leSetDataLength(let handle, let length):
      return .handle(handle, connections.setDataLength(length, on: handle, device: &device, at: now))
    case .leReadPHY(let handle):
      return .complete(
        connections.with(handle) {
          .lePHY(handle, transmit: $0.phys.current.transmit.rawValue, receive: $0.phys.current.receive.rawValue)
        })
    case .leSetDefaultPHY(let preference):
      return .status(connections.setDefaultPHY(preference, features: device.features))
    case .leSetPHY(let handle, let preference, let options):
      return begin(opcode, connections.checkSetPHY(handle, preference)) {
        $0.connections.setPHY(handle, preference, options: options, at: now, into: &$0.device.output)
      }
    case .leRequestPeerSCA(let handle):
      return begin(opcode, connections.checkRequestPeerSCA(handle)) {
        $0.connections.begin(.clockAccuracyUpdate(isHosts: true), on: handle, at: now, into: &$0.device.output)
      }

    // LE: encryption and cryptography
    case .leEnableEncryption(let handle, let random, let diversifier, let key):
      return begin(opcode, connections.checkEnableEncryption(handle)) {
        let request = Encryption.Request(random: random, encryptedDiversifier: diversifier, longTermKey: key)
        $0.connections.begin(.encryption(request), on: handle, at: now, into: &$0.device.output)
      }
    case .leLongTermKeyRequestReply(let handle, let key):
      return .handle(handle, connections.takeLongTermKey(key, on: handle, at: now, into: &device.output))
    case .leLongTermKeyRequestNegativeReply(let handle):
      return .handle(handle, connections.refuseLongTermKey(on: handle, at: now, into: &device.output))
    case .leEncrypt(let key, let plaintext): return .complete(cryptography.encrypt(plaintext, key: key))
    case .leRand: return .complete(.leRand(device.random.next()))
    case .leReadLocalP256PublicKey:
      return begin(opcode, .success) { $0.cryptography.readLocalPublicKey(device: &$0.device) }
    case .leGenerateDHKey(let coordinates):
      return begin(opcode, cryptography.checkGenerateDHKey(coordinates, usesDebugKey: false)) {
        $0.cryptography.generateDHKey(coordinates, usesDebugKey: false, into: &$0.device.output)
      }
    case .leGenerateDHKeyV2(let coordinates, let usesDebugKey):
      return begin(opcode, cryptography.checkGenerateDHKey(coordinates, usesDebugKey: usesDebugKey)) {
        $0.cryptography.generateDHKey(coordinates, usesDebugKey: usesDebugKey, into: &$0.device.output)
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
      return .status(device.resolvingList.setTimeout(seconds, at: now))
    case .leSetPrivacyMode(let peer, let isDevicePrivacy):
      return .status(changeResolvingList { $0.setPrivacyMode(of: peer, usesDevicePrivacy: isDevicePrivacy) })

    // LE: advertising sets
    case .leSetAdvertisingSetRandomAddress(let handle, let value):
      return .status(advertising.setRandomAddress(value, of: handle, device: &device))
    case .leSetExtendedAdvertisingParameters(let parameters), .leSetExtendedAdvertisingParametersV2(let parameters):
      return .complete(advertising.setParameters(parameters, device: &device))
    case .leSetExtendedAdvertisingData(let handle, let fragment):
      return .status(advertising.setData(fragment, of: handle, device: &device, radio: &radioControl))
    case .leSetExtendedScanResponseData(let handle, let fragment):
      return .status(advertising.setResponse(fragment, of: handle, device: &device, radio: &radioControl))
    case .leSetExtendedAdvertisingEnable(let isEnabled, let elements):
      guard isEnabled else { return .status(advertising.disable(elements, radio: &radioControl)) }
      return .status(
        advertising.enable(
          elements, connectionCount: connections.count, device: &device, radio: &radioControl, at: now))
    case .leReadMaximumAdvertisingDataLength:
      return .complete(.leMaximumAdvertisingDataLength(UInt16(AdvertisingContent.maximumLength)))
    case .leReadNumberOfSupportedAdvertisingSets:
      return .complete(.leNumberOfSupportedAdvertisingSets(UInt8(ControllerAdvertisingSets.capacity)))
    case .leRemoveAdvertisingSet(let handle): return .status(advertising.removeSet(handle))
    case .leClearAdvertisingSets: return .status(advertising.clearSets())
    case .leSetDataRelatedAddressChanges(let handle, let reasons):
      return .status(
        advertising.setAddressChanges(reasons, of: handle, isLegacy: host.commandGeneration == .legacy))

    // LE: periodic advertising
    case .leSetPeriodicAdvertisingParameters(let parameters):
      return .status(advertising.setPeriodicParameters(parameters))
    case .leSetPeriodicAdvertisingData(let handle, let fragment):
      return .status(advertising.setPeriodicData(fragment, of: handle, device: &device, radio: &radioControl))
    case .leSetPeriodicAdvertisingEnable(let enable, let handle):
      return .status(
        advertising.setPeriodicEnable(enable, of: handle, device: &device, radio: &radioControl, at: now))
    case .lePeriodicAdvertisingCreateSync(let request):
      return begin(opcode, syncs.check(request, device: &device)) { $0.syncs.begin(request) }
    case .lePeriodicAdvertisingCreateSyncCancel:
      return cancel(opcode, syncs.request == nil ? .commandDisallowed : .success) {
        $0.syncs.cancel(radio: &$0.radioControl, into: &$0.device.output)
      }
    case .lePeriodicAdvertisingTerminateSync(let handle): return .status(syncs.terminate(handle, radio: &radioControl))
    case .leAddDeviceToPeriodicAdvertiserList(let advertiser): return .status(syncs.add(advertiser))
    case .leRemoveDeviceFromPeriodicAdvertiserList(let advertiser): return .status(syncs.remove(advertiser))
    case .leClearPeriodicAdvertiserList: return .status(syncs.clearList())
    case .leReadPeriodicAdvertiserListSize:
      return .complete(.lePeriodicAdvertiserListSize(UInt8(PeriodicSyncs.listCapacity)))
    case .leSetPeriodicAdvertisingReceiveEnable(let handle, let enable):
      return .status(syncs.setReceiving(enable, of: handle, features: device.features))
    case .lePeriodicAdvertisingSyncTransfer(let connection, let serviceData, let sync):
      return .handle(
        connection,
        syncs.transfer(
          sync, serviceData: serviceData, to: connection, connections: &connections, device: &device, at: now))
    case .lePeriodicAdvertisingSetInfoTransfer(let connection, let serviceData, let handle):
      return .handle(
        connection,
        advertising.transferTrain(
          of: handle, to: connection, serviceData: serviceData, connections: &connections, output: &device.output,
          at: now))
    case .leSetPeriodicAdvertisingSyncTransferParameters(let connection, let parameters):
      return .handle(
        connection,
        syncs.setTransfer(
          parameters, of: connection, connections: &connections, features: device.features))
    case .leSetDefaultPeriodicAdvertisingSyncTransferParameters(let parameters):
      return .status(syncs.setDefaultTransfer(parameters, connections: &connections, features: device.features))

    // `supported` rejects these commands before decoding.
    case .readLEHostSupport, .writeLEHostSupport, .leReadBufferSizeV2, .leReadRFPathCompensation,
      .leWriteRFPathCompensation, .unknown:
      return .unknown
    }
  }

  private var versionInformation: HCI.VersionInformation {
    mutating get {
      HCI.VersionInformation(
        hciVersion: device.configuration.version, hciSubversion: device.configuration.subversion,
        lmpVersion: device.configuration.version,
        companyIdentifier: device.configuration.companyIdentifier, lmpSubversion: device.configuration.subversion)
    }
  }

  /// Switches to the next less accurate or the next more accurate sleep clock, for connections, advertising and
  /// periodic synchronization · 7.8.94.
  private mutating func modifySleepClockAccuracy(isLessAccurate: Bool, at now: Instant) -> HCI.ErrorCode {
    guard let accuracy = device.chooseSleepClock(isLessAccurate: isLessAccurate) else { return .limitReached }
    let partsPerMillion = device.clockAccuracy
    connections.setSleepClock(accuracy, device: &device, at: now)
    advertising.setSleepClock(accuracy, partsPerMillion: partsPerMillion)
    syncs.setSleepClock(partsPerMillion: partsPerMillion, radio: &radioControl)
    return .success
  }

  /// Applies the channel classification of the host, which excludes bad channels · 7.8.19.
  private mutating func setChannelClassification(_ map: ChannelMap, at now: Instant) -> HCI.ErrorCode {
    guard map.count >= 1 else { return .invalidHCICommandParameters }
    // One channel is too few for a connection, so all channels are used.
    device.channelMap = map.isValid ? map : .all
    connections.channelsChanged(device: &device, at: now)
    advertising.channelsChanged(device: &device, radio: &radioControl)
    return .success
  }

  private mutating func setScanEnable(
    _ enable: HCI.ExtendedScanEnable, isExtended: Bool, at now: Instant
  ) -> HCI.ErrorCode {
    scanning.setEnable(
      enable, isExtended: isExtended, initiating: &initiating, device: &device, radio: &radioControl, at: now)
  }

  private mutating func initiate(_ request: HCI.ExtendedCreateConnection, isExtended: Bool, at now: Instant) {
    initiating.start(request, isExtended: isExtended, device: &device, at: now)
    scanning.listeningChanged(initiating: &initiating, radio: &radioControl)
  }
}

extension HCI.ErrorCode {
  /// Creates the status of a command that can't be decoded · Vol 4, Part E, 4.5. A reserved value is unsupported, not
  /// invalid, because a later version may define it.
  fileprivate init(_ error: DecodingError) {
    switch error {
    case .truncated, .excess, .invalid: self = .invalidHCICommandParameters
    case .unknown: self = .unsupportedFeatureOrParameterValue
    }
  }
}
