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

  /// Returns the words of a command. Its name and its fields follow from its row.
  static func describe(command opcode: HCI.Opcode, _ parameters: ByteSlice) -> Description {
    var result = Description(name: opcode.description)
    guard let command = try? HCI.Command(opcode: opcode, parameters: parameters) else {
      result.detail = "invalid parameters: 0x\(parameters.bytes.digits)"
      return result
    }
    if case .unknown = command { return result }
    result.detail = command.fields.flatMap { words($0, &result) }.joined(separator: ", ")
    return result
  }

  /// Returns the words of an event. Its name and its fields follow from its row.
  static func describe(event code: UInt8, _ parameters: ByteSlice) -> Description {
    let definition = HCI.EventKind(code: code, parameters: parameters).definition
    var result = Description(name: definition?.name.description ?? "event 0x\(code.hexadecimal)")
    guard let event = try? HCI.Event(code: code, parameters: parameters) else {
      result.detail = "invalid parameters: 0x\(parameters.bytes.digits)"
      return result
    }
    result.detail = words(event, &result).joined(separator: ", ")
    return result
  }

  /// Returns the words of an event. After an error the other fields have no meaning, except for the opcode and the
  /// connection.
  private static func words(_ event: HCI.Event, _ result: inout Description) -> [String] {
    // An event for no command only has credits.
    if case .commandComplete(_, .none, _) = event { return [] }
    if case .unknownLE(let subevent, let octets) = event {
      return ["subevent 0x\(subevent.hexadecimal)", "0x\(octets.bytes.digits)"]
    }
    var status: HCI.ErrorCode?
    var command: [String] = []
    var words: [String] = []
    for field in event.fields {
      switch field {
      case let code as HCI.ErrorCode where status == nil: status = code
      case let opcode as HCI.Opcode: command = [opcode.description]
      case let parameters as HCI.ReturnParameters: status = parameters.status
      case let connection as HCI.NewConnection: if status == .success { result.connection = connection.handle }
      case let handle as HCI.ConnectionHandle: result.connection = handle
      case _ where status ?? .success == .success: words += self.words(field, &result)
      case _: break
      }
    }
    return command + (words.isEmpty ? [status.map { SpecificationNames.title(of: $0) }].compactMap { $0 } : words)
  }

  // MARK: Fields

  /// Returns the words of a field; none for a number whose meaning its type does not show, and for a key.
  private static func words(_ field: Any, _ result: inout Description) -> [String] {
    switch field {
    case let words as String: return words.isEmpty ? [] : [words]
    case let isOn as Bool: return [isOn ? "on" : "off"]
    case let code as HCI.ErrorCode: return [SpecificationNames.title(of: code)]
    case let handle as HCI.ConnectionHandle:
      if result.connection == nil { result.connection = handle }
      return []
    case let peer as HCI.PeerAddress: return words(peer.deviceAddress, &result)
    case let address as HCI.AddressValue: return words(DeviceAddress(address.value, .random), &result)
    case let sync as HCI.SyncHandle: return ["sync \(sync.rawValue)"]
    case let features as HCI.LEFeatures: return ["features 0x\(features.rawValue.hexadecimal)"]
    case let version as HCI.RemoteVersion:
      return ["version \(version.version), company 0x\(version.companyIdentifier.hexadecimal)"]
    case let length as HCI.DataLength: return ["\(length.octets) octets", "\(length.time) µs"]
    case let preference as HCI.PHYPreference:
      return ["transmit \(preference.transmit?.words ?? "any")", "receive \(preference.receive?.words ?? "any")"]
    case let parameters as LinkParameters: return [interval(parameters)]
    case let values as HCI.ConnectionValues: return self.values(values)
    case let rest as HCI.Rest: return ["0x\(rest.octets.bytes.digits)"]
    case let data as HCI.LegacyAdvertisingData: return AdvertisingText.words(data.data)
    case let fragment as HCI.AdvertisingDataFragment: return AdvertisingText.words(fragment.data)
    case let parameters as HCI.AdvertisingParameters:
      return ["\(parameters.minimumInterval.scanIntervalText) to \(parameters.maximumInterval.scanIntervalText)"]
    case let parameters as HCI.ScanParameters:
      return [
        parameters.isActive ? "active" : "passive",
        "window \(parameters.window.scanIntervalText) of \(parameters.interval.scanIntervalText)",
      ]
    case let parameters as HCI.ExtendedScanEnable: return [parameters.isEnabled ? "on" : "off"]
    case let request as HCI.CreateConnection:
      return target(request.usesAcceptList, request.peer, &result) + [interval(request.parameters)]
    case let request as HCI.ExtendedCreateConnection: return target(request.usesAcceptList, request.peer, &result)
    case let packets as HCI.CompletedPackets:
      let elements = Array(packets)
      if elements.count == 1 { result.connection = elements[0].handle }
      return elements.map { elements.count == 1 ? "\($0.count)" : "\($0.handle): \($0.count)" }
    case let complete as HCI.ConnectionComplete: return words(complete, &result)
    case let reports as HCI.AdvertisingReports:
      return reports.flatMap { report -> [String] in
        let isConnectable = [.connectableScannable, .connectableDirected].contains(report.type)
        let address = report.address.deviceAddress
        result.add(address, pduName(of: report.type), report.data, isConnectable: isConnectable)
        return [pduName(of: report.type)] + words(address, &result) + level(report.rssi)
          + AdvertisingText.words(report.data)
      }
    case let reports as HCI.ExtendedAdvertisingReports:
      return reports.flatMap { report -> [String] in
        let address = report.address.deviceAddress
        if report.type.isDisjoint(with: [.moreToCome, .truncated]) {
          result.add(
            address, pduName(of: report.type), report.data, isConnectable: report.type.contains(.connectable))
        }
        return [pduName(of: report.type)] + words(address, &result) + level(report.rssi)
          + AdvertisingText.words(report.data)
      }
    case let report as HCI.DirectedAdvertisingReport:
      let target = report.directAddress.deviceAddress
      return words(report.address.deviceAddress, &result) + [target.map { "to \($0)" }].compactMap { $0 }
        + level(report.rssi)
    case let sync as HCI.PeriodicSync:
      let address = words(sync.advertiser.address.deviceAddress, &result)
      return ["sync \(sync.handle.rawValue)"] + address.map { "with \($0)" }
        + ["set \(sync.advertiser.advertisingSID)", "interval \(sync.interval.intervalText)"]
    case let report as HCI.PeriodicAdvertisingReport:
      return ["sync \(report.handle.rawValue)"] + level(report.rssi) + AdvertisingText.words(report.data)
    case _: return []
    }
  }

  private static func words(_ address: DeviceAddress?, _ result: inout Description) -> [String] {
    guard let address else { return [] }
    result.addresses.append(address)
    return [address.description]
  }

  private static func words(_ complete: HCI.ConnectionComplete, _ result: inout Description) -> [String] {
    guard complete.status == .success else { return [SpecificationNames.title(of: complete.status)] }
    result.connection = complete.handle
    let role = [complete.role == 0 ? "central of" : "peripheral of"]
    return [(role + words(complete.peer.deviceAddress, &result)).joined(separator: " ")] + values(complete.values)
  }

  /// The device to which a host connects.
  private static func target(
    _ usesAcceptList: Bool, _ peer: HCI.PeerAddress, _ result: inout Description
  ) -> [String] {
    usesAcceptList ? ["any device of the filter accept list"] : words(peer.deviceAddress, &result)
  }

  private static func interval(_ parameters: LinkParameters) -> String {
    "interval \(parameters.minimumInterval.intervalText) to \(parameters.maximumInterval.intervalText), latency "
      + "\(parameters.latency), timeout \(parameters.supervisionTimeout.timeoutText)"
  }

  private static func values(_ values: HCI.ConnectionValues) -> [String] {
    [
      "interval \(values.interval.intervalText)", "latency \(values.latency)",
      "timeout \(values.supervisionTimeout.timeoutText)",
    ]
  }

  private static func level(_ rssi: Int8) -> [String] { rssi == 127 ? [] : ["\(rssi) dBm"] }

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
