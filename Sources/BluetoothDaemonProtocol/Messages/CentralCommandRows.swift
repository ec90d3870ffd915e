import BluetoothDaemon
import BluetoothWire

/// The commands of central managers. Each one is behind the session and the seen states.
extension CentralCommand: MessageGroup {
  struct Rows {
    let scan = MessageRow(0x0110, "scan", "scans", CentralCommand.scan, "request")
    let stopScan = MessageRow(0x0111, "stopScan", "ends the scan", CentralCommand.stopScan)
    let connect = MessageRow(
      0x0112, "connect", "connects, and tries until it succeeds", CentralCommand.connect, "peer", "delay",
      "re-establishes a lost link")
    let cancelConnection = MessageRow(
      0x0113, "cancelConnection", "ends the link, or the attempt", CentralCommand.cancelConnection, "peer")
    let registerForConnectionEvents = MessageRow(
      0x0114, "registerForConnectionEvents", "requests `connectionEvent` for links of other sessions",
      CentralCommand.registerForConnectionEvents, "filter; none: no events")
    let readRSSI = MessageRow(
      0x0115, "readRSSI", "reads the signal strength; answered by `rssiRead`", CentralCommand.readRSSI, "peer")
    let observeLinks = MessageRow(
      0x0116, "observeLinks", "requests `linkChanged`, `linkEnded` and `linkRequestEnded`", CentralCommand.observeLinks)
    let changeLink = MessageRow(
      0x0117, "changeLink", "requests other properties of a link", CentralCommand.changeLink, "peer", "request")
    let discoverServices = MessageRow(
      0x0118, "discoverServices", "discovers services; answered by `servicesDiscovered`",
      { (peer: PeerHandle, filter: CommandList<BluetoothUUID>?) in CentralCommand.discoverServices(peer, filter?.values)
      },
      "peer", "UUIDs; none: all services")
    let discoverIncludedServices = MessageRow(
      0x0119, "discoverIncludedServices", "answered by `includedServicesDiscovered`",
      { (peer: PeerHandle, service: RemoteAttributeID, filter: CommandList<BluetoothUUID>?) in
        CentralCommand.discoverIncludedServices(peer, service, filter?.values)
      }, "peer", "service", "UUIDs; none: all services")
    let discoverCharacteristics = MessageRow(
      0x011A, "discoverCharacteristics", "answered by `characteristicsDiscovered`",
      { (peer: PeerHandle, service: RemoteAttributeID, filter: CommandList<BluetoothUUID>?) in
        CentralCommand.discoverCharacteristics(peer, service, filter?.values)
      }, "peer", "service", "UUIDs; none: all characteristics")
    let discoverDescriptors = MessageRow(
      0x011B, "discoverDescriptors", "answered by `descriptorsDiscovered`", CentralCommand.discoverDescriptors, "peer",
      "characteristic")
    let read = MessageRow(
      0x011C, "read", "reads a value; answered by `valueRead`", CentralCommand.read, "peer", "attribute")
    let write = MessageRow(
      0x011D, "write", "writes a value; answered by `written`",
      { (peer: PeerHandle, attribute: RemoteAttributeID, value: AttributeOctets) in
        CentralCommand.write(peer, attribute, value.octets)
      }, "peer", "attribute", "value")
    let writeWithoutResponse = MessageRow(
      0x011E, "writeWithoutResponse", "writes a value, for a credit",
      { (peer: PeerHandle, attribute: RemoteAttributeID, value: AttributeOctets) in
        CentralCommand.writeWithoutResponse(peer, attribute, value.octets)
      }, "peer", "attribute", "value")
    let signedWriteWithoutResponse = MessageRow(
      0x011F, "signedWriteWithoutResponse", "writes a value, signed unless the link is encrypted, for a credit",
      { (peer: PeerHandle, attribute: RemoteAttributeID, value: AttributeOctets) in
        CentralCommand.signedWriteWithoutResponse(peer, attribute, value.octets)
      }, "peer", "attribute", "value")
    let setNotify = MessageRow(
      0x0120, "setNotify", "subscribes, or unsubscribes; answered by `notifyStateChanged`", CentralCommand.setNotify,
      "peer", "characteristic", "subscribes")
    let openChannel = MessageRow(
      0x0121, "openChannel", "opens an L2CAP channel; answered by `channelOpened`", CentralCommand.openChannel, "peer",
      "PSM")
    let barrier = MessageRow(
      0x0122, "barrier", "answered by `barrierReached` behind the immediate answers to earlier commands",
      CentralCommand.barrier, "number")
    let askForPower = MessageRow(
      0x0123, "askForPower", "asks the user to switch Bluetooth on", CentralCommand.askForPower)
    let requestAlerts = MessageRow(
      0x0124, "requestAlerts", "requests alerts to the user while the app is suspended", CentralCommand.requestAlerts,
      "peer", "bits: 0 connection, 1 disconnection, 2 notification")
    let synchronize = MessageRow(
      0x0125, "synchronize", "synchronizes with periodic advertising; answered by `synchronization`",
      CentralCommand.synchronize, "number", "request")
    let endSynchronization = MessageRow(
      0x0126, "endSynchronization", "ends a synchronization, or the attempt", CentralCommand.endSynchronization,
      "number")
    let requireNotifications = MessageRow(
      0x0127, "requireNotifications", "requires that the peer can get the notifications of the system",
      CentralCommand.requireNotifications, "peer")
  }

  static let rows = Rows()
  static let table = RowTable<CentralCommand>(of: rows)

  func encode(into writer: inout MessageWriter) {
    let rows = Self.rows
    switch self {
    case .scan(let request): rows.scan.encode(request, into: &writer)
    case .stopScan: rows.stopScan.encode(into: &writer)
    case .connect(let peer, let delay, let reconnects): rows.connect.encode(peer, delay, reconnects, into: &writer)
    case .cancelConnection(let peer): rows.cancelConnection.encode(peer, into: &writer)
    case .registerForConnectionEvents(let filter): rows.registerForConnectionEvents.encode(filter, into: &writer)
    case .readRSSI(let peer): rows.readRSSI.encode(peer, into: &writer)
    case .observeLinks: rows.observeLinks.encode(into: &writer)
    case .changeLink(let peer, let request): rows.changeLink.encode(peer, request, into: &writer)
    case .discoverServices(let peer, let filter):
      rows.discoverServices.encode(peer, filter.map { CommandList($0) }, into: &writer)
    case .discoverIncludedServices(let peer, let service, let filter):
      rows.discoverIncludedServices.encode(peer, service, filter.map { CommandList($0) }, into: &writer)
    case .discoverCharacteristics(let peer, let service, let filter):
      rows.discoverCharacteristics.encode(peer, service, filter.map { CommandList($0) }, into: &writer)
    case .discoverDescriptors(let peer, let attribute): rows.discoverDescriptors.encode(peer, attribute, into: &writer)
    case .read(let peer, let attribute): rows.read.encode(peer, attribute, into: &writer)
    case .write(let peer, let attribute, let value):
      rows.write.encode(peer, attribute, AttributeOctets(octets: value), into: &writer)
    case .writeWithoutResponse(let peer, let attribute, let value):
      rows.writeWithoutResponse.encode(peer, attribute, AttributeOctets(octets: value), into: &writer)
    case .signedWriteWithoutResponse(let peer, let attribute, let value):
      rows.signedWriteWithoutResponse.encode(peer, attribute, AttributeOctets(octets: value), into: &writer)
    case .setNotify(let peer, let attribute, let isOn): rows.setNotify.encode(peer, attribute, isOn, into: &writer)
    case .openChannel(let peer, let psm): rows.openChannel.encode(peer, psm, into: &writer)
    case .barrier(let number): rows.barrier.encode(number, into: &writer)
    case .askForPower: rows.askForPower.encode(into: &writer)
    case .requestAlerts(let peer, let alerts): rows.requestAlerts.encode(peer, alerts, into: &writer)
    case .synchronize(let number, let request): rows.synchronize.encode(number, request, into: &writer)
    case .endSynchronization(let number): rows.endSynchronization.encode(number, into: &writer)
    case .requireNotifications(let peer): rows.requireNotifications.encode(peer, into: &writer)
    }
  }
}

extension ConnectionEventFilter: MessageStructure {
  static var blank: ConnectionEventFilter { ConnectionEventFilter(peers: [], services: []) }

  mutating func visit<Visitor: FieldVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
    // In a fixed order, so that the same command has the same octets.
    var peers = self.peers.sorted { ($0.high, $0.low) < ($1.high, $1.low) }
    var services = self.services.sorted { ($0.high, $0.low) < ($1.high, $1.low) }
    try visitor.limited("peers", &peers)
    try visitor.limited("services", &services)
    self = ConnectionEventFilter(peers: Set(peers), services: Set(services))
  }
}
