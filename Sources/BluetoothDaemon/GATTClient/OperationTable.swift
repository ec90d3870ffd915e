import BluetoothHost
import BluetoothWire

/// The purpose of a request of the GATT client.
enum PendingOperation {
  case read(CentralSessionID, RemoteAttributeID)
  case write(CentralSessionID, RemoteAttributeID)
  case writeWithoutResponse(CentralSessionID, TransmitCredits)
  case discovery(DiscoveryProcedure)
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
struct OperationTable {
  struct Entry {
    var operation: PendingOperation
    let connection: HCI.ConnectionHandle
    /// The time of the request.
    let since: Instant
  }

  /// The maximum number of pending requests.
  private static let limit = 65_536

  private var entries = SlotMap<Entry>()

  /// Adds a request and returns its token; nil: 65,536 requests are pending already.
  mutating func add(
    _ operation: PendingOperation, on connection: HCI.ConnectionHandle, at now: Instant
  ) -> GATTToken? {
    guard entries.count < Self.limit else { return nil }
    return entries.insert(Entry(operation: operation, connection: connection, since: now)).rawValue
  }

  /// Returns the requests on a connection.
  func entries(on connection: HCI.ConnectionHandle) -> [Entry] {
    entries.values.compactMap { $0 }.filter { $0.connection == connection }
  }

  /// Returns the token of the request of `procedure` on `connection`; nil: there is none.
  func token(of procedure: DiscoveryProcedure, on connection: HCI.ConnectionHandle) -> GATTToken? {
    let index = entries.values.firstIndex { entry in
      guard let entry, case .discovery(procedure) = entry.operation else { return false }
      return entry.connection == connection
    }
    return index.flatMap { entries.key(at: $0)?.rawValue }
  }

  /// Removes and returns the operation of `token`; nil: there is none, or it was removed before.
  mutating func remove(_ token: GATTToken) -> PendingOperation? { entries.remove(SlotKey(rawValue: token))?.operation }

  /// Removes all operations on `connection` and passes each to `body`.
  mutating func removeAll(on connection: HCI.ConnectionHandle, _ body: (PendingOperation) -> Void) {
    for index in entries.values.indices where entries.values[index]?.connection == connection {
      if let entry = entries.remove(at: index) { body(entry.operation) }
    }
  }

  /// Removes all operations and passes each to `body`.
  mutating func removeAll(_ body: (PendingOperation) -> Void) {
    for index in entries.values.indices {
      if let entry = entries.remove(at: index) { body(entry.operation) }
    }
  }

  /// Marks the requests of a session on `connection` as abandoned, so that no session gets their results. Passes each
  /// operation to `body`. Returns the tokens of the requests.
  mutating func abandon(
    of session: CentralSessionID, on connection: HCI.ConnectionHandle, _ body: (PendingOperation) -> Void
  ) -> Set<GATTToken> {
    var tokens: Set<GATTToken> = []
    for index in entries.values.indices where entries.values[index]?.connection == connection {
      guard let key = entries.key(at: index) else { continue }
      entries.update(key) { entry in
        guard entry.operation.session == session else { return }
        body(entry.operation)
        entry.operation = .abandoned
        tokens.insert(key.rawValue)
      }
    }
    return tokens
  }
}
