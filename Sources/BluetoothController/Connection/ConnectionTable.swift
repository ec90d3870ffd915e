import BluetoothWire

/// The connections, in a row. What is asked of all of them again and again lies beside them, so that no connection has to
/// be looked at that nothing has happened to; which ones were changed, the table notices itself.
struct ConnectionTable {
  private struct Entry {
    let handle: HCI.ConnectionHandle
    let place: RadioAgenda.Place
    /// When the connection wants to be looked at, besides its events.
    var deadline: Instant
    var heldPackets = 0
    var isTouched = false
  }

  private var connections: [Connection] = []
  private var entries: [Entry] = []
  private var touched: [Int] = []
  /// The host's packets that are not wholly acknowledged, over all connections.
  private(set) var heldPackets = 0

  var count: Int { connections.count }
  var isEmpty: Bool { connections.isEmpty }
  var indices: Range<Int> { connections.indices }

  /// Changing a connection notes that it was changed.
  subscript(index: Int) -> Connection {
    _read { yield connections[index] }
    _modify {
      touch(index)
      yield &connections[index]
    }
  }

  private mutating func touch(_ index: Int) {
    guard !entries[index].isTouched else { return }
    entries[index].isTouched = true
    touched.append(index)
  }

  func index(of handle: HCI.ConnectionHandle) -> Int? { entries.firstIndex { $0.handle == handle } }

  func contains(where condition: (borrowing Connection) -> Bool) -> Bool {
    for index in connections.indices where condition(connections[index]) { return true }
    return false
  }

  /// The earliest time at which a connection wants to be looked at, besides events.
  var deadline: Instant {
    var result = Instant.distantFuture
    for index in entries.indices { result = min(result, entries[index].deadline) }
    return result
  }

  mutating func checkDeadlines(at now: Instant, into output: inout HostOutput) {
    for index in entries.indices where entries[index].deadline <= now {
      self[index].checkDeadline(at: now, into: &output)
    }
  }

  /// Takes a connection in; returns its index.
  mutating func append(_ connection: Connection, agenda: inout RadioAgenda) -> Int {
    let index = connections.count
    entries.append(
      Entry(
        handle: connection.handle, place: agenda.add(.connection(index)), deadline: connection.deadline))
    connections.append(connection)
    touch(index)
    return index
  }

  /// Takes a connection out. The last one takes its index, and is told of it in `agenda`.
  mutating func remove(at index: Int, agenda: inout RadioAgenda) {
    agenda.remove(entries[index].place)
    heldPackets -= entries[index].heldPackets
    let last = connections.count - 1
    touched.removeAll { $0 == index }
    if index < last {
      connections.swapAt(index, last)
      entries.swapAt(index, last)
      agenda.rename(entries[index].place, .connection(index))
      for place in touched.indices where touched[place] == last { touched[place] = index }
    }
    connections.removeLast()
    entries.removeLast()
  }

  mutating func removeAll() { self = ConnectionTable() }

  /// A connection that was changed since it was last taken; nil: there is none.
  mutating func takeTouched() -> Int? {
    guard let index = touched.popLast() else { return nil }
    entries[index].isTouched = false
    return index
  }

  /// Takes in what a connection wants; false: it has ended.
  mutating func refresh(_ index: Int, isRunning: Bool, agenda: inout RadioAgenda) -> Bool {
    guard let wishes = connections[index].wishes(withClaim: !isRunning) else { return false }
    // Read and written once.
    var entry = entries[index]
    entry.deadline = wishes.deadline
    heldPackets += wishes.heldPackets - entry.heldPackets
    entry.heldPackets = wishes.heldPackets
    entries[index] = entry
    if let claim = wishes.claim { agenda[entry.place] = claim }
    return true
  }
}
