import BluetoothHost
import BluetoothWire

/// The broker of requests to peers' GATT servers: it answers sessions from the host's database of each link, and routes
/// each result to the session that requested it.
struct GATTClientBroker {
  var operations = GATTOperationTable()

  /// Sends a request to the host.
  ///
  /// - Parameter requester: the session in whose turn the request is sent; nil: the system's.
  mutating func send(
    _ request: GATTRequest, for operation: GATTOperation, of requester: CentralSessionID?, on link: DaemonLinkIndex,
    at now: Instant, _ context: inout DaemonContext
  ) {
    let connection = context.links[link].link.handle
    guard let token = operations.add(operation, on: connection, at: now) else {
      fail(operation, .outOfSpace, on: link, at: now, &context)
      return
    }
    let priority = context.links[link].client.priority(of: operation)
    context.host.request(
      request, token: token, priority: priority, of: GATTRequester(requester), on: connection, at: now)
  }

  /// Lets a session that waits for a request of another one not wait for all earlier requests of that one.
  func share(
    _ token: GATTToken?, with requester: CentralSessionID?, on link: DaemonLinkIndex, _ context: inout DaemonContext
  ) {
    guard let token, let requester else { return }
    context.host.share(token, with: GATTRequester(requester), on: context.links[link].link.handle)
  }

  // MARK: Commands

  /// Reads an attribute's value.
  mutating func read(
    _ attribute: RemoteAttributeID, on link: SessionLink<CentralRole>, at now: Instant, _ context: inout DaemonContext
  ) {
    let operation = GATTOperation.read(link.session, attribute)
    send(.read(attribute.handle), for: operation, of: link.session, on: link.index, at: now, &context)
  }

  /// Writes an attribute's value with response.
  mutating func write(
    _ value: ByteSlice, to attribute: RemoteAttributeID, on link: SessionLink<CentralRole>, at now: Instant,
    _ context: inout DaemonContext
  ) {
    guard value.count <= ATT.maximumValueLength else {
      let peer = context.links[link.index].peer
      return context.deliver(.written(peer, attribute, .att(.invalidAttributeValueLength)), to: link.session)
    }
    let operation = GATTOperation.write(link.session, attribute)
    send(.write(attribute.handle, value), for: operation, of: link.session, on: link.index, at: now, &context)
  }

  /// Sends a write without response. The session's client has taken a credit for the write, which is returned when the
  /// write ends.
  mutating func writeWithoutResponse(
    _ value: ByteSlice, to attribute: RemoteAttributeID, isSigned: Bool, on link: SessionLink<CentralRole>,
    at now: Instant, _ context: inout DaemonContext
  ) {
    let (peer, session) = (context.links[link.index].peer, link.session)
    guard let user = context.peers[peer].userIndex(of: session) else { return }
    let credits = context.peers[peer].users[user].credits
    let request: GATTRequest =
      isSigned
      ? .signedWriteWithoutResponse(attribute.handle, value) : .writeWithoutResponse(attribute.handle, value)
    send(request, for: .writeWithoutResponse(session, credits), of: session, on: link.index, at: now, &context)
  }

  /// Reads the signal strength of a link.
  mutating func readRSSI(of link: SessionLink<CentralRole>, at now: Instant, _ context: inout DaemonContext) {
    // Requests made while the controller is reading get the same answer.
    guard context.links[link.index].client.awaitRSSI(link.session) else { return }
    context.host.readRSSI(context.links[link.index].link.handle, at: now)
  }

  // MARK: Host events

  /// Handles the completion of a request of the host, by its token.
  mutating func completed(
    _ token: GATTToken, _ result: Result<GATTResponse, GATTError>, on link: DaemonLinkIndex, at now: Instant,
    _ context: inout DaemonContext
  ) {
    guard let operation = operations.remove(token) else { return }
    // The daemon is ending the link with an error, such as a key that the peer has lost. As with a lost link, sessions
    // get no answer, only the error of the disconnection.
    guard context.links[link].end == nil else { return operation.returnCredit() }
    let peer = context.links[link].peer
    switch operation {
    case .read(let session, let attribute):
      context.deliver(.valueRead(peer, attribute, result.value), to: session)
    case .write(let session, let attribute):
      context.deliver(.written(peer, attribute, result.error), to: session)
    case .writeWithoutResponse(let session, let credits):
      if credits.put() { context.deliver(.readyToWriteWithoutResponse(peer), to: session) }
    case .discovery(let procedure):
      discovered(procedure, result, on: link, at: now, &context)
    case .configuration(let characteristic):
      configured(characteristic, result.error, on: link, at: now, &context)
    case .preparation(let step):
      prepared(step, result, on: link, at: now, &context)
    case .abandoned:
      break
    }
  }

  /// Fails a request that was not sent to the host.
  private mutating func fail(
    _ operation: GATTOperation, _ error: SessionError, on link: DaemonLinkIndex, at now: Instant,
    _ context: inout DaemonContext
  ) {
    let peer = context.links[link].peer
    switch operation {
    case .read(let session, let attribute): context.deliver(.valueRead(peer, attribute, .failure(error)), to: session)
    case .write(let session, let attribute): context.deliver(.written(peer, attribute, error), to: session)
    case .writeWithoutResponse(_, let credits): _ = credits.put()
    case .discovery(let procedure): discovered(procedure, .failure(.invalidResponse), on: link, at: now, &context)
    case .configuration(let characteristic): configured(characteristic, error, on: link, at: now, &context)
    case .preparation: endStep(on: link, at: now, &context)
    case .abandoned: break
    }
  }

  /// Reports the signal strength to the sessions that wait for it.
  mutating func rssiRead(_ result: Result<Int8, HostError>, on link: DaemonLinkIndex, _ context: inout DaemonContext) {
    let readers = context.links[link].client.takeRSSIReaders()
    let answer = result.mapError { SessionError($0) }
    for session in readers { context.deliver(.rssiRead(context.links[link].peer, answer), to: session) }
  }

  // MARK: End of requests

  /// Removes all requests on a link that has ended. No session gets an answer, but credits come back.
  mutating func endOperations(on connection: HCI.ConnectionHandle) {
    operations.removeAll(on: connection) { $0.returnCredit() }
  }

  /// Removes all requests. Their credits come back.
  mutating func dropAll() { operations.removeAll { $0.returnCredit() } }

  /// Abandons a session's requests to `peer`: no session gets their results. Reads, and writes with response, that have
  /// not begun are not sent.
  mutating func abandonOperations(
    of session: CentralSessionID, on peer: PeerHandle, at now: Instant, _ context: inout DaemonContext
  ) {
    guard let link = context.links.index(of: peer) else { return }
    context.links[link].client.abandonRequests(of: session)
    context.links[link].observed.requests.leave(.central(session))
    context.links[link].channels.forgetOpenings(of: session)
    let connection = context.links[link].link.handle
    let abandoned = operations.abandon(of: session, on: connection) { $0.returnCredit() }
    guard !abandoned.all.isEmpty else { return }
    for token in context.host.drop(abandoned.needless, on: connection, at: now) { _ = operations.remove(token) }
    // Background requests do not wait for the answers to abandoned ones.
    context.host.setPriority(.system, of: abandoned.all, on: connection)
  }
}

extension ClientLink {
  fileprivate func priority(of operation: GATTOperation) -> GATTPriority {
    switch operation {
    case .read, .write, .writeWithoutResponse: .app
    case .discovery(let procedure): preparation.awaits(procedure) ? .background : .system
    case .configuration, .abandoned: .system
    case .preparation: .background
    }
  }
}

extension GATTRequester {
  /// Creates the requester of a session; nil: the system.
  init(_ session: CentralSessionID?) { self = session.map { GATTRequester(number: $0.key.rawValue) } ?? .system }
}

extension GATTOperation {
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
    case .notSupported: self = .notSupported
    }
  }
}
