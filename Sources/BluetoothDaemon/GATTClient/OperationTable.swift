import BluetoothHost
import BluetoothWire

/// The purpose of a request of the GATT client.
enum Operation {
  case read(CentralSlot, RemoteAttributeID)
  case write(CentralSlot, RemoteAttributeID)
  case writeWithoutResponse(CentralSlot, TransmitCredits)
  case discovery(DiscoveryProcedure)
  /// A write of a Client Characteristic Configuration, given by the handle of the characteristic's value.
  case configuration(AttributeHandle)
  case preparation(BackgroundDiscovery.Step)
  /// A request whose session no longer waits for it.
  case abandoned

  var session: CentralSlot? {
    switch self {
    case .read(let session, _), .write(let session, _), .writeWithoutResponse(let session, _): session
    case .discovery, .configuration, .preparation, .abandoned: nil
    }
  }
}

/// The pending requests of the GATT client, by token.
struct OperationTable {
  private struct Entry {
    var operation: Operation?
    var connection: HCI.ConnectionHandle
    /// The upper half of the token, which distinguishes this use of the slot from earlier ones.
    var generation: UInt16
  }

  private var entries: [Entry] = []
  private var free: [Int] = []

  /// Adds a request and returns its token; nil: 65,536 requests are pending already.
  mutating func add(_ operation: Operation, on connection: HCI.ConnectionHandle) -> GATTToken? {
    if let index = free.popLast() {
      entries[index].operation = operation
      entries[index].connection = connection
      return token(index)
    }
    guard entries.count <= UInt16.max else { return nil }
    entries.append(Entry(operation: operation, connection: connection, generation: 0))
    return token(entries.count - 1)
  }

  /// Removes and returns the operation of `token`; nil: there is none, or it was removed before.
  mutating func remove(_ token: GATTToken) -> Operation? {
    let index = Int(token & 0xFFFF)
    guard index < entries.count, entries[index].generation == UInt16(token >> 16) else { return nil }
    return clear(index)
  }

  /// Removes all operations on `connection` and passes each to `body`.
  mutating func removeAll(on connection: HCI.ConnectionHandle, _ body: (Operation) -> Void) {
    for index in entries.indices where entries[index].connection == connection {
      if let operation = clear(index) { body(operation) }
    }
  }

  /// Removes all operations and passes each to `body`.
  mutating func removeAll(_ body: (Operation) -> Void) {
    for index in entries.indices {
      if let operation = clear(index) { body(operation) }
    }
  }

  /// Marks the requests of a session on `connection` as abandoned, so that no session gets their results. Passes each
  /// operation to `body`.
  mutating func abandon(
    of session: CentralSlot, on connection: HCI.ConnectionHandle, _ body: (Operation) -> Void
  ) {
    for index in entries.indices where entries[index].connection == connection {
      guard let operation = entries[index].operation, operation.session == session else { continue }
      entries[index].operation = .abandoned
      body(operation)
    }
  }

  private func token(_ index: Int) -> GATTToken { GATTToken(entries[index].generation) << 16 | GATTToken(index) }

  private mutating func clear(_ index: Int) -> Operation? {
    guard let operation = entries[index].operation else { return nil }
    entries[index].operation = nil
    entries[index].generation &+= 1
    free.append(index)
    return operation
  }
}
