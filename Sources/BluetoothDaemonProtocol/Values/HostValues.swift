import BluetoothDaemon
import BluetoothHost
import BluetoothWire

// The values of the host that sessions exchange.

/// The numbers of the cases of `LinkRequest`, and of `LinkRequest.Kind`.
private enum LinkRequestNumber: UInt8 { case connectionParameters, phys, dataLength }

/// The numbers of the cases of `HostAdvertising.LimitedDiscovery.End`.
private enum LimitedEndNumber: UInt8 { case stops, becomesGeneral }

/// The numbers of the cases of `GATTDescriptorDefinition.Content`.
private enum ContentNumber: UInt8 { case stored, dynamic, formats }

/// The numbers of the cases of `SyncEvent`.
private enum SyncEventNumber: UInt8 { case established, report, lost, refused }

/// The numbers of the cases of `HostError`.
private enum HostErrorNumber: UInt8 { case controller, commandTimeout, notConnected, outOfSpace, notSupported }

/// The longest time that a command may name: longer ones would exceed the range of instants.
private let longestDelay = TimeSpan.seconds(400 * 86_400)

extension MessageReader {
  /// Reads a time that is neither negative nor longer than 400 days.
  mutating func delay() throws(DecodingError) -> TimeSpan {
    let time = try timeSpan()
    guard (.zero...longestDelay).contains(time) else { throw .invalid(field: "delay") }
    return time
  }
}

// MARK: Links

extension MessageWriter {
  mutating func append(_ request: LinkRequest) {
    append(request.kind)
    switch request {
    case .connectionParameters(let parameters):
      append(parameters.minimumInterval)
      append(parameters.maximumInterval)
      append(parameters.latency)
      append(parameters.supervisionTimeout)
    case .phys(let preference, let options):
      append(optional: preference.transmit) { $0.append($1.rawValue) }
      append(optional: preference.receive) { $0.append($1.rawValue) }
      append(options)
    case .dataLength(let length): append(length)
    }
  }

  mutating func append(_ kind: LinkRequest.Kind) {
    switch kind {
    case .connectionParameters: put(LinkRequestNumber.connectionParameters)
    case .phys: put(LinkRequestNumber.phys)
    case .dataLength: put(LinkRequestNumber.dataLength)
    }
  }

  mutating func append(_ length: HCI.DataLength) {
    append(length.octets)
    append(length.time)
  }

  mutating func append(_ link: LinkInfo) {
    let properties = link.properties
    append(properties.values.interval)
    append(properties.values.latency)
    append(properties.values.supervisionTimeout)
    append(properties.transmitPHY.rawValue)
    append(properties.receivePHY.rawValue)
    append(properties.transmitLength)
    append(properties.receiveLength)
    append(optional: properties.remoteFeatures) { $0.append($1.rawValue) }
    append(count: link.mtu)
    append(link.security.level.rawValue)
    append(link.security.keySize)
    append(link.security.hasKey)
    append(link.security.isBonded)
    append(link.security.isAuthorized)
  }
}

extension MessageReader {
  mutating func linkRequest() throws(DecodingError) -> LinkRequest {
    switch try linkRequestKind() {
    case .connectionParameters:
      let minimum = try uint16()
      let maximum = try uint16()
      let latency = try uint16()
      return .connectionParameters(
        ConnectionParameters(
          minimumInterval: minimum, maximumInterval: maximum, latency: latency, supervisionTimeout: try uint16()))
    case .phys:
      let transmit = try phys()
      let receive = try phys()
      return .phys(HCI.PHYPreference(transmit: transmit, receive: receive), options: try uint16())
    case .dataLength: return .dataLength(try dataLength())
    }
  }

  private mutating func phys() throws(DecodingError) -> HCI.PHYs? {
    try optional { (reader) throws(DecodingError) in HCI.PHYs(rawValue: try reader.uint8()) }
  }

  mutating func linkRequestKind() throws(DecodingError) -> LinkRequest.Kind {
    switch try value(LinkRequestNumber.self) {
    case .connectionParameters: .connectionParameters
    case .phys: .phys
    case .dataLength: .dataLength
    }
  }

  mutating func dataLength() throws(DecodingError) -> HCI.DataLength {
    let octets = try uint16()
    return HCI.DataLength(octets: octets, time: try uint16())
  }

  mutating func linkInfo() throws(DecodingError) -> LinkInfo {
    let interval = try uint16()
    let latency = try uint16()
    var properties = LinkProperties(
      values: HCI.ConnectionValues(interval: interval, latency: latency, supervisionTimeout: try uint16()))
    properties.transmitPHY = HCI.PHYs(rawValue: try uint8())
    properties.receivePHY = HCI.PHYs(rawValue: try uint8())
    properties.transmitLength = try dataLength()
    properties.receiveLength = try dataLength()
    properties.remoteFeatures = try optional { (reader) throws(DecodingError) in
      HCI.LEFeatures(rawValue: try reader.uint64())
    }
    let mtu = try count(atMost: 0xFFFF)
    let level = try value(LinkSecurity.Level.self)
    let keySize = try uint8()
    let hasKey = try bool()
    let isBonded = try bool()
    return LinkInfo(
      properties: properties, mtu: mtu,
      security: LinkSecurity(
        level: level, keySize: keySize, hasKey: hasKey, isBonded: isBonded, isAuthorized: try bool()))
  }
}

// MARK: Advertising

extension MessageWriter {
  mutating func append(_ advertising: HostAdvertising) {
    append(advertising.data, atMost: HostAdvertising.maximumExtendedLength)
    append(advertising.scanResponse, atMost: HostAdvertising.maximumExtendedLength)
    let shape = advertising.shape
    append(shape.type.rawValue)
    append(optional: shape.target) { $0.append($1) }
    append(optional: shape.interval) { $0.append($1) }
    append(shape.channelMap)
    append(optional: shape.transmitPower) { $0.append($1) }
    append(optional: shape.extended) { writer, extended in
      writer.append(extended.primaryPHY.rawValue)
      writer.append(extended.secondaryPHY.rawValue)
      writer.append(extended.advertisingSID)
      writer.append(extended.includesTransmitPower)
      writer.append(extended.isAnonymous)
      writer.append(extended.maximumSkip)
    }
    append(optional: advertising.limit) { writer, limit in
      writer.append(limit.time)
      switch limit.end {
      case .stops: writer.put(LimitedEndNumber.stops)
      case .becomesGeneral: writer.put(LimitedEndNumber.becomesGeneral)
      }
    }
    append(optional: advertising.train) { writer, train in
      writer.append(train.shape.interval)
      writer.append(train.shape.includesTransmitPower)
      writer.append(train.data, atMost: HostAdvertising.maximumExtendedLength)
    }
  }

  mutating func append(_ event: LinkEvent) {
    switch event {
    case .changed(let link): append(link)
    case .ended(let reason): append(reason.rawValue)
    case .requestEnded(let kind, let error):
      append(kind)
      append(optional: error)
    }
  }

  mutating func append(_ event: SyncEvent) {
    switch event {
    case .established(let properties):
      put(SyncEventNumber.established)
      append(properties.interval)
      append(properties.phy)
    case .report(let report):
      put(SyncEventNumber.report)
      append(report.data)
      append(report.rssi)
      append(report.transmitPower)
      append(report.isTruncated)
    case .ended(.lost): put(SyncEventNumber.lost)
    case .ended(.refused(let error)):
      put(SyncEventNumber.refused)
      append(error)
    }
  }

  private mutating func append(_ error: HostError) {
    switch error {
    case .controller(let code):
      put(HostErrorNumber.controller)
      append(code.rawValue)
    case .commandTimeout: put(HostErrorNumber.commandTimeout)
    case .notConnected: put(HostErrorNumber.notConnected)
    case .outOfSpace: put(HostErrorNumber.outOfSpace)
    case .notSupported: put(HostErrorNumber.notSupported)
    }
  }

  mutating func append(_ report: AdvertisingReport) {
    append(report.address)
    append(report.isConnectable)
    append(report.isScannable)
    append(report.isScanResponse)
    append(report.data)
    append(report.rssi)
    append(report.isTruncated)
    append(optional: report.advertisingSet) { $0.append($1) }
    append(report.isDirected)
    append(report.primaryPHY)
    append(report.secondaryPHY)
    append(report.transmitPower)
    append(report.periodicInterval)
  }
}

extension MessageReader {
  mutating func advertising() throws(DecodingError) -> HostAdvertising {
    let data = try slice(atMost: HostAdvertising.maximumExtendedLength)
    var result = HostAdvertising(data: data, scanResponse: try slice(atMost: HostAdvertising.maximumExtendedLength))
    result.shape.type = try value()
    result.shape.target = try optional { (reader) throws(DecodingError) in try reader.address() }
    result.shape.interval = try optional { (reader) throws(DecodingError) in try reader.uint16() }
    result.shape.channelMap = try uint8()
    result.shape.transmitPower = try optional { (reader) throws(DecodingError) in try reader.int8() }
    result.shape.extended = try optional { (reader) throws(DecodingError) in try reader.extendedPDUs() }
    result.limit = try optional { (reader) throws(DecodingError) in try reader.limitedDiscovery() }
    result.train = try optional { (reader) throws(DecodingError) in try reader.periodicTrain() }
    return result
  }

  private mutating func periodicTrain() throws(DecodingError) -> HostAdvertising.PeriodicTrain {
    let interval = try uint16()
    let includesTransmitPower = try bool()
    return HostAdvertising.PeriodicTrain(
      interval: interval, includesTransmitPower: includesTransmitPower,
      data: try slice(atMost: HostAdvertising.maximumExtendedLength))
  }

  mutating func syncEvent() throws(DecodingError) -> SyncEvent {
    switch try value(SyncEventNumber.self) {
    case .established:
      let interval = try uint16()
      return .established(SyncProperties(interval: interval, phy: try uint8()))
    case .report:
      let data = try slice(atMost: HostAdvertising.maximumExtendedLength)
      let rssi = try int8()
      let transmitPower = try int8()
      return .report(PeriodicReport(data: data, rssi: rssi, transmitPower: transmitPower, isTruncated: try bool()))
    case .lost: return .ended(.lost)
    case .refused: return .ended(.refused(try hostError()))
    }
  }

  private mutating func hostError() throws(DecodingError) -> HostError {
    switch try value(HostErrorNumber.self) {
    case .controller: .controller(HCI.ErrorCode(rawValue: try uint8()))
    case .commandTimeout: .commandTimeout
    case .notConnected: .notConnected
    case .outOfSpace: .outOfSpace
    case .notSupported: .notSupported
    }
  }

  private mutating func extendedPDUs() throws(DecodingError) -> HostAdvertising.ExtendedPDUs {
    var result = HostAdvertising.ExtendedPDUs()
    result.primaryPHY = try value()
    result.secondaryPHY = try value()
    result.advertisingSID = try uint8()
    result.includesTransmitPower = try bool()
    result.isAnonymous = try bool()
    result.maximumSkip = try uint8()
    return result
  }

  private mutating func limitedDiscovery() throws(DecodingError) -> HostAdvertising.LimitedDiscovery {
    let time = try delay()
    guard time <= HostAdvertising.LimitedDiscovery.maximumTime else { throw .invalid(field: "limited time") }
    switch try value(LimitedEndNumber.self) {
    case .stops: return HostAdvertising.LimitedDiscovery(for: time, then: .stops)
    case .becomesGeneral: return HostAdvertising.LimitedDiscovery(for: time, then: .becomesGeneral)
    }
  }

  mutating func report() throws(DecodingError) -> AdvertisingReport {
    let address = try address()
    let isConnectable = try bool()
    let isScannable = try bool()
    let isScanResponse = try bool()
    let data = try slice(atMost: HostAdvertising.maximumExtendedLength)
    var result = AdvertisingReport(
      address: address, isConnectable: isConnectable, isScannable: isScannable, isScanResponse: isScanResponse,
      data: data, rssi: try int8())
    result.isTruncated = try bool()
    result.advertisingSet = try optional { (reader) throws(DecodingError) in try reader.uint8() }
    result.isDirected = try bool()
    result.primaryPHY = try uint8()
    result.secondaryPHY = try uint8()
    result.transmitPower = try int8()
    result.periodicInterval = try uint16()
    return result
  }
}

// MARK: Attributes

extension MessageWriter {
  mutating func append(_ service: LocalService) {
    append(service.id)
    append(service.uuid)
    append(service.isPrimary)
    append(filter: service.includes) { $0.append($1) }
    append(filter: service.characteristics) { writer, characteristic in
      writer.append(characteristic.id)
      writer.append(characteristic.definition)
    }
  }

  /// Appends the fixed handles of the service, and of each characteristic before those of its descriptors.
  mutating func append(handlesOf service: LocalService) {
    append(optional: service.handle) { $0.append($1) }
    for characteristic in service.characteristics {
      append(optional: characteristic.definition.handle) { $0.append($1) }
      for descriptor in characteristic.definition.descriptors { append(optional: descriptor.handle) { $0.append($1) } }
    }
  }

  private mutating func append(_ definition: GATTCharacteristicDefinition) {
    append(definition.uuid)
    append(definition.properties.rawValue)
    append(definition.extendedProperties.rawValue)
    append(definition.permissions.rawValue)
    append(definition.minimumKeySize)
    append(optional: definition.value) { $0.append($1) }
    append(definition.lengths)
    append(definition.subscriptionNeedsEncryption)
    append(filter: definition.descriptors) { $0.append($1) }
  }

  private mutating func append(_ definition: GATTDescriptorDefinition) {
    append(definition.uuid)
    switch definition.content {
    case .stored(let value):
      put(ContentNumber.stored)
      append(value)
    case .dynamic: put(ContentNumber.dynamic)
    case .formats(let paths):
      put(ContentNumber.formats)
      append(filter: paths) { writer, path in
        writer.append(count: path.characteristic)
        writer.append(count: path.descriptor)
      }
    }
    append(definition.permissions.rawValue)
    append(definition.lengths)
  }

  private mutating func append(_ lengths: ClosedRange<Int>) {
    append(count: lengths.lowerBound)
    append(count: lengths.upperBound)
  }
}

extension MessageReader {
  mutating func localService() throws(DecodingError) -> LocalService {
    let id = try localAttribute()
    let uuid = try uuid()
    let isPrimary = try bool()
    let includes = try filter { (reader) throws(DecodingError) in try reader.localAttribute() }
    let characteristics = try filter { (reader) throws(DecodingError) in
      let id = try reader.localAttribute()
      return LocalCharacteristic(id: id, definition: try reader.characteristic())
    }
    return LocalService(
      id: id, uuid: uuid, isPrimary: isPrimary, includes: includes, characteristics: characteristics)
  }

  /// Reads the fixed handles of a service and of its attributes.
  mutating func readHandles(of service: inout LocalService) throws(DecodingError) {
    service.handle = try optionalHandle()
    for index in service.characteristics.indices {
      service.characteristics[index].definition.handle = try optionalHandle()
      for descriptor in service.characteristics[index].definition.descriptors.indices {
        service.characteristics[index].definition.descriptors[descriptor].handle = try optionalHandle()
      }
    }
  }

  private mutating func optionalHandle() throws(DecodingError) -> AttributeHandle? {
    try optional { (reader) throws(DecodingError) in try reader.uint16() }
  }

  private mutating func characteristic() throws(DecodingError) -> GATTCharacteristicDefinition {
    let uuid = try uuid()
    let properties = CharacteristicProperties(rawValue: try uint8())
    let extendedProperties = GATTExtendedProperties(rawValue: try uint16())
    let permissions = AttributePermissions(rawValue: try uint8())
    let minimumKeySize = try uint8()
    let value = try optional { (reader) throws(DecodingError) in try reader.slice() }
    let lengths = try lengths()
    let needsEncryption = try bool()
    let descriptors = try filter { (reader) throws(DecodingError) in try reader.descriptor() }
    return GATTCharacteristicDefinition(
      uuid: uuid, properties: properties, extendedProperties: extendedProperties, permissions: permissions,
      minimumKeySize: minimumKeySize, value: value, lengths: lengths, subscriptionNeedsEncryption: needsEncryption,
      descriptors: descriptors)
  }

  private mutating func descriptor() throws(DecodingError) -> GATTDescriptorDefinition {
    let uuid = try uuid()
    let content: GATTDescriptorDefinition.Content
    switch try value(ContentNumber.self) {
    case .stored: content = .stored(try slice())
    case .dynamic: content = .dynamic
    case .formats:
      content = .formats(
        try filter { (reader) throws(DecodingError) in
          let characteristic = try reader.count(atMost: 0xFFFF)
          return GATTDescriptorPath(characteristic: characteristic, descriptor: try reader.count(atMost: 0xFFFF))
        })
    }
    let permissions = AttributePermissions(rawValue: try uint8())
    return GATTDescriptorDefinition(uuid: uuid, content: content, permissions: permissions, lengths: try lengths())
  }

  private mutating func lengths() throws(DecodingError) -> ClosedRange<Int> {
    let minimum = try count(atMost: 0xFFFF)
    let maximum = try count(atMost: 0xFFFF)
    guard minimum <= maximum else { throw .invalid(field: "lengths") }
    return minimum...maximum
  }
}
