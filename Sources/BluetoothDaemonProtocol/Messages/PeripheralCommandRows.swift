import BluetoothDaemon
import BluetoothWire

/// The commands of peripheral managers. Each one is behind the session and the seen states.
extension PeripheralCommand: MessageGroup {
  struct Rows {
    let startAdvertising = MessageRow(
      0x0210, "startAdvertising", "starts the advertisement that all apps share",
      { (name: String?, services: CommandList<BluetoothUUID>) in
        PeripheralCommand.startAdvertising(localName: name, services: services.values)
      }, "local name", "services")
    let advertise = MessageRow(
      0x0211, "advertise", "starts an advertisement with these octets", PeripheralCommand.advertise, "advertising")
    let stopAdvertising = MessageRow(
      0x0212, "stopAdvertising", "ends the advertisement", PeripheralCommand.stopAdvertising)
    let addService = MessageRow(
      0x0213, "addService", "adds a service; answered by `serviceAdded`", PeripheralCommand.addService, "service")
    let removeService = MessageRow(
      0x0214, "removeService", "removes a service", PeripheralCommand.removeService, "service")
    let removeAllServices = MessageRow(
      0x0215, "removeAllServices", "removes all services of the session", PeripheralCommand.removeAllServices)
    let respond = MessageRow(
      0x0216, "respond", "answers `readRequested` or `writeRequested`",
      { (request: CentralRequestID, error: ATTErrorCode?, value: AttributeOctets) in
        PeripheralCommand.respond(request, error, value: value.octets)
      }, "request", "error code of ATT", "value")
    let update = MessageRow(
      0x0217, "update", "sends a value to subscribers, for a credit",
      { (characteristic: LocalAttributeID, value: AttributeOctets, centrals: CommandList<PeerHandle>?) in
        PeripheralCommand.update(characteristic, value.octets, centrals?.values)
      }, "characteristic", "value", "centrals; none: all subscribers")
    let setConnectionLatency = MessageRow(
      0x0218, "setConnectionLatency", "the desired latency of a link", PeripheralCommand.setConnectionLatency,
      "latency",
      "central")
    let publishChannel = MessageRow(
      0x0219, "publishChannel", "publishes an L2CAP channel; answered by `channelPublished`",
      PeripheralCommand.publishChannel, "needs encryption")
    let unpublishChannel = MessageRow(
      0x021A, "unpublishChannel", "answered by `channelUnpublished`", PeripheralCommand.unpublishChannel, "PSM")
    let barrier = MessageRow(
      0x021B, "barrier", "answered by `barrierReached` behind the immediate answers to earlier commands",
      PeripheralCommand.barrier, "number")
    let askForPower = MessageRow(
      0x021C, "askForPower", "asks the user to switch Bluetooth on", PeripheralCommand.askForPower)
    let startSet = MessageRow(
      0x021D, "startSet", "starts an advertising set of the app; answered by `advertisingSetStarted`",
      PeripheralCommand.startSet, "set", "advertising")
    let stopSet = MessageRow(0x021E, "stopSet", "ends an advertising set", PeripheralCommand.stopSet, "set")
    let observeLinks = MessageRow(
      0x021F, "observeLinks", "requests `linkChanged`, `linkEnded` and `linkRequestEnded`",
      PeripheralCommand.observeLinks)
    let changeLink = MessageRow(
      0x0220, "changeLink", "requests other properties of a link", PeripheralCommand.changeLink, "central", "request")
    let disconnect = MessageRow(
      0x0221, "disconnect", "ends the link to a central", PeripheralCommand.disconnect, "central")
    let addServiceAt = MessageRow(
      0x0222, "addServiceAt",
      "as `addService`; after the first handle, those of each characteristic and of its descriptors, each optional",
      { (placed: PlacedService) in PeripheralCommand.addServiceAt(placed.service) }, "service")
  }

  static let rows = Rows()
  static let table = RowTable<PeripheralCommand>(of: rows)

  func encode(into writer: inout MessageWriter) {
    let rows = Self.rows
    switch self {
    case .startAdvertising(let localName, let services):
      rows.startAdvertising.encode(localName, CommandList(services), into: &writer)
    case .advertise(let advertising): rows.advertise.encode(advertising, into: &writer)
    case .stopAdvertising: rows.stopAdvertising.encode(into: &writer)
    case .addService(let service): rows.addService.encode(service, into: &writer)
    case .addServiceAt(let service): rows.addServiceAt.encode(PlacedService(service: service), into: &writer)
    case .removeService(let id): rows.removeService.encode(id, into: &writer)
    case .removeAllServices: rows.removeAllServices.encode(into: &writer)
    case .respond(let request, let error, let value):
      rows.respond.encode(request, error, AttributeOctets(octets: value), into: &writer)
    case .update(let id, let value, let centrals):
      rows.update.encode(id, AttributeOctets(octets: value), centrals.map { CommandList($0) }, into: &writer)
    case .setConnectionLatency(let latency, let central):
      rows.setConnectionLatency.encode(latency, central, into: &writer)
    case .publishChannel(let isEncrypted): rows.publishChannel.encode(isEncrypted, into: &writer)
    case .unpublishChannel(let psm): rows.unpublishChannel.encode(psm, into: &writer)
    case .barrier(let number): rows.barrier.encode(number, into: &writer)
    case .askForPower: rows.askForPower.encode(into: &writer)
    case .startSet(let set, let advertising): rows.startSet.encode(set, advertising, into: &writer)
    case .stopSet(let set): rows.stopSet.encode(set, into: &writer)
    case .observeLinks: rows.observeLinks.encode(into: &writer)
    case .changeLink(let central, let request): rows.changeLink.encode(central, request, into: &writer)
    case .disconnect(let central): rows.disconnect.encode(central, into: &writer)
    }
  }
}
