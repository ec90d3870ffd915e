import BluetoothWire

/// The connections of the controller, in an array. The table caches frequently needed values of all connections in a
/// second array, so that it reads only connections that have changed; it tracks which ones have changed.
struct ConnectionTable {
  private struct Entry {
    let handle: HCI.ConnectionHandle
    let activityID: RadioScheduler.ActivityID
    /// The time of the connection's next deadline, apart from its events.
    var deadline: Instant
    var heldPackets = 0
    var isTouched = false
  }

  private var connections: [Connection] = []
  private var entries: [Entry] = []
  private var touched: [Int] = []
  private var lastHandle: UInt16 = 0
  /// The reports of the established connections that have ended recently.
  private var endedLinks: [LinkReport] = []
  private(set) var attempts = AttemptTable()
  /// The maximum length of data PDUs that new connections prefer.
  var preferredLength = DataLengthState.minimum
  /// The preference of LE Set Default PHY, for new connections.
  var preferredPHYs = LL.PHYPreferences(transmit: .all, receive: .all)
  /// The number of the host's packets that are not completely acknowledged, over all connections.
  private(set) var heldPackets = 0

  var count: Int { connections.count }
  var isEmpty: Bool { connections.isEmpty }
  var indices: Range<Int> { connections.indices }

  /// The connection with this index. A mutating access marks it as changed.
  subscript(index: Int) -> Connection {
    @inline(__always) get { connections[index] }
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

  /// The earliest deadline of all connections, apart from their events.
  var deadline: Instant {
    var result = Instant.distantFuture
    for index in entries.indices { result = min(result, entries[index].deadline) }
    return result
  }

  mutating func checkDeadlines(at now: Instant, into output: inout HCIEventQueue) {
    for index in entries.indices where entries[index].deadline <= now {
      self[index].checkDeadline(at: now, into: &output)
    }
  }

  /// Adds a connection and returns its index.
  mutating func append(_ connection: Connection, scheduler: inout RadioScheduler) -> Int {
    let index = connections.count
    entries.append(
      Entry(
        handle: connection.handle, activityID: scheduler.add(.connection(index)), deadline: connection.deadline))
    attempts.noteCreation(of: connection)
    connections.append(connection)
    touch(index)
    return index
  }

  /// Removes a connection. The last connection takes its index; `scheduler` is updated.
  mutating func remove(at index: Int, scheduler: inout RadioScheduler) {
    scheduler.remove(entries[index].activityID)
    heldPackets -= entries[index].heldPackets
    let last = connections.count - 1
    touched.removeAll { $0 == index }
    if index < last {
      connections.swapAt(index, last)
      entries.swapAt(index, last)
      scheduler.rename(entries[index].activityID, .connection(index))
      for position in touched.indices where touched[position] == last { touched[position] = index }
    }
    connections.removeLast()
    entries.removeLast()
  }

  /// Restores the state after power on. The reports of ended connections, the attempts and the last handle are kept.
  mutating func reset() {
    for index in connections.indices { noteEnd(of: index) }
    let (lastHandle, endedLinks, attempts) = (lastHandle, endedLinks, attempts)
    self = ConnectionTable()
    (self.lastHandle, self.endedLinks, self.attempts) = (lastHandle, endedLinks, attempts)
  }

  /// Returns the next handle. Handles, 0x0001 to 0x0EFF, are assigned in turn, so that a new connection never gets
  /// the handle of a connection that has just ended.
  mutating func newHandle() -> HCI.ConnectionHandle {
    repeat {
      lastHandle = lastHandle >= 0x0EFF ? 1 : lastHandle + 1
    } while index(of: HCI.ConnectionHandle(rawValue: lastHandle)) != nil
    return HCI.ConnectionHandle(rawValue: lastHandle)
  }

  /// Returns a connection that was changed since the last call for it; nil: none.
  mutating func takeTouched() -> Int? {
    guard let index = touched.popLast() else { return nil }
    entries[index].isTouched = false
    return index
  }

  /// Updates the cached values and the timeslot of a connection; returns false if the connection has ended.
  mutating func refresh(_ index: Int, isRunning: Bool, scheduler: inout RadioScheduler) -> Bool {
    guard let summary = connections[index].summary(withTimeslot: !isRunning) else { return false }
    // The entry is read and written once.
    var entry = entries[index]
    entry.deadline = summary.deadline
    heldPackets += summary.heldPackets - entry.heldPackets
    entry.heldPackets = summary.heldPackets
    entries[index] = entry
    if let timeslot = summary.timeslot { scheduler[entry.activityID] = timeslot }
    return true
  }

  // MARK: Reports

  /// The maximum number of ended connections in `links`.
  static let reportedLinks = 64

  /// The reports of the established connections that have ended recently, followed by the present connections.
  var links: [LinkReport] {
    mutating get {
      var result = endedLinks
      for index in connections.indices { result.append(LinkReport(connections[index], isConnected: true)) }
      return result
    }
  }

  /// Returns the statistics of a connection so far, or of the last established connection with this handle that has
  /// ended; nil: neither is known.
  mutating func statistics(of handle: HCI.ConnectionHandle) -> ConnectionStatistics? {
    if let index = index(of: handle) { return connections[index].statistics }
    return endedLinks.last { $0.handle == handle }?.statistics
  }

  /// Records the end of a connection, and removes the oldest record if there are too many. A connection that was never
  /// established is a failed attempt.
  mutating func noteEnd(of index: Int) {
    guard connections[index].isEstablished else { return attempts.noteFailure(of: connections[index]) }
    if endedLinks.count >= Self.reportedLinks { endedLinks.removeFirst() }
    endedLinks.append(LinkReport(connections[index], isConnected: false))
  }
}
