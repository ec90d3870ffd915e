import BluetoothHost
import BluetoothWire

/// The purpose of a request of the GATT client.
enum GATTOperation {
  case read(CentralSessionID, RemoteAttributeID)
  case write(CentralSessionID, RemoteAttributeID)
  case writeWithoutResponse(CentralSessionID, TransmitCredits)
  case discovery(DiscoveryRequest)
  /// A write of a Client Characteristic Configuration, given by the handle of the characteristic's value.
  case configuration(AttributeHandle)
  case preparation(BackgroundDiscovery.Step)
  /// A request whose session no longer waits for it.
  case abandoned

  var session: CentralSessionID? {
    switch self {
    case .read(let session, _), .write(let session, _), .writeWithoutResponse(let session, _): session
    case .discovery, .configuration, .preparation, .abandoned: nil
    }
  }
}

/// The pending requests of the GATT client, by token.
struct GATTOperationTable {
  struct Entry {
    var operation: GATTOperation
    let connection: HCI.ConnectionHandle
    /// The time of the request.
    let since: Instant
  }

  /// The number of requests of the session whose key has this generation.
  private struct Count {
    var generation: UInt32 = 0
    var count = 0
  }

  /// The maximum number of abandoned writes without response that are still sent.
  private static let maximumAbandonedWrites = 1_024

  private var entries = SlotMap<Entry>()
  /// The numbers of sessions' requests, by the index of the session's key.
  private var counts: [Count] = []
  /// The number of abandoned requests.
  private var abandonedCount = 0

  /// Adds a request and returns its token; nil: `SessionLimits.requests` requests of the session are pending already.
  /// The number of requests that belong to no session is limited by the number of attributes on the links.
  mutating func add(
    _ operation: GATTOperation, on connection: HCI.ConnectionHandle, at now: Instant
  ) -> GATTToken? {
    if let session = operation.session, !count(session.key) { return nil }
    return entries.insert(Entry(operation: operation, connection: connection, since: now)).rawValue
  }

  /// Counts another request of a session. Returns false if the session has too many.
  private mutating func count(_ session: SlotKey) -> Bool {
    let index = Int(session.index)
    while counts.count <= index { counts.append(Count()) }
    if counts[index].generation != session.generation { counts[index] = Count(generation: session.generation) }
    guard counts[index].count < SessionLimits.requests else { return false }
    counts[index].count += 1
    return true
  }

  /// Takes a request that has been removed out of the counts.
  private mutating func uncount(_ operation: GATTOperation) {
    if let key = operation.session?.key {
      let index = Int(key.index)
      if counts[index].generation == key.generation { counts[index].count -= 1 }
    } else if case .abandoned = operation {
      abandonedCount -= 1
    }
  }

  /// Returns the requests on a connection.
  func entries(on connection: HCI.ConnectionHandle) -> [Entry] {
    entries.values.compactMap { $0 }.filter { $0.connection == connection }
  }

  /// Returns the token of the request of `procedure` on `connection`; nil: there is none.
  func token(of procedure: DiscoveryRequest, on connection: HCI.ConnectionHandle) -> GATTToken? {
    token(on: connection) { if case .discovery(procedure) = $0 { true } else { false } }
  }

  /// Returns the token of the first request on `connection` for which `isMeant` is true; nil: there is none.
  func token(
    on connection: HCI.ConnectionHandle, where isMeant: (GATTOperation) -> Bool
  ) -> GATTToken? {
    let index = entries.values.firstIndex { entry in
      guard let entry, entry.connection == connection else { return false }
      return isMeant(entry.operation)
    }
    return index.flatMap { entries.key(at: $0)?.rawValue }
  }

  /// Removes and returns the operation of `token`; nil: there is none, or it was removed before.
  mutating func remove(_ token: GATTToken) -> GATTOperation? {
    guard let operation = entries.remove(SlotKey(rawValue: token))?.operation else { return nil }
    uncount(operation)
    return operation
  }

  /// Removes all operations on `connection` and passes each to `body`.
  mutating func removeAll(on connection: HCI.ConnectionHandle, _ body: (GATTOperation) -> Void) {
    for index in entries.values.indices where entries.values[index]?.connection == connection {
      guard let entry = entries.remove(at: index) else { continue }
      uncount(entry.operation)
      body(entry.operation)
    }
  }

  /// Removes all operations and passes each to `body`.
  mutating func removeAll(_ body: (GATTOperation) -> Void) {
    for index in entries.values.indices {
      guard let entry = entries.remove(at: index) else { continue }
      uncount(entry.operation)
      body(entry.operation)
    }
  }

  /// The requests that a session has abandoned, by token.
  struct Abandoned {
    var all: Set<GATTToken> = []
    /// The requests that need not be sent: reads, and writes with response, which the app knows only from the answer. Of
    /// writes without response, which apps take for sent, 1,024 are sent at most.
    var needless: Set<GATTToken> = []
  }

  /// Marks the requests of a session on `connection` as abandoned, so that no session gets their results. Passes each
  /// operation to `body`. Returns the tokens of the requests.
  mutating func abandon(
    of session: CentralSessionID, on connection: HCI.ConnectionHandle, _ body: (GATTOperation) -> Void
  ) -> Abandoned {
    var abandoned = Abandoned()
    for index in entries.values.indices where entries.values[index]?.connection == connection {
      guard let key = entries.key(at: index), let operation = entries.values[index]?.operation,
        operation.session == session
      else { continue }
      entries.update(key) { $0.operation = .abandoned }
      body(operation)
      uncount(operation)
      abandoned.all.insert(key.rawValue)
      if case .writeWithoutResponse = operation, abandonedCount < Self.maximumAbandonedWrites {
      } else {
        abandoned.needless.insert(key.rawValue)
      }
      abandonedCount += 1
    }
    return abandoned
  }
}
