import BluetoothDaemon
import BluetoothHost
import BluetoothWire

// The values of the daemon's sessions. A new case of an enumeration does not compile without its number or its row here.

// MARK: Enumerations

extension AdapterState: MessageEnumeration {
  static var cases: [AdapterState] {
    [.unknown, .resetting, .unsupported, .unauthorized, .poweredOff, .poweredOn]
  }

  var number: UInt8 {
    switch self {
    case .unknown: 0
    case .resetting: 1
    case .unsupported: 2
    case .unauthorized: 3
    case .poweredOff: 4
    case .poweredOn: 5
    }
  }
}

extension AppAccess: MessageEnumeration {
  static var cases: [AppAccess] { [.undetermined, .denied, .allowed] }

  var number: UInt8 {
    switch self {
    case .undetermined: 0
    case .denied: 1
    case .allowed: 2
    }
  }
}

extension AppRunState: MessageEnumeration {
  static var cases: [AppRunState] { [.foreground, .background, .suspended, .terminated] }

  var number: UInt8 {
    switch self {
    case .foreground: 0
    case .background: 1
    case .suspended: 2
    case .terminated: 3
    }
  }
}

extension ConnectionLatency: MessageEnumeration {
  static var cases: [ConnectionLatency] { [.low, .medium, .high] }

  var number: UInt8 {
    switch self {
    case .low: 0
    case .medium: 1
    case .high: 2
    }
  }
}

extension SessionError: MessageChoice {
  struct Rows {
    let att = MessageRow(0, "att", "an error response", SessionError.att, "error code of ATT")
    let link = MessageRow(1, "link", "an error of the link", SessionError.link, "error code of HCI")
    let timeout = MessageRow(2, "timeout", "", SessionError.timeout)
    let invalidResponse = MessageRow(3, "invalidResponse", "", SessionError.invalidResponse)
    let notSupported = MessageRow(4, "notSupported", "", SessionError.notSupported)
    let invalidParameters = MessageRow(5, "invalidParameters", "", SessionError.invalidParameters)
    let uuidNotAllowed = MessageRow(6, "uuidNotAllowed", "", SessionError.uuidNotAllowed)
    let alreadyAdvertising = MessageRow(7, "alreadyAdvertising", "", SessionError.alreadyAdvertising)
    let outOfSpace = MessageRow(8, "outOfSpace", "", SessionError.outOfSpace)
    let connectionLimitReached = MessageRow(9, "connectionLimitReached", "", SessionError.connectionLimitReached)
    let encryptionTimedOut = MessageRow(10, "encryptionTimedOut", "", SessionError.encryptionTimedOut)
    let tooManyPairedDevices = MessageRow(11, "tooManyPairedDevices", "", SessionError.tooManyPairedDevices)
    let refused = MessageRow(12, "refused", "", SessionError.refused)
    let unknownPeer = MessageRow(13, "unknownPeer", "", SessionError.unknownPeer)
    let invalidHandle = MessageRow(14, "invalidHandle", "", SessionError.invalidHandle)
    let unusableHandle = MessageRow(
      15, "unusableHandle", "the handle is taken, out of order or outside the range", SessionError.unusableHandle,
      "handle")
  }

  static let rows = Rows()
  static let table = RowTable<SessionError>(of: rows)

  func encode(into writer: inout MessageWriter) {
    let rows = Self.rows
    switch self {
    case .att(let code): rows.att.encode(code, into: &writer)
    case .link(let code): rows.link.encode(code, into: &writer)
    case .timeout: rows.timeout.encode(into: &writer)
    case .invalidResponse: rows.invalidResponse.encode(into: &writer)
    case .notSupported: rows.notSupported.encode(into: &writer)
    case .invalidParameters: rows.invalidParameters.encode(into: &writer)
    case .uuidNotAllowed: rows.uuidNotAllowed.encode(into: &writer)
    case .alreadyAdvertising: rows.alreadyAdvertising.encode(into: &writer)
    case .outOfSpace: rows.outOfSpace.encode(into: &writer)
    case .connectionLimitReached: rows.connectionLimitReached.encode(into: &writer)
    case .encryptionTimedOut: rows.encryptionTimedOut.encode(into: &writer)
    case .tooManyPairedDevices: rows.tooManyPairedDevices.encode(into: &writer)
    case .refused: rows.refused.encode(into: &writer)
    case .unknownPeer: rows.unknownPeer.encode(into: &writer)
    case .invalidHandle: rows.invalidHandle.encode(into: &writer)
    case .unusableHandle(let handle): rows.unusableHandle.encode(handle, into: &writer)
    }
  }
}

extension ChannelEnd: MessageChoice {
  struct Rows {
    let closed = MessageRow(0, "closed", "the peer has all octets", ChannelEnd.closed)
    let lost = MessageRow(1, "lost", "", ChannelEnd.lost, "error")
  }

  static let rows = Rows()
  static let table = RowTable<ChannelEnd>(of: rows)

  func encode(into writer: inout MessageWriter) {
    switch self {
    case .closed: Self.rows.closed.encode(into: &writer)
    case .lost(let error): Self.rows.lost.encode(error, into: &writer)
    }
  }
}

// MARK: Structures

extension PeerInfo: MessageStructure {
  static var blank: PeerInfo { PeerInfo(handle: PeerHandle(index: 0), identifier: .blank, name: nil) }

  mutating func visit<Visitor: FieldVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
    try visitor.field("peer", &handle)
    try visitor.field("identifier", &identifier)
    try visitor.field("name", &name)
  }
}

extension PeerIdentifier {
  static var blank: PeerIdentifier { PeerIdentifier(high: 0, low: 0) }
}

extension CentralInfo: MessageStructure {
  static var blank: CentralInfo {
    CentralInfo(handle: PeerHandle(index: 0), identifier: .blank, maximumUpdateLength: 0)
  }

  mutating func visit<Visitor: FieldVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
    try visitor.field("peer", &handle)
    try visitor.field("identifier", &identifier)
    try visitor.field("maximum length of an update", &maximumUpdateLength)
  }
}

extension BondInfo: MessageStructure {
  static var blank: BondInfo { BondInfo(isSecureConnections: false, isAuthenticated: false, keySize: 0) }

  mutating func visit<Visitor: FieldVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
    var (isSecure, isAuthenticated, size) = (isSecureConnections, isAuthenticated, UInt8(clamping: keySize))
    var getsNotifications = getsNotifications
    try visitor.field("LE Secure Connections", &isSecure)
    try visitor.field("authenticated", &isAuthenticated)
    try visitor.field("length of the key in octets", &size)
    try visitor.field("gets the notifications of the system", &getsNotifications)
    self = BondInfo(
      isSecureConnections: isSecure, isAuthenticated: isAuthenticated, keySize: Int(size),
      getsNotifications: getsNotifications)
  }
}

extension ChannelInfo: MessageStructure {
  static var blank: ChannelInfo { ChannelInfo(handle: ChannelHandle(key: SlotKey(rawValue: 0)), psm: 0) }

  mutating func visit<Visitor: FieldVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
    var (handle, psm) = (handle, psm)
    try visitor.field("channel", &handle)
    try visitor.field("PSM", &psm)
    self = ChannelInfo(handle: handle, psm: psm)
  }
}

extension RemoteServiceInfo: MessageStructure {
  static var blank: RemoteServiceInfo { RemoteServiceInfo(id: RemoteAttributeID(0), uuid: .blank, isPrimary: false) }

  @inline(__always) mutating func visit<Visitor: FieldVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
    try visitor.field("service", &id)
    try visitor.field("UUID", &uuid)
    try visitor.field("primary", &isPrimary)
  }
}

extension BluetoothUUID {
  static var blank: BluetoothUUID { BluetoothUUID(high: 0, low: 0) }
}

extension RemoteCharacteristicInfo: MessageStructure {
  static var blank: RemoteCharacteristicInfo {
    RemoteCharacteristicInfo(id: RemoteAttributeID(0), uuid: .blank, properties: [])
  }

  @inline(__always) mutating func visit<Visitor: FieldVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
    try visitor.field("characteristic", &id)
    try visitor.field("UUID", &uuid)
    try visitor.field("properties", &properties)
  }
}

extension RemoteDescriptorInfo: MessageStructure {
  static var blank: RemoteDescriptorInfo { RemoteDescriptorInfo(id: RemoteAttributeID(0), uuid: .blank) }

  @inline(__always) mutating func visit<Visitor: FieldVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
    try visitor.field("descriptor", &id)
    try visitor.field("UUID", &uuid)
  }
}

extension CentralWrite: MessageStructure {
  static var blank: CentralWrite {
    CentralWrite(characteristic: LocalAttributeID(number: 0), offset: 0, value: ByteSlice())
  }

  mutating func visit<Visitor: FieldVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
    try visitor.field("characteristic", &characteristic)
    try visitor.field("offset", &offset)
    try visitor.field("value", &value)
  }
}

// MARK: Scans

extension ScanRequest: MessageStructure {
  static var blank: ScanRequest { ScanRequest(services: nil, solicitedServices: [], allowsDuplicates: false) }

  mutating func visit<Visitor: FieldVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
    try visitor.limited("services", &services)
    try visitor.limited("solicited services", &solicitedServices)
    try visitor.field("reports every packet", &allowsDuplicates)
    try visitor.field("scan for packets as they are", &packets)
  }
}

extension PacketScan: MessageStructure {
  static var blank: PacketScan { PacketScan(isActive: false, includesLECoded: false) }

  mutating func visit<Visitor: FieldVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
    try visitor.field("active", &isActive)
    try visitor.field("includes LE Coded", &includesLECoded)
  }
}

extension DiscoveryInfo: MessageStructure {
  static var blank: DiscoveryInfo { DiscoveryInfo(peer: .blank, isConnectable: false, rssi: 0) }

  @inline(__always) mutating func visit<Visitor: FieldVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
    try visitor.field("peer", &peer)
    try visitor.field("connectable", &isConnectable)
    try visitor.field("local name", &localName)
    try visitor.field("transmit power in dBm", &txPowerLevel)
    try visitor.field("services", &services)
    try visitor.field("services of the overflow area", &overflowServices)
    try visitor.field("solicited services", &solicitedServices)
    var data = ServiceData(serviceData)
    try visitor.field("service data", &data)
    serviceData = data.values
    try visitor.field("manufacturer data", &manufacturerData)
    try visitor.field("RSSI in dBm", &rssi)
  }
}
