import BluetoothHost
import BluetoothWire

extension Daemon {
  /// Returns the link over which a session may use `peer`; nil: the session is not connected, or no longer. Its
  /// commands are then dropped, as its client drops them.
  func usedLink(of peer: PeerHandle, by session: CentralSessionID) -> Int? {
    guard peers.contains(peer), let user = peers[peer].userIndex(of: session),
      peers[peer].users[user].phase == .connected
    else { return nil }
    return linkIndex(of: peer)
  }

  /// Sends a request to the host.
  mutating func send(_ request: GATTRequest, for operation: Operation, on link: Int, at now: Instant) {
    let connection = links[link].link.handle
    guard let token = operations.add(operation, on: connection) else {
      fail(operation, .outOfSpace, on: link, at: now)
      return
    }
    if operation.isApps { links[link].openRequests += 1 }
    links[link].noteUse(by: operation, at: now)
    host.request(request, token: token, on: connection, at: now)
  }

  // MARK: Commands

  mutating func read(_ attribute: RemoteAttributeID, at peer: PeerHandle, for session: CentralSessionID, now: Instant) {
    guard let link = usedLink(of: peer, by: session) else { return }
    send(.read(attribute.handle), for: .read(session, attribute), on: link, at: now)
  }

  mutating func write(
    _ value: ByteSlice, to attribute: RemoteAttributeID, at peer: PeerHandle, for session: CentralSessionID,
    now: Instant
  ) {
    guard let link = usedLink(of: peer, by: session) else { return }
    guard value.count <= ATT.maximumValueLength else {
      deliver(.written(peer, attribute, .att(.invalidAttributeValueLength)), to: session)
      return
    }
    send(.write(attribute.handle, value), for: .write(session, attribute), on: link, at: now)
  }

  /// Sends a write without response. The session's client has taken a credit for it, which comes back in every case.
  mutating func writeWithoutResponse(
    _ value: ByteSlice, to attribute: RemoteAttributeID, at peer: PeerHandle, isSigned: Bool,
    for session: CentralSessionID,
    now: Instant
  ) {
    guard let link = usedLink(of: peer, by: session), let user = peers[peer].userIndex(of: session) else {
      _ = centralCounters(of: session)?.writeCredits(for: peer).put()
      return
    }
    let credits = peers[peer].users[user].credits
    let request: GATTRequest =
      isSigned
      ? .signedWriteWithoutResponse(attribute.handle, value) : .writeWithoutResponse(attribute.handle, value)
    send(request, for: .writeWithoutResponse(session, credits), on: link, at: now)
  }

  mutating func readRSSI(of peer: PeerHandle, for session: CentralSessionID, at now: Instant) {
    guard let link = usedLink(of: peer, by: session) else { return }
    links[link].rssiReaders.append(session)
    // Requests made while the controller is reading get the same answer.
    if links[link].rssiReaders.count == 1 { host.readRSSI(links[link].link.handle, at: now) }
  }

  // MARK: Host events

  mutating func completed(
    _ token: GATTToken, _ result: Result<GATTResponse, GATTError>, on link: Int, at now: Instant
  ) {
    guard let operation = operations.remove(token) else { return }
    let peer = links[link].peer
    links[link].noteUse(by: operation, at: now)
    if operation.isApps {
      links[link].openRequests -= 1
      links[link].preparation.requestCompleted()
    }
    switch operation {
    case .read(let session, let attribute):
      deliver(.valueRead(peer, attribute, result.value), to: session)
    case .write(let session, let attribute):
      deliver(.written(peer, attribute, result.error), to: session)
    case .writeWithoutResponse(let session, let credits):
      if credits.put() { deliver(.readyToWriteWithoutResponse(peer), to: session) }
    case .discovery(let procedure):
      discovered(procedure, result, on: link, at: now)
    case .configuration(let characteristic):
      configured(characteristic, result.error, on: link, at: now)
    case .preparation(let step):
      prepared(step, result, on: link)
    case .abandoned:
      break
    }
    advancePreparation(of: link, at: now)
  }

  /// Fails a request that was not sent to the host.
  private mutating func fail(_ operation: Operation, _ error: SessionError, on link: Int, at now: Instant) {
    let peer = links[link].peer
    switch operation {
    case .read(let session, let attribute): deliver(.valueRead(peer, attribute, .failure(error)), to: session)
    case .write(let session, let attribute): deliver(.written(peer, attribute, error), to: session)
    case .writeWithoutResponse(_, let credits): _ = credits.put()
    case .discovery(let procedure): discovered(procedure, .failure(.invalidResponse), on: link, at: now)
    case .configuration(let characteristic): configured(characteristic, error, on: link, at: now)
    case .preparation: links[link].preparation.ended()
    case .abandoned: break
    }
  }

  mutating func rssiRead(_ result: Result<Int8, HostError>, on link: Int) {
    let readers = links[link].rssiReaders
    links[link].rssiReaders.removeAll(keepingCapacity: true)
    let answer = result.mapError { SessionError($0) }
    for session in readers { deliver(.rssiRead(links[link].peer, answer), to: session) }
  }

  // MARK: End of requests

  /// Removes all requests on a link that has ended. No session gets an answer, but credits come back.
  mutating func endOperations(on connection: HCI.ConnectionHandle) {
    operations.removeAll(on: connection) { $0.returnCredit() }
  }

  /// Abandons a session's requests to `peer`: no session gets their results.
  mutating func abandonOperations(of session: CentralSessionID, on peer: PeerHandle) {
    guard let link = linkIndex(of: peer) else { return }
    links[link].discovery.remove(session)
    links[link].rssiReaders.removeAll { $0 == session }
    links[link].channels.opening.removeAll { $0.session == session }
    var abandoned = 0
    operations.abandon(of: session, on: links[link].link.handle) { operation in
      operation.returnCredit()
      abandoned += 1
    }
    links[link].openRequests -= abandoned
  }
}

extension LinkState {
  fileprivate mutating func noteUse(by operation: Operation, at now: Instant) {
    switch operation {
    case .preparation: return
    case .discovery(let procedure): if preparation.awaits(procedure) { return }
    default: break
    }
    preparation.linkWasUsed(at: now)
  }
}

extension Operation {
  /// True if an app waits for the operation, so that background discovery steps back.
  var isApps: Bool {
    switch self {
    case .read, .write, .writeWithoutResponse: true
    case .discovery, .configuration, .preparation, .abandoned: false
    }
  }

  func returnCredit() {
    if case .writeWithoutResponse(_, let credits) = self { _ = credits.put() }
  }
}

extension Result where Success == GATTResponse, Failure == GATTError {
  fileprivate var value: Result<ByteSlice, SessionError> {
    switch self {
    case .success(.value(let value)): .success(value)
    case .success: .failure(.invalidResponse)
    case .failure(let error): .failure(SessionError(error))
    }
  }

  var error: SessionError? {
    if case .failure(let error) = self { SessionError(error) } else { nil }
  }
}

extension SessionError {
  init(_ error: HostError) {
    switch error {
    case .controller(let code): self = .link(code)
    case .commandTimeout: self = .timeout
    case .notConnected: self = .link(.unknownConnectionIdentifier)
    case .outOfSpace: self = .outOfSpace
    }
  }
}
