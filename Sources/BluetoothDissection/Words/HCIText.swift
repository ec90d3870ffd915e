import BluetoothTypes
import BluetoothWire

/// HCI commands and events in words.
enum HCIText {
  /// The words of a packet.
  struct Description {
    var name: String
    var detail = ""
    var connection: HCI.ConnectionHandle?
    var addresses: [DeviceAddress] = []
    var advertising: [PacketDescription.Advertisement] = []
  }

  // MARK: Commands

  static func describe(command opcode: HCI.Opcode, _ parameters: ByteSlice) -> Description {
    var result = Description(name: opcode.description)
    guard let command = try? HCI.Command(opcode: opcode, parameters: parameters) else {
      result.detail = "invalid parameters: 0x\(parameters.bytes.digits)"
      return result
    }
    result.connection = command.connection
    var words: [String] = []
    switch command {
    case .disconnect(_, let reason): words = [SpecificationNames.title(of: reason)]
    case .leSetRandomAddress(let value):
      result.addresses = [DeviceAddress(value, .random)]
    case .leSetAdvertisingSetRandomAddress(_, let value):
      result.addresses = [DeviceAddress(value, .random)]
    case .leSetAdvertisingParameters(let parameters):
      words = [
        "\(parameters.minimumInterval.scanIntervalText) to \(parameters.maximumInterval.scanIntervalText)"
      ]
    case .leSetAdvertisingData(let data), .leSetScanResponseData(let data): words = AdvertisingText.words(data)
    case .leSetExtendedAdvertisingData(_, let fragment), .leSetExtendedScanResponseData(_, let fragment):
      words = AdvertisingText.words(fragment.data)
    case .leSetAdvertisingEnable(let isOn), .leSetAddressResolutionEnable(let isOn): words = [isOn ? "on" : "off"]
    case .leSetExtendedAdvertisingEnable(let isOn, _): words = [isOn ? "on" : "off"]
    case .leSetScanParameters(let parameters):
      words = [
        parameters.isActive ? "active" : "passive",
        "window \(parameters.window.scanIntervalText) of \(parameters.interval.scanIntervalText)",
      ]
    case .leSetScanEnable(let isOn, let filters): words = [isOn ? "on" : "off"] + (filters ? ["no duplicates"] : [])
    case .leSetExtendedScanEnable(let parameters): words = [parameters.isEnabled ? "on" : "off"]
    case .leCreateConnection(let parameters):
      words = [interval(parameters.parameters)]
      if parameters.usesAcceptList {
        words.insert("any device of the filter accept list", at: 0)
      } else {
        result.addresses = [parameters.peer.deviceAddress].compactMap { $0 }
      }
    case .leExtendedCreateConnection(let parameters):
      if parameters.usesAcceptList {
        words = ["any device of the filter accept list"]
      } else {
        result.addresses = [parameters.peer.deviceAddress].compactMap { $0 }
      }
    case .leAddDeviceToFilterAcceptList(let peer), .leRemoveDeviceFromFilterAcceptList(let peer),
      .leRemoveDeviceFromResolvingList(let peer), .leAddDeviceToResolvingList(let peer, _, _):
      result.addresses = [peer.deviceAddress].compactMap { $0 }
    case .leConnectionUpdate(_, let parameters, _), .leRemoteConnectionParameterRequestReply(_, let parameters, _):
      words = [interval(parameters)]
    case .leSetDataLength(_, let length): words = ["\(length.octets) octets", "\(length.time) µs"]
    case .leSetPHY(_, let preference, _):
      words = [
        "transmit \(preference.transmit?.words ?? "any")", "receive \(preference.receive?.words ?? "any")",
      ]
    // The name of these commands, and the connection, are all that is shown.
    case .readRemoteVersionInformation, .setEventMask, .reset, .readTransmitPowerLevel,
      .setControllerToHostFlowControl, .hostBufferSize, .hostNumberOfCompletedPackets, .setEventMaskPage2,
      .readLEHostSupport, .writeLEHostSupport, .readAuthenticatedPayloadTimeout, .writeAuthenticatedPayloadTimeout,
      .readLocalVersionInformation, .readLocalSupportedCommands, .readLocalSupportedFeatures,
      .readLocalExtendedFeatures, .readBufferSize, .readBDADDR, .readRSSI, .leSetEventMask, .leReadBufferSize,
      .leReadLocalSupportedFeatures, .leReadAdvertisingPhysicalChannelTxPower, .leCreateConnectionCancel,
      .leReadFilterAcceptListSize, .leClearFilterAcceptList, .leSetHostChannelClassification, .leReadChannelMap,
      .leReadRemoteFeatures, .leEncrypt, .leRand, .leEnableEncryption, .leLongTermKeyRequestReply,
      .leLongTermKeyRequestNegativeReply, .leReadSupportedStates, .leRemoteConnectionParameterRequestNegativeReply,
      .leReadSuggestedDefaultDataLength, .leWriteSuggestedDefaultDataLength, .leReadLocalP256PublicKey,
      .leGenerateDHKey, .leClearResolvingList, .leReadResolvingListSize, .leReadPeerResolvableAddress,
      .leReadLocalResolvableAddress, .leSetResolvablePrivateAddressTimeout, .leReadMaximumDataLength, .leReadPHY,
      .leSetDefaultPHY, .leSetExtendedAdvertisingParameters, .leSetExtendedAdvertisingParametersV2,
      .leReadMaximumAdvertisingDataLength, .leReadNumberOfSupportedAdvertisingSets, .leRemoveAdvertisingSet,
      .leClearAdvertisingSets, .leSetExtendedScanParameters, .leSetPeriodicAdvertisingParameters,
      .leSetPeriodicAdvertisingData, .leSetPeriodicAdvertisingEnable, .lePeriodicAdvertisingCreateSync,
      .lePeriodicAdvertisingCreateSyncCancel, .lePeriodicAdvertisingTerminateSync,
      .leAddDeviceToPeriodicAdvertiserList, .leRemoveDeviceFromPeriodicAdvertiserList,
      .leClearPeriodicAdvertiserList, .leReadPeriodicAdvertiserListSize, .leSetPeriodicAdvertisingReceiveEnable,
      .lePeriodicAdvertisingSyncTransfer, .lePeriodicAdvertisingSetInfoTransfer,
      .leSetPeriodicAdvertisingSyncTransferParameters, .leSetDefaultPeriodicAdvertisingSyncTransferParameters,
      .leReadTransmitPower, .leReadRFPathCompensation, .leWriteRFPathCompensation, .leSetPrivacyMode,
      .leGenerateDHKeyV2, .leModifySleepClockAccuracy, .leReadBufferSizeV2, .leRequestPeerSCA, .leSetHostFeature,
      .leSetDataRelatedAddressChanges, .unknown:
      break
    }
    result.detail = (result.addresses.map(\.description) + words).joined(separator: ", ")
    return result
  }

  private static func interval(_ parameters: BluetoothWire.ConnectionParameters) -> String {
    "interval \(parameters.minimumInterval.intervalText) to \(parameters.maximumInterval.intervalText), latency "
      + "\(parameters.latency), timeout \(parameters.supervisionTimeout.timeoutText)"
  }

  // MARK: Events

  static func describe(event code: UInt8, _ parameters: ByteSlice) -> Description {
    var result = Description(
      name: kind(code, parameters).map { SpecificationNames.name(of: $0) } ?? "event 0x\(code.hexadecimal)")
    guard let event = try? HCI.Event(code: code, parameters: parameters) else {
      result.detail = "invalid parameters: 0x\(parameters.bytes.digits)"
      return result
    }
    result.detail = words(event, parameters, &result).joined(separator: ", ")
    return result
  }

  /// Returns the kind of an event; nil: it has none.
  private static func kind(_ code: UInt8, _ parameters: ByteSlice) -> HCI.EventKind? {
    guard code == HCI.EventCode.leMeta else { return HCI.EventKind(rawValue: UInt16(code) << 8) }
    return parameters.isEmpty ? nil : HCI.EventKind(rawValue: UInt16(code) << 8 | UInt16(parameters[0]))
  }

  private static func words(_ event: HCI.Event, _ octets: ByteSlice, _ result: inout Description) -> [String] {
    switch event {
    case .commandComplete(_, let opcode, _):
      // The return parameters begin with the status, behind the credits and the opcode.
      guard opcode != .none else { return [] }
      let status = octets.count > 3 ? [SpecificationNames.title(of: HCI.ErrorCode(rawValue: octets[3]))] : []
      return [opcode.description] + status
    case .commandStatus(let status, _, let opcode): return [opcode.description, SpecificationNames.title(of: status)]
    case .disconnectionComplete(let status, let handle, let reason):
      result.connection = handle
      return [SpecificationNames.title(of: status.rawValue == 0 ? reason : status)]
    case .encryptionChange(let status, let handle, let enabled),
      .encryptionChangeV2(let status, let handle, let enabled, _):
      result.connection = handle
      return [enabled == 0 ? "off" : "on"] + failure(status)
    case .encryptionKeyRefreshComplete(let status, let handle):
      result.connection = handle
      return [SpecificationNames.title(of: status)]
    case .numberOfCompletedPackets(let list):
      let elements = Array(list)
      if elements.count == 1 { result.connection = elements[0].handle }
      return elements.map { elements.count == 1 ? "\($0.count)" : "\($0.handle): \($0.count)" }
    case .leConnectionComplete(let complete), .leEnhancedConnectionComplete(let complete):
      guard complete.status.rawValue == 0 else { return [SpecificationNames.title(of: complete.status)] }
      result.connection = complete.handle
      result.addresses = [complete.peer.deviceAddress].compactMap { $0 }
      return [complete.role == 0 ? "central of" : "peripheral of"].map { role in
        ([role] + result.addresses.map(\.description)).joined(separator: " ")
      } + values(complete.values)
    case .leConnectionUpdateComplete(let status, let handle, let new):
      result.connection = handle
      return status.rawValue == 0 ? values(new) : [SpecificationNames.title(of: status)]
    case .leReadRemoteFeaturesComplete(let status, let handle, let features):
      result.connection = handle
      return status.rawValue == 0
        ? ["features 0x\(features.rawValue.hexadecimal)"] : [SpecificationNames.title(of: status)]
    case .readRemoteVersionInformationComplete(let status, let handle, let version):
      result.connection = handle
      return status.rawValue == 0
        ? ["version \(version.version), company 0x\(version.companyIdentifier.hexadecimal)"]
        : [SpecificationNames.title(of: status)]
    case .leLongTermKeyRequest(let handle, _, _), .authenticatedPayloadTimeoutExpired(let handle):
      result.connection = handle
      return []
    case .leRemoteConnectionParameterRequest(let handle, let parameters):
      result.connection = handle
      return [interval(parameters)]
    case .leDataLengthChange(let handle, let transmit, let receive):
      result.connection = handle
      return [
        "transmit \(transmit.octets) octets in \(transmit.time) µs",
        "receive \(receive.octets) octets in \(receive.time) µs",
      ]
    case .lePHYUpdateComplete(let status, let handle, let transmit, let receive):
      result.connection = handle
      let phys = [("transmit", transmit), ("receive", receive)].map { direction, phy in
        "\(direction) \(PHY(rawValue: phy)?.words ?? "PHY \(phy)")"
      }
      return phys + failure(status)
    case .leChannelSelectionAlgorithm(let handle, let algorithm):
      result.connection = handle
      return ["#\(Int(algorithm) + 1)"]
    case .leAdvertisingReport(let reports):
      return reports.flatMap { report -> [String] in
        let address = report.address.deviceAddress
        result.addresses += [address].compactMap { $0 }
        let isConnectable = [.connectableScannable, .connectableDirected].contains(report.type)
        result.add(address, pduName(of: report.type), report.data, isConnectable: isConnectable)
        return [pduName(of: report.type)] + [address.map(\.description), level(report.rssi)].compactMap { $0 }
          + AdvertisingText.words(report.data)
      }
    case .leExtendedAdvertisingReport(let reports):
      return reports.flatMap { report -> [String] in
        let address = report.address.deviceAddress
        result.addresses += [address].compactMap { $0 }
        if report.type.isDisjoint(with: [.moreToCome, .truncated]) {
          result.add(
            address, pduName(of: report.type), report.data, isConnectable: report.type.contains(.connectable))
        }
        return [pduName(of: report.type)] + [address.map(\.description), level(report.rssi)].compactMap { $0 }
          + AdvertisingText.words(report.data)
      }
    case .leAdvertisingSetTerminated(let status, _, let handle, _):
      if status.rawValue == 0 { result.connection = handle }
      return [SpecificationNames.title(of: status)]
    case .leReadLocalP256PublicKeyComplete(let status, _), .leGenerateDHKeyComplete(let status, _):
      return [SpecificationNames.title(of: status)]
    case .leRequestPeerSCAComplete(let status, let handle, _):
      result.connection = handle
      return [SpecificationNames.title(of: status)]
    case .leDirectedAdvertisingReport(let report):
      let (address, target) = (report.address.deviceAddress, report.directAddress.deviceAddress)
      result.addresses += [address].compactMap { $0 }
      return [address.map(\.description), target.map { "to \($0)" }, level(report.rssi)].compactMap { $0 }
    case .lePeriodicAdvertisingSyncEstablished(let status, let sync):
      return status.rawValue == 0 ? words(sync, &result) : [SpecificationNames.title(of: status)]
    case .lePeriodicAdvertisingSyncTransferReceived(let status, let handle, _, let sync):
      result.connection = handle
      return status.rawValue == 0 ? words(sync, &result) : [SpecificationNames.title(of: status)]
    case .lePeriodicAdvertisingReport(let report):
      return ["sync \(report.handle.rawValue)"] + [level(report.rssi)].compactMap { $0 }
        + AdvertisingText.words(report.data)
    case .lePeriodicAdvertisingSyncLost(let handle): return ["sync \(handle.rawValue)"]
    case .leScanRequestReceived(_, let scanner):
      result.addresses += [scanner.deviceAddress].compactMap { $0 }
      return [scanner.deviceAddress.map { "by \($0)" }].compactMap { $0 }
    case .leScanTimeout, .dataBufferOverflow: return []
    case .hardwareError(let code): return ["code 0x\(code.hexadecimal)"]
    case .unknownLE(let subevent, let rest): return ["subevent 0x\(subevent.hexadecimal)", "0x\(rest.bytes.digits)"]
    case .unknown(_, let rest): return ["0x\(rest.bytes.digits)"]
    }
  }

  /// The words of an established synchronization with a periodic advertiser.
  private static func words(_ sync: HCI.PeriodicSync, _ result: inout Description) -> [String] {
    let address = sync.advertiser.address.deviceAddress
    result.addresses += [address].compactMap { $0 }
    return ["sync \(sync.handle.rawValue)"] + [address.map { "with \($0)" }].compactMap { $0 }
      + ["set \(sync.advertiser.advertisingSID)", "interval \(sync.interval.intervalText)"]
  }

  private static func failure(_ status: HCI.ErrorCode) -> [String] {
    status.rawValue == 0 ? [] : [SpecificationNames.title(of: status)]
  }

  private static func values(_ values: HCI.ConnectionValues) -> [String] {
    [
      "interval \(values.interval.intervalText)", "latency \(values.latency)",
      "timeout \(values.supervisionTimeout.timeoutText)",
    ]
  }

  private static func level(_ rssi: Int8) -> String? { rssi == 127 ? nil : "\(rssi) dBm" }

  private static func pduName(of type: HCI.AdvertisingReport.EventType) -> String {
    switch type {
    case .connectableScannable: "ADV_IND"
    case .connectableDirected: "ADV_DIRECT_IND"
    case .scannable: "ADV_SCAN_IND"
    case .nonConnectable: "ADV_NONCONN_IND"
    case .scanResponse: "SCAN_RSP"
    }
  }

  private static func pduName(of type: HCI.ExtendedAdvertisingReport.EventType) -> String {
    guard type.contains(.legacy) else { return type.contains(.scanResponse) ? "AUX_SCAN_RSP" : "ADV_EXT_IND" }
    if type.contains(.scanResponse) { return "SCAN_RSP" }
    if type.contains(.directed) { return "ADV_DIRECT_IND" }
    if type.contains(.connectable) { return "ADV_IND" }
    return type.contains(.scannable) ? "ADV_SCAN_IND" : "ADV_NONCONN_IND"
  }
}

extension HCIText.Description {
  /// Notes a reported advertising packet.
  fileprivate mutating func add(
    _ address: DeviceAddress?, _ pdu: String, _ data: ByteSlice, isConnectable: Bool
  ) {
    guard let address, let type = PacketDescription.Advertisement.Kind(rawValue: pdu) else { return }
    advertising.append(
      PacketDescription.Advertisement(
        address: address, type: type, data: data.bytes, isConnectable: isConnectable))
  }
}
