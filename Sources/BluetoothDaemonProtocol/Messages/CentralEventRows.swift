import BluetoothDaemon
import BluetoothHost
import BluetoothWire

/// The events for central managers. Each one is behind the session.
extension CentralEvent: MessageGroup {
  struct Rows {
    let stateChanged = MessageRow(
      0x1110, "stateChanged", "the state of the manager", CentralEvent.stateChanged, "state")
    let discovered = MessageRow(
      0x1111, "discovered", "a scan has found a peer", CentralEvent.discovered, "discovery")
    let packetReceived = MessageRow(
      0x1112, "packetReceived", "a scan for packets has received one",
      { (peer: PeerInfo, report: AdvertisingReport, time: Instant) in
        CentralEvent.packetReceived(ReceivedPacket(peer: peer, report: report, time: time))
      }, "peer", "report", "time")
    let connected = MessageRow(
      0x1113, "connected", "the link is established", CentralEvent.connected, "peer",
      "maximum length of a write without response")
    let connectionFailed = MessageRow(
      0x1114, "connectionFailed", "the attempt has ended", CentralEvent.connectionFailed, "peer", "error")
    let disconnected = MessageRow(
      0x1115, "disconnected", "the link has ended", CentralEvent.disconnected, "peer",
      "error; none: this app has ended it", "the daemon re-establishes the link")
    let connectionEvent = MessageRow(
      0x1116, "connectionEvent", "a link of other sessions has been established, or has ended",
      CentralEvent.connectionEvent, "peer", "established")
    let maximumWriteLengthChanged = MessageRow(
      0x1117, "maximumWriteLengthChanged", "a new limit of writes without response",
      CentralEvent.maximumWriteLengthChanged, "peer", "length")
    let nameChanged = MessageRow(
      0x1118, "nameChanged", "a peer has another name", CentralEvent.nameChanged, "peer", "name")
    let linkChanged = MessageRow(
      0x1119, "linkChanged", "the properties of a link",
      { (peer: PeerHandle, link: LinkInfo) in CentralEvent.link(peer, .changed(link)) }, "peer", "link")
    let linkEnded = MessageRow(
      0x111A, "linkEnded", "an observed link has ended",
      { (peer: PeerHandle, reason: HCI.ErrorCode) in CentralEvent.link(peer, .ended(reason)) }, "peer",
      "reason: error code of HCI")
    let linkRequestEnded = MessageRow(
      0x111B, "linkRequestEnded", "the answer to `changeLink`",
      { (peer: PeerHandle, kind: LinkRequest.Kind, error: SessionError?) in
        CentralEvent.link(peer, .requestEnded(kind, error))
      }, "peer", "kind", "error")
    let rssiRead = MessageRow(
      0x111C, "rssiRead", "the answer to `readRSSI`", CentralEvent.rssiRead, "peer", "RSSI in dBm")
    let servicesDiscovered = MessageRow(
      0x111D, "servicesDiscovered", "the answer to `discoverServices`", CentralEvent.servicesDiscovered, "peer",
      "services")
    let includedServicesDiscovered = MessageRow(
      0x111E, "includedServicesDiscovered", "the answer to `discoverIncludedServices`",
      CentralEvent.includedServicesDiscovered, "peer", "service", "included services")
    let characteristicsDiscovered = MessageRow(
      0x111F, "characteristicsDiscovered", "the answer to `discoverCharacteristics`",
      CentralEvent.characteristicsDiscovered, "peer", "service", "characteristics")
    let descriptorsDiscovered = MessageRow(
      0x1120, "descriptorsDiscovered", "the answer to `discoverDescriptors`", CentralEvent.descriptorsDiscovered,
      "peer", "characteristic", "descriptors")
    let valueRead = MessageRow(
      0x1121, "valueRead", "the answer to `read`", CentralEvent.valueRead, "peer", "attribute", "value")
    let valueChanged = MessageRow(
      0x1122, "valueChanged", "a notification or an indication", CentralEvent.valueChanged, "peer", "characteristic",
      "value")
    let written = MessageRow(
      0x1123, "written", "the answer to `write`", CentralEvent.written, "peer", "attribute", "error")
    let notifyStateChanged = MessageRow(
      0x1124, "notifyStateChanged", "the answer to `setNotify`", CentralEvent.notifyStateChanged, "peer",
      "characteristic", "subscribed", "error")
    let readyToWriteWithoutResponse = MessageRow(
      0x1125, "readyToWriteWithoutResponse", "there are credits again", CentralEvent.readyToWriteWithoutResponse,
      "peer")
    let channelOpened = MessageRow(
      0x1126, "channelOpened", "the answer to `openChannel`", CentralEvent.channelOpened, "peer", "channel")
    let servicesModified = MessageRow(
      0x1127, "servicesModified", "services are no longer valid", CentralEvent.servicesModified, "peer", "services")
    let barrierReached = MessageRow(
      0x1128, "barrierReached", "the answer to `barrier`", CentralEvent.barrierReached, "number")
    let restored = MessageRow(
      0x1129, "restored", "the session continues a preserved one; the first event", CentralEvent.restored, "session")
    let valueLimitReached = MessageRow(
      0x112A, "valueLimitReached", "the app in the background has almost as many values as its platform allows",
      CentralEvent.valueLimitReached, "peer", "characteristic", "it has more")
    let synchronization = MessageRow(
      0x112B, "synchronization", "an event of a synchronization", CentralEvent.synchronization, "number", "event",
      "time")
    let notificationSharingChanged = MessageRow(
      0x112C, "notificationSharingChanged", "the user has changed whether the peer gets notifications of the system",
      CentralEvent.notificationSharingChanged, "peer")
  }

  static let rows = Rows()
  static let table = RowTable<CentralEvent>(of: rows)

  func encode(into writer: inout MessageWriter) {
    let rows = Self.rows
    switch self {
    case .stateChanged(let state): rows.stateChanged.encode(state, into: &writer)
    case .discovered(let discovery): rows.discovered.encode(discovery, into: &writer)
    case .packetReceived(let packet): rows.packetReceived.encode(packet.peer, packet.report, packet.time, into: &writer)
    case .connected(let peer, let length): rows.connected.encode(peer, length, into: &writer)
    case .connectionFailed(let peer, let error): rows.connectionFailed.encode(peer, error, into: &writer)
    case .disconnected(let peer, let error, let isReconnecting):
      rows.disconnected.encode(peer, error, isReconnecting, into: &writer)
    case .connectionEvent(let peer, let isConnected): rows.connectionEvent.encode(peer, isConnected, into: &writer)
    case .maximumWriteLengthChanged(let peer, let length):
      rows.maximumWriteLengthChanged.encode(peer, length, into: &writer)
    case .nameChanged(let peer, let name): rows.nameChanged.encode(peer, name, into: &writer)
    case .link(let peer, .changed(let link)): rows.linkChanged.encode(peer, link, into: &writer)
    case .link(let peer, .ended(let reason)): rows.linkEnded.encode(peer, reason, into: &writer)
    case .link(let peer, .requestEnded(let kind, let error)):
      rows.linkRequestEnded.encode(peer, kind, error, into: &writer)
    case .rssiRead(let peer, let result): rows.rssiRead.encode(peer, result, into: &writer)
    case .servicesDiscovered(let peer, let services): rows.servicesDiscovered.encode(peer, services, into: &writer)
    case .includedServicesDiscovered(let peer, let service, let services):
      rows.includedServicesDiscovered.encode(peer, service, services, into: &writer)
    case .characteristicsDiscovered(let peer, let service, let characteristics):
      rows.characteristicsDiscovered.encode(peer, service, characteristics, into: &writer)
    case .descriptorsDiscovered(let peer, let characteristic, let descriptors):
      rows.descriptorsDiscovered.encode(peer, characteristic, descriptors, into: &writer)
    case .valueRead(let peer, let attribute, let value): rows.valueRead.encode(peer, attribute, value, into: &writer)
    case .valueChanged(let peer, let attribute, let value):
      rows.valueChanged.encode(peer, attribute, value, into: &writer)
    case .written(let peer, let attribute, let error): rows.written.encode(peer, attribute, error, into: &writer)
    case .notifyStateChanged(let peer, let attribute, let isNotifying, let error):
      rows.notifyStateChanged.encode(peer, attribute, isNotifying, error, into: &writer)
    case .readyToWriteWithoutResponse(let peer): rows.readyToWriteWithoutResponse.encode(peer, into: &writer)
    case .channelOpened(let peer, let channel): rows.channelOpened.encode(peer, channel, into: &writer)
    case .servicesModified(let peer, let services): rows.servicesModified.encode(peer, services, into: &writer)
    case .barrierReached(let number): rows.barrierReached.encode(number, into: &writer)
    case .restored(let restored): rows.restored.encode(restored, into: &writer)
    case .valueLimitReached(let peer, let attribute, let isExceeded):
      rows.valueLimitReached.encode(peer, attribute, isExceeded, into: &writer)
    case .synchronization(let number, let event, let time):
      rows.synchronization.encode(number, event, time, into: &writer)
    case .notificationSharingChanged(let peer): rows.notificationSharingChanged.encode(peer, into: &writer)
    }
  }
}

// MARK: Restored sessions

extension RestoredCentral: MessageStructure {
  static var blank: RestoredCentral { RestoredCentral(peers: [], scan: nil) }

  mutating func visit<Visitor: FieldVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
    try visitor.field("peers", &peers)
    try visitor.field("scan", &scan)
  }
}

extension RestoredCentral.RestoredPeer: MessageStructure {
  static var blank: RestoredCentral.RestoredPeer { RestoredCentral.RestoredPeer(info: .blank, reconnects: false) }

  mutating func visit<Visitor: FieldVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
    try visitor.field("peer", &info)
    try visitor.field("maximum length of a write without response; none: no link", &maximumWriteLength)
    try visitor.field("re-establishes a lost link", &reconnects)
    try visitor.field("services; none: not discovered", &services)
  }
}

extension RestoredCentral.Service: MessageStructure {
  static var blank: RestoredCentral.Service { RestoredCentral.Service(service: .blank) }

  mutating func visit<Visitor: FieldVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
    try visitor.field("service", &service)
    try visitor.field("characteristics; none: not discovered", &characteristics)
  }
}

extension RestoredCentral.Characteristic: MessageStructure {
  static var blank: RestoredCentral.Characteristic {
    RestoredCentral.Characteristic(characteristic: .blank, isNotifying: false)
  }

  mutating func visit<Visitor: FieldVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
    try visitor.field("characteristic", &characteristic)
    try visitor.field("subscribed", &isNotifying)
    try visitor.field("descriptors; none: not discovered", &descriptors)
  }
}
