import BluetoothDaemon
import BluetoothHost
import BluetoothWire

/// The events for peripheral managers. Each one is behind the session.
extension PeripheralEvent: MessageGroup {
  struct Rows {
    let stateChanged = MessageRow(
      0x1210, "stateChanged", "the state of the manager", PeripheralEvent.stateChanged, "state")
    let advertisingStarted = MessageRow(
      0x1211, "advertisingStarted", "the advertisement has started", PeripheralEvent.advertisingStarted, "error")
    let serviceAdded = MessageRow(
      0x1212, "serviceAdded", "the answer to `addService`", PeripheralEvent.serviceAdded, "service", "error")
    let subscribed = MessageRow(
      0x1213, "subscribed", "a central has subscribed", PeripheralEvent.subscribed, "central", "characteristic")
    let unsubscribed = MessageRow(
      0x1214, "unsubscribed", "a central has unsubscribed", PeripheralEvent.unsubscribed, "central", "characteristic")
    let maximumUpdateLengthChanged = MessageRow(
      0x1215, "maximumUpdateLengthChanged", "a new limit of updates", PeripheralEvent.maximumUpdateLengthChanged,
      "central")
    let readRequested = MessageRow(
      0x1216, "readRequested", "a read; answered by `respond`", PeripheralEvent.readRequested, "request", "central",
      "characteristic", "offset")
    let writeRequested = MessageRow(
      0x1217, "writeRequested", "writes; answered by `respond` if they have a request", PeripheralEvent.writeRequested,
      "request", "central", "writes")
    let centralDisconnected = MessageRow(
      0x1218, "centralDisconnected", "the link has ended", PeripheralEvent.centralDisconnected, "central")
    let channelPublished = MessageRow(
      0x1219, "channelPublished", "the answer to `publishChannel`", PeripheralEvent.channelPublished, "PSM", "error")
    let channelUnpublished = MessageRow(
      0x121A, "channelUnpublished", "the answer to `unpublishChannel`", PeripheralEvent.channelUnpublished, "PSM",
      "error")
    let channelOpened = MessageRow(
      0x121B, "channelOpened", "a central has opened a channel", PeripheralEvent.channelOpened, "central", "channel")
    let readyToUpdate = MessageRow(
      0x121C, "readyToUpdate", "there are credits for updates again", PeripheralEvent.readyToUpdate)
    let barrierReached = MessageRow(
      0x121D, "barrierReached", "the answer to `barrier`", PeripheralEvent.barrierReached, "number")
    let restored = MessageRow(
      0x121E, "restored", "the session continues a preserved one; the first event", PeripheralEvent.restored, "session")
    let advertisingSetStarted = MessageRow(
      0x121F, "advertisingSetStarted", "the answer to `startSet`", PeripheralEvent.advertisingSetStarted, "set", "error"
    )
    let advertisingSetEnded = MessageRow(
      0x1220, "advertisingSetEnded", "an advertising set has ended", PeripheralEvent.advertisingSetEnded, "set")
    let linkChanged = MessageRow(
      0x1221, "linkChanged", "the properties of a link",
      { (central: CentralInfo, link: LinkInfo) in PeripheralEvent.link(central, .changed(link)) }, "central", "link")
    let linkEnded = MessageRow(
      0x1222, "linkEnded", "an observed link has ended",
      { (central: CentralInfo, reason: HCI.ErrorCode) in PeripheralEvent.link(central, .ended(reason)) }, "central",
      "reason: error code of HCI")
    let linkRequestEnded = MessageRow(
      0x1223, "linkRequestEnded", "the answer to `changeLink`",
      { (central: CentralInfo, kind: LinkRequest.Kind, error: SessionError?) in
        PeripheralEvent.link(central, .requestEnded(kind, error))
      }, "central", "kind", "error")
    let indicationConfirmed = MessageRow(
      0x1224, "indicationConfirmed", "a central has confirmed an indication", PeripheralEvent.indicationConfirmed,
      "central", "characteristic")
  }

  static let rows = Rows()
  static let table = RowTable<PeripheralEvent>(of: rows)

  func encode(into writer: inout MessageWriter) {
    let rows = Self.rows
    switch self {
    case .stateChanged(let state): rows.stateChanged.encode(state, into: &writer)
    case .advertisingStarted(let error): rows.advertisingStarted.encode(error, into: &writer)
    case .serviceAdded(let id, let error): rows.serviceAdded.encode(id, error, into: &writer)
    case .subscribed(let central, let id): rows.subscribed.encode(central, id, into: &writer)
    case .unsubscribed(let central, let id): rows.unsubscribed.encode(central, id, into: &writer)
    case .maximumUpdateLengthChanged(let central): rows.maximumUpdateLengthChanged.encode(central, into: &writer)
    case .readRequested(let request, let central, let id, let offset):
      rows.readRequested.encode(request, central, id, offset, into: &writer)
    case .writeRequested(let request, let central, let writes):
      rows.writeRequested.encode(request, central, writes, into: &writer)
    case .centralDisconnected(let central): rows.centralDisconnected.encode(central, into: &writer)
    case .channelPublished(let psm, let error): rows.channelPublished.encode(psm, error, into: &writer)
    case .channelUnpublished(let psm, let error): rows.channelUnpublished.encode(psm, error, into: &writer)
    case .channelOpened(let central, let channel): rows.channelOpened.encode(central, channel, into: &writer)
    case .readyToUpdate: rows.readyToUpdate.encode(into: &writer)
    case .barrierReached(let number): rows.barrierReached.encode(number, into: &writer)
    case .restored(let restored): rows.restored.encode(restored, into: &writer)
    case .advertisingSetStarted(let set, let error): rows.advertisingSetStarted.encode(set, error, into: &writer)
    case .advertisingSetEnded(let set): rows.advertisingSetEnded.encode(set, into: &writer)
    case .link(let central, .changed(let link)): rows.linkChanged.encode(central, link, into: &writer)
    case .link(let central, .ended(let reason)): rows.linkEnded.encode(central, reason, into: &writer)
    case .link(let central, .requestEnded(let kind, let error)):
      rows.linkRequestEnded.encode(central, kind, error, into: &writer)
    case .indicationConfirmed(let central, let id): rows.indicationConfirmed.encode(central, id, into: &writer)
    }
  }
}

// MARK: Restored sessions

extension RestoredPeripheral: MessageStructure {
  static var blank: RestoredPeripheral { RestoredPeripheral(services: [], subscriptions: [], advertising: nil) }

  mutating func visit<Visitor: FieldVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
    try visitor.field("services", &services)
    try visitor.field("subscriptions", &subscriptions)
    try visitor.field("advertisement", &advertising)
  }
}

extension RestoredPeripheral.Subscription: MessageStructure {
  static var blank: RestoredPeripheral.Subscription {
    RestoredPeripheral.Subscription(central: .blank, characteristic: LocalAttributeID(number: 0))
  }

  mutating func visit<Visitor: FieldVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
    try visitor.field("central", &central)
    try visitor.field("characteristic", &characteristic)
  }
}

extension RestoredPeripheral.Advertising: MessageStructure {
  static var blank: RestoredPeripheral.Advertising { RestoredPeripheral.Advertising(localName: nil, services: []) }

  mutating func visit<Visitor: FieldVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
    try visitor.field("local name", &localName)
    try visitor.field("services", &services)
  }
}
