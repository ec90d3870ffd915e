import BluetoothHost
import BluetoothWire

/// A client's request that an app must answer.
struct PendingCentralRequest {
  let session: PeripheralSlot
  let connection: HCI.ConnectionHandle
  let request: GATTServerRequest
  /// True if the request was passed to several sessions: the client gets the answer when all of them have answered.
  let isShared: Bool
}

/// The clients' requests that wait for apps, by the identifiers that the apps know.
struct CentralRequestTable {
  private struct Entry {
    var request: PendingCentralRequest?
    /// The upper half of the identifier, which distinguishes this use of the slot from earlier ones.
    var generation: UInt32
  }

  /// An Execute Write that concerns several sessions.
  private struct SharedRequest {
    let connection: HCI.ConnectionHandle
    let request: GATTServerRequest
    var missing: Int
    var error: ATT.ErrorCode?
  }

  private var entries: [Entry] = []
  private var shared: [SharedRequest] = []

  mutating func add(_ request: PendingCentralRequest) -> CentralRequestID {
    let place = entries.firstIndex { $0.request == nil } ?? entries.count
    if place == entries.count { entries.append(Entry(request: nil, generation: 0)) }
    entries[place].request = request
    return CentralRequestID(number: UInt64(entries[place].generation) << 32 | UInt64(place))
  }

  /// Registers that the parts of `request` go to `count` sessions; each part is added with `isShared`.
  mutating func share(_ request: GATTServerRequest, on connection: HCI.ConnectionHandle, among count: Int) {
    shared.append(SharedRequest(connection: connection, request: request, missing: count))
  }

  /// Removes and returns the request that a session answers; nil: no request with this identifier waits for this
  /// session.
  mutating func remove(_ id: CentralRequestID, of session: PeripheralSlot) -> PendingCentralRequest? {
    let place = Int(id.number & 0xFFFF_FFFF)
    guard place < entries.count, UInt64(entries[place].generation) == id.number >> 32,
      let request = entries[place].request, request.session == session
    else { return nil }
    clear(place)
    return request
  }

  /// Counts the answer of one of the sessions that share `request`. Returns the combined answer once all have answered.
  mutating func answerShared(_ request: PendingCentralRequest, _ error: ATT.ErrorCode?) -> Result<Void, ATT.ErrorCode>?
  {
    guard
      let index = shared.firstIndex(where: { $0.connection == request.connection && $0.request == request.request })
    else { return nil }
    shared[index].missing -= 1
    shared[index].error = shared[index].error ?? error
    guard shared[index].missing == 0 else { return nil }
    let answer = shared.remove(at: index)
    return answer.error.map { .failure($0) } ?? .success(())
  }

  /// Removes the requests of a link that has ended.
  mutating func removeAll(on connection: HCI.ConnectionHandle) {
    for place in entries.indices where entries[place].request?.connection == connection { clear(place) }
    shared.removeAll { $0.connection == connection }
  }

  /// Removes and returns the requests that wait for a session that has ended.
  mutating func removeAll(of session: PeripheralSlot) -> [PendingCentralRequest] {
    var removed: [PendingCentralRequest] = []
    for place in entries.indices {
      guard let request = entries[place].request, request.session == session else { continue }
      clear(place)
      removed.append(request)
    }
    return removed
  }

  mutating func removeAll() {
    for place in entries.indices where entries[place].request != nil { clear(place) }
    shared.removeAll()
  }

  private mutating func clear(_ place: Int) {
    entries[place].request = nil
    entries[place].generation &+= 1
  }
}
