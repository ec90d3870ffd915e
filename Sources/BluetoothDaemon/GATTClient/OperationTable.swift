import BluetoothHost
import BluetoothWire

/// What a request of the GATT client was made for.
enum Operation {
  case read(CentralSlot, RemoteAttributeID)
  case write(CentralSlot, RemoteAttributeID)
  case writeWithoutResponse(CentralSlot, TransmitCredits)
  case discovery(DiscoveryProcedure)
  /// A Client Characteristic Configuration, by the characteristic's value.
  case configuration(AttributeHandle)
  case preparation(LinkPreparation.Step)
  /// Nobody waits for it any more.
  case abandoned

  var session: CentralSlot? {
    switch self {
    case .read(let session, _), .write(let session, _), .writeWithoutResponse(let session, _): session
    case .discovery, .configuration, .preparation, .abandoned: nil
    }
  }
}

/// The requests of the GATT client that have not completed, by their tokens.
struct OperationTable {
  private struct Entry {
    var operation: Operation?
    var connection: HCI.ConnectionHandle
    /// Told apart from earlier uses of the same place by the upper half of its token.
    var generation: UInt16
  }

  private var entries: [Entry] = []
  private var free: [Int] = []

  /// nil: 65,536 requests wait already.
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

  /// What `token` stands for, once; nil: nothing (any more).
  mutating func remove(_ token: GATTToken) -> Operation? {
    let index = Int(token & 0xFFFF)
    guard index < entries.count, entries[index].generation == UInt16(token >> 16) else { return nil }
    return clear(index)
  }

  /// Takes out all that were made on `connection`.
  mutating func removeAll(on connection: HCI.ConnectionHandle, _ body: (Operation) -> Void) {
    for index in entries.indices where entries[index].connection == connection {
      if let operation = clear(index) { body(operation) }
    }
  }

  /// Takes out all.
  mutating func removeAll(_ body: (Operation) -> Void) {
    for index in entries.indices {
      if let operation = clear(index) { body(operation) }
    }
  }

  /// Marks the requests of a session on `connection` as abandoned: they complete for nobody.
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
