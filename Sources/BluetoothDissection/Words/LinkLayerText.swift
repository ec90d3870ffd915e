import BluetoothTypes
import BluetoothWire

/// Link layer PDUs in words.
enum LinkLayerText {
  /// Returns the name, the words and the addresses of an advertising physical channel PDU.
  ///
  /// - Parameter isSecondary: true on a channel other than 37, 38 and 39, where the same formats have other names.
  static func describe(
    _ pdu: LL.AdvertisingPDU, isSecondary: Bool, isPeriodic: Bool
  ) -> (name: String, words: [String], addresses: [DeviceAddress]) {
    switch pdu {
    case .advInd(let advertiser, let data, _): return ("ADV_IND", AdvertisingText.words(data), [advertiser])
    case .advDirectInd(let advertiser, let target, _): return ("ADV_DIRECT_IND", [], [advertiser, target])
    case .advNonconnInd(let advertiser, let data): return ("ADV_NONCONN_IND", AdvertisingText.words(data), [advertiser])
    case .advScanInd(let advertiser, let data): return ("ADV_SCAN_IND", AdvertisingText.words(data), [advertiser])
    case .scanReq(let scanner, let advertiser):
      return (isSecondary ? "AUX_SCAN_REQ" : "SCAN_REQ", [], [scanner, advertiser])
    case .scanRsp(let advertiser, let data): return ("SCAN_RSP", AdvertisingText.words(data), [advertiser])
    case .connectInd(let initiator, let advertiser, let data, _):
      return (
        isSecondary ? "AUX_CONNECT_REQ" : "CONNECT_IND",
        [
          "access address 0x\(data.accessAddress.hexadecimal)", "interval \(data.interval.intervalText)",
          "latency \(data.latency)", "timeout \(data.timeout.timeoutText)",
        ], [initiator, advertiser]
      )
    case .extended(let payload):
      // AUX_SCAN_RSP and AUX_CHAIN_IND have the same format: only the packets before them tell which one it is.
      let name = !isSecondary ? "ADV_EXT_IND" : isPeriodic ? "AUX_SYNC_IND" : "AUX_ADV_IND"
      var words = AdvertisingText.words(payload.data)
      if let info = payload.dataInfo { words.insert("set \(info.sid)", at: 0) }
      if let power = payload.transmitPower { words.append("TX power \(power) dBm") }
      return (name, words, [payload.advertiser, payload.target].compactMap { $0 })
    case .auxConnectRsp(let advertiser, let initiator): return ("AUX_CONNECT_RSP", [], [advertiser, initiator])
    }
  }

  /// Returns the advertising packet or scan response that a PDU is; nil: it is another one, or has no address.
  ///
  /// - Parameter isSecondary: true on a channel other than 37, 38 and 39.
  static func advertisement(
    in pdu: LL.AdvertisingPDU, isSecondary: Bool
  ) -> PacketDescription.Advertisement? {
    func made(
      _ address: DeviceAddress, _ type: PacketDescription.Advertisement.Kind, _ data: ByteSlice,
      isConnectable: Bool = false
    ) -> PacketDescription.Advertisement {
      PacketDescription.Advertisement(address: address, type: type, data: data.bytes, isConnectable: isConnectable)
    }
    switch pdu {
    case .advInd(let address, let data, _): return made(address, .advInd, data, isConnectable: true)
    case .advDirectInd(let address, _, _): return made(address, .advDirectInd, ByteSlice(), isConnectable: true)
    case .advNonconnInd(let address, let data): return made(address, .advNonconnInd, data)
    case .advScanInd(let address, let data): return made(address, .advScanInd, data)
    case .scanRsp(let address, let data): return made(address, isSecondary ? .auxScanRsp : .scanRsp, data)
    case .extended(let payload):
      // The packet on a primary channel has no data.
      guard isSecondary, let address = payload.advertiser else { return nil }
      return made(address, .advExtInd, payload.data, isConnectable: payload.mode == .connectable)
    case .scanReq, .connectInd, .auxConnectRsp: return nil
    }
  }

  /// Returns the words of an LL Control PDU · Vol 6, Part B, 2.4.2. Keys and their parts are not shown.
  static func words(_ pdu: LL.ControlPDU) -> [String] {
    switch pdu {
    case .connectionUpdateInd(let timing, let instant):
      return [
        "interval \(timing.interval.intervalText)", "latency \(timing.latency)",
        "timeout \(timing.timeout.timeoutText)",
        "event \(instant)",
      ]
    case .channelMapInd(let map, let instant): return ["\(map.count) channels", "event \(instant)"]
    case .terminateInd(let reason), .rejectInd(let reason): return [SpecificationNames.title(of: reason)]
    case .rejectExtInd(let opcode, let reason): return [name(opcode), SpecificationNames.title(of: reason)]
    case .unknownRsp(let opcode): return [name(opcode)]
    case .featureReq(let features), .featureRsp(let features), .peripheralFeatureReq(let features):
      return ["features 0x\(features.hexadecimal)"]
    case .versionInd(let version):
      return ["version \(version.version)", "company 0x\(version.company.hexadecimal)"]
    case .connectionParamReq(let proposal), .connectionParamRsp(let proposal):
      let parameters = proposal.parameters
      return [
        "interval \(parameters.minimumInterval.intervalText) to \(parameters.maximumInterval.intervalText)",
        "latency \(parameters.latency)", "timeout \(parameters.supervisionTimeout.timeoutText)",
      ]
    case .lengthReq(let lengths), .lengthRsp(let lengths):
      return [
        "receive \(lengths.maximumReceiveOctets) octets in \(lengths.maximumReceiveTime) µs",
        "transmit \(lengths.maximumTransmitOctets) octets in \(lengths.maximumTransmitTime) µs",
      ]
    case .phyReq(let phys), .phyRsp(let phys):
      return ["transmit \(phys.transmit.words)", "receive \(phys.receive.words)"]
    case .phyUpdateInd(let update, let instant):
      return [
        "to peripheral \(update.centralToPeripheral.words)", "to central \(update.peripheralToCentral.words)",
        "event \(instant)",
      ]
    case .minUsedChannelsInd(let minimum): return ["\(minimum.count) channels", minimum.phys.words]
    case .clockAccuracyReq(let accuracy), .clockAccuracyRsp(let accuracy): return ["\(accuracy.partsPerMillion) ppm"]
    case .channelReportingInd(let reporting): return [reporting.isEnabled ? "on" : "off"]
    case .encReq, .encRsp, .startEncReq, .startEncRsp, .pauseEncReq, .pauseEncRsp, .pingReq, .pingRsp,
      .periodicSyncInd, .channelStatusInd:
      return []
    }
  }

  private static func name(_ opcode: UInt8) -> String {
    LL.ControlOpcode(rawValue: opcode).map { SpecificationNames.name(of: $0) } ?? "opcode 0x\(opcode.hexadecimal)"
  }
}
