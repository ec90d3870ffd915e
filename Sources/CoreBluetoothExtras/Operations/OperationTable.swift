import BluetoothHost
import CoreBluetooth
import DequeModule

/// The pending operations of a peripheral, in a queue for each kind of callback and attribute.
///
/// Only the first operation of a queue is in progress: a callback names its attribute but not the call that it answers,
/// so two calls in progress could not be distinguished. A lock of the owner protects the table.
struct OperationTable {
  /// The callback that answers an operation.
  enum Kind: Hashable {
    case services, includedServices, characteristics, descriptors, read, write, notifications, rssi, channel
    case link(LinkRequest.Kind)
  }

  /// The identifier of a queue.
  struct Key: Hashable {
    let kind: Kind
    /// The attribute in the callback; nil: the callback has none. The entries of the queue retain it.
    let attribute: ObjectIdentifier?

    init(_ kind: Kind, _ attribute: CBAttribute? = nil) {
      self.kind = kind
      self.attribute = attribute.map(ObjectIdentifier.init)
    }
  }

  private struct Entry {
    let operation: any AnyOperation
    let attribute: CBAttribute?
    let start: () -> Void
  }

  private var queues: [Key: Deque<Entry>] = [:]

  /// The number of operations that wait for their turn or for an answer, including cancelled ones in progress.
  var count: Int { queues.values.reduce(0) { $0 + $1.count } }

  /// Adds an operation, and starts it if none of its queue is in progress.
  mutating func add(
    _ operation: any AnyOperation, _ kind: Kind, _ attribute: CBAttribute?, start: @escaping () -> Void
  ) {
    let key = Key(kind, attribute)
    queues[key, default: []].append(Entry(operation: operation, attribute: attribute, start: start))
    if queues[key]?.count == 1 { start() }
  }

  /// Removes the operation in progress, whose answer has arrived, and starts the next one.
  ///
  /// - Returns: the removed operation; nil if none is in progress.
  mutating func takeAnswered(_ key: Key) -> (any AnyOperation)? {
    guard let answered = queues[key]?.popFirst() else { return nil }
    if let next = queues[key]?.first {
      next.start()
    } else {
      queues[key] = nil
    }
    return answered.operation
  }

  /// Removes a cancelled operation that has not been started. An operation in progress stays until its answer arrives,
  /// so that the next operation does not get that answer.
  mutating func removeUnstarted(_ operation: any AnyOperation, _ key: Key) {
    guard let index = queues[key]?.firstIndex(where: { $0.operation === operation }), index > 0 else { return }
    queues[key]?.remove(at: index)
  }

  /// Removes all operations for which `isAffected` is true, and returns them.
  mutating func removeAll(where isAffected: (CBAttribute?) -> Bool = { _ in true }) -> [any AnyOperation] {
    let affected = queues.filter { isAffected($0.value.first?.attribute) }
    for key in affected.keys { queues[key] = nil }
    return affected.values.flatMap { $0.map(\.operation) }
  }
}
