import BluetoothHost
import BluetoothWire
import DequeModule

/// The GATT client on one link.
struct ClientLink {
  var discovery = DiscoveryQueue()
  var notifications = NotificationTable()
  var preparation = BackgroundDiscovery()
  /// The sessions that wait for the RSSI.
  private var rssiReaders: [CentralSessionID] = []

  /// Lets a session wait for the RSSI. Returns true if no other one waits, so that it must be read.
  mutating func awaitRSSI(_ session: CentralSessionID) -> Bool {
    rssiReaders.append(session)
    return rssiReaders.count == 1
  }

  /// Removes and returns the sessions that wait for the RSSI.
  mutating func takeRSSIReaders() -> [CentralSessionID] {
    defer { rssiReaders.removeAll(keepingCapacity: true) }
    return rssiReaders
  }

  /// Removes what a session waits for.
  mutating func abandonRequests(of session: CentralSessionID) {
    discovery.remove(session)
    rssiReaders.removeAll { $0 == session }
  }
}

/// The GATT server on one link.
struct ServedLink {
  /// The sessions that have had an event about the central on this link; true: the central has used an attribute or a
  /// channel of the session.
  private var sessions: [PeripheralSessionID: Bool] = [:]
  /// The updates that wait for the controller or for a confirmation, in order.
  private(set) var updates = Deque<OutstandingUpdate>()

  /// Returns true if a session has had an event about the central.
  func isKnown(to session: PeripheralSessionID) -> Bool { sessions[session] != nil }

  /// Returns true if the central has used an attribute or a channel of a session.
  func isUsed(of session: PeripheralSessionID) -> Bool { sessions[session] == true }

  /// Notes that a session gets an event about the central.
  mutating func noteEvent(for session: PeripheralSessionID) {
    if sessions[session] == nil { sessions[session] = false }
  }

  /// Notes that the central uses an attribute or a channel of a session.
  mutating func noteUse(of session: PeripheralSessionID) { sessions[session] = true }

  mutating func add(_ update: OutstandingUpdate) { updates.append(update) }

  /// Removes the oldest update of a characteristic, given by the handle of its value, and returns its call; nil: there is
  /// none.
  mutating func takeUpdate(of handle: AttributeHandle) -> SlotKey? {
    guard let index = updates.firstIndex(where: { $0.handle == handle }) else { return nil }
    return updates.remove(at: index).call
  }

  /// Removes the oldest update and returns its call; nil: there is none.
  mutating func takeUpdate() -> SlotKey? { updates.popFirst()?.call }
}

/// The properties of one link that sessions observe, and the requests for other ones.
struct ObservedLink {
  /// The properties that sessions know; nil: no session observes its links.
  private(set) var reported: LinkInfo?
  var requests = LinkRequestQueue()

  mutating func noteReport(_ info: LinkInfo) { reported = info }
}

/// One link as the sessions see it that have registered for events about the connections of others.
struct ConnectionWatch {
  /// The services for which the directory lists the link; nil: it does not list the link.
  private var services: [BluetoothUUID]?
  /// The sessions that get an event about the end of the link.
  private(set) var receivers: [CentralSessionID] = []

  mutating func publish(_ services: [BluetoothUUID]) { self.services = services }

  /// Returns true if a registration is for events about the link to a peer.
  func matches(_ filter: ConnectionEventFilter, _ peer: PeerIdentifier) -> Bool {
    guard let services else { return false }
    return filter.peers.contains(peer) || !filter.services.isDisjoint(with: services)
  }

  mutating func add(_ receiver: CentralSessionID) { receivers.append(receiver) }
  mutating func remove(_ receiver: CentralSessionID) { receivers.removeAll { $0 == receiver } }
}
