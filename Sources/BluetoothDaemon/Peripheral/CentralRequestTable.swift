import BluetoothHost
import BluetoothWire

/// A client's request that an app must answer.
struct PendingCentralRequest {
  let session: PeripheralSessionID
  let connection: HCI.ConnectionHandle
  let request: GATTServerRequest
  /// True if the request was passed to several sessions: the client gets the answer when all of them have answered.
  let isShared: Bool
  /// The request, for reports.
  let procedure: PeerUsage.Pending.Procedure
  /// The characteristic; nil: the request concerns several of them.
  let characteristic: LocalAttributeID?
  /// The time of the request.
  let since: Instant
}

/// The clients' requests that wait for apps, by the identifiers that the apps know.
struct CentralRequestTable {
  /// An Execute Write that concerns several sessions.
  private struct SharedRequest {
    let connection: HCI.ConnectionHandle
    let request: GATTServerRequest
    var missing: Int
    var error: ATT.ErrorCode?
  }

  private var requests = SlotMap<PendingCentralRequest>()
  private var shared: [SharedRequest] = []

  /// The requests that wait.
  var all: some Sequence<PendingCentralRequest> { requests.values.lazy.compactMap { $0 } }

  mutating func add(_ request: PendingCentralRequest) -> CentralRequestID {
    CentralRequestID(number: requests.insert(request).rawValue)
  }

  /// Registers that the parts of `request` go to `count` sessions; each part is added with `isShared`.
  mutating func share(_ request: GATTServerRequest, on connection: HCI.ConnectionHandle, among count: Int) {
    shared.append(SharedRequest(connection: connection, request: request, missing: count))
  }

  /// Removes and returns the request that a session answers; nil: no request with this identifier waits for this
  /// session.
  mutating func remove(_ id: CentralRequestID, of session: PeripheralSessionID) -> PendingCentralRequest? {
    let key = SlotKey(rawValue: id.number)
    guard let index = requests.index(of: key), requests.values[index]?.session == session else { return nil }
    return requests.remove(at: index)
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
    for index in requests.values.indices where requests.values[index]?.connection == connection {
      _ = requests.remove(at: index)
    }
    shared.removeAll { $0.connection == connection }
  }

  /// Removes and returns the requests that wait for a session that has ended.
  mutating func removeAll(of session: PeripheralSessionID) -> [PendingCentralRequest] {
    let places = requests.values.indices.filter { requests.values[$0]?.session == session }
    return places.compactMap { requests.remove(at: $0) }
  }

  mutating func removeAll() {
    requests.removeAll()
    shared.removeAll()
  }
}
