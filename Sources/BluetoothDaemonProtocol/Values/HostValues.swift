import BluetoothDaemon
import BluetoothHost
import BluetoothWire

// The values of the host that sessions exchange. A new case of an enumeration does not compile without its number or its
// row here.

// MARK: Links

extension LinkRequest.Kind: MessageEnumeration {
  static var cases: [LinkRequest.Kind] { [.connectionParameters, .phys, .dataLength] }

  var number: UInt8 {
    switch self {
    case .connectionParameters: 0
    case .phys: 1
    case .dataLength: 2
    }
  }
}

extension HostLinkSecurity.Level: MessageEnumeration {
  static var cases: [HostLinkSecurity.Level] { [.none, .encrypted, .authenticated] }

  var number: UInt8 {
    switch self {
    case .none: 0
    case .encrypted: 1
    case .authenticated: 2
    }
  }
}

extension LinkRequest: MessageChoice {
  struct Rows {
    let connectionParameters = MessageRow(
      0, "connectionParameters", "", LinkRequest.connectionParameters, "parameters")
    let phys = MessageRow(1, "phys", "", LinkRequest.phys, "preference", "PHY options of HCI")
    let dataLength = MessageRow(2, "dataLength", "", LinkRequest.dataLength, "length")
  }

  static let rows = Rows()
  static let table = RowTable<LinkRequest>(of: rows)

  func encode(into writer: inout MessageWriter) {
    switch self {
    case .connectionParameters(let parameters): Self.rows.connectionParameters.encode(parameters, into: &writer)
    case .phys(let preference, let options): Self.rows.phys.encode(preference, options, into: &writer)
    case .dataLength(let length): Self.rows.dataLength.encode(length, into: &writer)
    }
  }
}

extension LinkParameters: MessageStructure {
  static var blank: LinkParameters {
    LinkParameters(minimumInterval: 0, maximumInterval: 0, latency: 0, supervisionTimeout: 0)
  }

  mutating func visit<Visitor: FieldVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
    try visitor.field("minimum interval in 1.25 ms", &minimumInterval)
    try visitor.field("maximum interval in 1.25 ms", &maximumInterval)
    try visitor.field("latency in events", &latency)
    try visitor.field("supervision timeout in 10 ms", &supervisionTimeout)
  }
}

extension HCI.PHYPreference: MessageStructure {
  static var blank: HCI.PHYPreference { HCI.PHYPreference(transmit: nil, receive: nil) }

  mutating func visit<Visitor: FieldVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
    try visitor.field("PHYs to transmit: bits of HCI", &transmit)
    try visitor.field("PHYs to receive: bits of HCI", &receive)
  }
}

extension HCI.DataLength: MessageStructure {
  static var blank: HCI.DataLength { HCI.DataLength(octets: 0, time: 0) }

  mutating func visit<Visitor: FieldVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
    try visitor.field("octets", &octets)
    try visitor.field("microseconds", &time)
  }
}

extension LinkInfo: MessageStructure {
  static var blank: LinkInfo {
    let values = HCI.ConnectionValues(interval: 0, latency: 0, supervisionTimeout: 0)
    return LinkInfo(properties: HostLinkProperties(values: values), mtu: 0, security: .none)
  }

  mutating func visit<Visitor: FieldVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
    try visitor.field("interval in 1.25 ms", &properties.values.interval)
    try visitor.field("latency in events", &properties.values.latency)
    try visitor.field("supervision timeout in 10 ms", &properties.values.supervisionTimeout)
    try visitor.field("PHY to transmit: bit of HCI", &properties.transmitPHY)
    try visitor.field("PHY to receive: bit of HCI", &properties.receivePHY)
    try visitor.field("data length to transmit", &properties.transmitLength)
    try visitor.field("data length to receive", &properties.receiveLength)
    try visitor.field("features of the peer's controller: bits of HCI", &properties.remoteFeatures)
    try visitor.field("ATT_MTU", &mtu)
    try visitor.field("security", &security.level)
    try visitor.field("length of the key in octets", &security.keySize)
    try visitor.field("has a key", &security.hasKey)
    try visitor.field("bonded", &security.isBonded)
    try visitor.field("authorized", &security.isAuthorized)
  }
}

// MARK: Advertising

extension HCI.AdvertisingType: MessageEnumeration {
  static var cases: [HCI.AdvertisingType] { (0...UInt8.max).compactMap { HCI.AdvertisingType(rawValue: $0) } }
}

extension RadioPHY: MessageEnumeration {
  static var cases: [RadioPHY] { (0...UInt8.max).compactMap { RadioPHY(rawValue: $0) } }
}

extension HostAdvertising.LimitedDiscovery.End: MessageEnumeration {
  static var cases: [HostAdvertising.LimitedDiscovery.End] { [.stops, .becomesGeneral] }

  var number: UInt8 {
    switch self {
    case .stops: 0
    case .becomesGeneral: 1
    }
  }
}

extension HostAdvertising: MessageStructure {
  static var blank: HostAdvertising { HostAdvertising(data: ByteSlice(), scanResponse: ByteSlice()) }

  mutating func visit<Visitor: FieldVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
    try visitor.field("advertising data", &data, as: AdvertisedData.self)
    try visitor.field("scan response data", &scanResponse, as: AdvertisedData.self)
    try visitor.field("type", &shape.type)
    try visitor.field("target of directed advertising", &shape.target)
    try visitor.field("interval in 0.625 ms", &shape.interval)
    try visitor.field("channels: bits of HCI", &shape.channelMap)
    try visitor.field("transmit power in dBm", &shape.transmitPower)
    try visitor.field("extended PDUs", &shape.extended)
    try visitor.field("limited discoverable mode", &limit)
    try visitor.field("periodic advertising", &train)
  }
}

extension HostAdvertising.ExtendedPDUs: MessageStructure {
  static var blank: HostAdvertising.ExtendedPDUs { HostAdvertising.ExtendedPDUs() }

  mutating func visit<Visitor: FieldVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
    try visitor.field("primary PHY", &primaryPHY)
    try visitor.field("secondary PHY", &secondaryPHY)
    try visitor.field("advertising SID", &advertisingSID)
    try visitor.field("includes the transmit power", &includesTransmitPower)
    try visitor.field("anonymous", &isAnonymous)
    try visitor.field("maximum of skipped events", &maximumSkip)
  }
}

extension HostAdvertising.LimitedDiscovery: MessageStructure {
  static var blank: HostAdvertising.LimitedDiscovery { HostAdvertising.LimitedDiscovery(for: .zero) }

  mutating func visit<Visitor: FieldVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
    var (time, end) = (time, end)
    try visitor.field("time, at most 180 s", &time)
    try visitor.check(time <= Self.maximumTime, "limited time")
    try visitor.field("end", &end)
    self = HostAdvertising.LimitedDiscovery(for: time, then: end)
  }
}

extension HostAdvertising.PeriodicTrain: MessageStructure {
  static var blank: HostAdvertising.PeriodicTrain {
    HostAdvertising.PeriodicTrain(interval: 0, data: ByteSlice())
  }

  mutating func visit<Visitor: FieldVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
    try visitor.field("interval in 1.25 ms", &shape.interval)
    try visitor.field("includes the transmit power", &shape.includesTransmitPower)
    try visitor.field("data", &data, as: AdvertisedData.self)
  }
}

extension AdvertisingReport: MessageStructure {
  static var blank: AdvertisingReport {
    AdvertisingReport(
      address: DeviceAddress(0, .public), isConnectable: false, isScannable: false, isScanResponse: false,
      data: ByteSlice(), rssi: 0)
  }

  @inline(__always) mutating func visit<Visitor: FieldVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
    try visitor.field("address", &address)
    try visitor.field("connectable", &isConnectable)
    try visitor.field("scannable", &isScannable)
    try visitor.field("scan response", &isScanResponse)
    try visitor.field("data", &data, as: ReceivedData.self)
    try visitor.field("RSSI in dBm", &rssi)
    try visitor.field("truncated", &isTruncated)
    try visitor.field("advertising SID", &advertisingSet)
    try visitor.field("directed", &isDirected)
    try visitor.field("primary PHY, as in HCI", &primaryPHY)
    try visitor.field("secondary PHY, as in HCI", &secondaryPHY)
    try visitor.field("transmit power in dBm", &transmitPower)
    try visitor.field("periodic interval in 1.25 ms", &periodicInterval)
  }
}

// MARK: Periodic advertising

extension SyncRequest: MessageStructure {
  static var blank: SyncRequest {
    SyncRequest(advertiser: DeviceAddress(0, .public), advertisingSID: 0, timeout: 0)
  }

  mutating func visit<Visitor: FieldVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
    try visitor.field("advertiser", &advertiser)
    try visitor.field("advertising SID", &advertisingSID)
    try visitor.field("maximum of skipped events", &skip)
    try visitor.field("timeout in 10 ms", &timeout)
    try visitor.field("includes LE Coded", &includesLECoded)
  }
}

extension SyncEvent: MessageChoice {
  struct Rows {
    let established = MessageRow(0, "established", "", SyncEvent.established, "properties")
    let report = MessageRow(1, "report", "", SyncEvent.report, "report")
    let lost = MessageRow(2, "lost", "", SyncEvent.ended(.lost))
    let refused = MessageRow(3, "refused", "", { (error: HostError) in SyncEvent.ended(.refused(error)) }, "error")
  }

  static let rows = Rows()
  static let table = RowTable<SyncEvent>(of: rows)

  func encode(into writer: inout MessageWriter) {
    switch self {
    case .established(let properties): Self.rows.established.encode(properties, into: &writer)
    case .report(let report): Self.rows.report.encode(report, into: &writer)
    case .ended(.lost): Self.rows.lost.encode(into: &writer)
    case .ended(.refused(let error)): Self.rows.refused.encode(error, into: &writer)
    }
  }
}

extension SyncProperties: MessageStructure {
  static var blank: SyncProperties { SyncProperties(interval: 0, phy: 0) }

  mutating func visit<Visitor: FieldVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
    try visitor.field("interval in 1.25 ms", &interval)
    try visitor.field("PHY, as in HCI", &phy)
  }
}

extension PeriodicReport: MessageStructure {
  static var blank: PeriodicReport { PeriodicReport(data: ByteSlice(), rssi: 0, transmitPower: 0, isTruncated: false) }

  mutating func visit<Visitor: FieldVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
    try visitor.field("data", &data, as: ReceivedData.self)
    try visitor.field("RSSI in dBm", &rssi)
    try visitor.field("transmit power in dBm", &transmitPower)
    try visitor.field("truncated", &isTruncated)
  }
}

extension HostError: MessageChoice {
  struct Rows {
    let controller = MessageRow(
      0, "controller", "an error of the controller", HostError.controller, "error code of HCI")
    let commandTimeout = MessageRow(1, "commandTimeout", "", HostError.commandTimeout)
    let notConnected = MessageRow(2, "notConnected", "", HostError.notConnected)
    let outOfSpace = MessageRow(3, "outOfSpace", "", HostError.outOfSpace)
    let notSupported = MessageRow(4, "notSupported", "", HostError.notSupported)
  }

  static let rows = Rows()
  static let table = RowTable<HostError>(of: rows)

  func encode(into writer: inout MessageWriter) {
    switch self {
    case .controller(let code): Self.rows.controller.encode(code, into: &writer)
    case .commandTimeout: Self.rows.commandTimeout.encode(into: &writer)
    case .notConnected: Self.rows.notConnected.encode(into: &writer)
    case .outOfSpace: Self.rows.outOfSpace.encode(into: &writer)
    case .notSupported: Self.rows.notSupported.encode(into: &writer)
    }
  }
}

// MARK: Attributes

extension LocalServiceInfo: MessageStructure {
  static var blank: LocalServiceInfo {
    LocalServiceInfo(id: LocalAttributeID(number: 0), uuid: .blank, isPrimary: false, includes: [], characteristics: [])
  }

  mutating func visit<Visitor: FieldVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
    try visitor.field("service", &id)
    try visitor.field("UUID", &uuid)
    try visitor.field("primary", &isPrimary)
    try visitor.limited("included services", &includes)
    try visitor.limited("characteristics", &characteristics)
  }
}

/// A service whose attributes have fixed handles: the service, and then the handles of its attributes in their order.
struct PlacedService: MessageStructure {
  var service: LocalServiceInfo

  static var blank: PlacedService { PlacedService(service: .blank) }

  mutating func visit<Visitor: FieldVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
    try visitor.field("service", &service)
    try visitor.field("handle of the service", &service.handle)
    for index in service.characteristics.indices {
      try visitor.field("handle", &service.characteristics[index].definition.handle)
      for descriptor in service.characteristics[index].definition.descriptors.indices {
        try visitor.field("handle", &service.characteristics[index].definition.descriptors[descriptor].handle)
      }
    }
  }
}

extension LocalCharacteristicInfo: MessageStructure {
  static var blank: LocalCharacteristicInfo {
    let definition = GATTCharacteristicDefinition(
      uuid: .blank, properties: [], permissions: [], value: nil, lengths: 0...0)
    return LocalCharacteristicInfo(id: LocalAttributeID(number: 0), definition: definition)
  }

  mutating func visit<Visitor: FieldVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
    try visitor.field("characteristic", &id)
    try visitor.field("UUID", &definition.uuid)
    try visitor.field("properties", &definition.properties)
    try visitor.field("extended properties", &definition.extendedProperties)
    try visitor.field("permissions", &definition.permissions)
    try visitor.field("minimum length of the key in octets", &definition.minimumKeySize)
    try visitor.field("value", &definition.value)
    try visitor.field("lengths of the value", &definition.lengths)
    try visitor.field("subscriptions need encryption", &definition.subscriptionNeedsEncryption)
    try visitor.limited("descriptors", &definition.descriptors)
  }
}

extension GATTDescriptorDefinition: MessageStructure {
  static var blank: GATTDescriptorDefinition {
    GATTDescriptorDefinition(uuid: .blank, content: .dynamic, permissions: [], lengths: 0...0)
  }

  mutating func visit<Visitor: FieldVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
    try visitor.field("UUID", &uuid)
    try visitor.field("content", &content)
    try visitor.field("permissions", &permissions)
    try visitor.field("lengths of the value", &lengths)
  }
}

extension GATTDescriptorDefinition.Content: MessageChoice {
  struct Rows {
    let stored = MessageRow(
      0, "stored", "a value that does not change", GATTDescriptorDefinition.Content.stored, "value")
    let dynamic = MessageRow(1, "dynamic", "the app answers", GATTDescriptorDefinition.Content.dynamic)
    let formats = MessageRow(
      2, "formats", "handles of presentation formats",
      { (paths: CommandList<GATTDescriptorPath>) in GATTDescriptorDefinition.Content.formats(paths.values) },
      "descriptors")
  }

  static let rows = Rows()
  static let table = RowTable<GATTDescriptorDefinition.Content>(of: rows)

  func encode(into writer: inout MessageWriter) {
    switch self {
    case .stored(let value): Self.rows.stored.encode(value, into: &writer)
    case .dynamic: Self.rows.dynamic.encode(into: &writer)
    case .formats(let paths): Self.rows.formats.encode(CommandList(paths), into: &writer)
    }
  }
}

extension GATTDescriptorPath: MessageStructure {
  static var blank: GATTDescriptorPath { GATTDescriptorPath(characteristic: 0, descriptor: 0) }

  mutating func visit<Visitor: FieldVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
    try visitor.field("index of the characteristic", &characteristic)
    try visitor.field("index of the descriptor", &descriptor)
  }
}
