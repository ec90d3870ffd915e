import BluetoothWire

/// The client of one ATT bearer, which runs the GATT procedures one after the other · Vol 3, Part G, 4. Its requesters
/// take turns.
struct GATTClient {
  /// The originator of a procedure.
  enum Owner {
    case above(GATTToken, GATTPriority)
    /// The MTU exchange.
    case link
    /// The client's cache validation.
    case watch
  }

  /// The state of the procedure that occupies the bearer.
  private enum Activity {
    case idle
    case running(Owner, GATTProcedure)
    /// The handles of the procedure may refer to other attributes after a change of the database. The procedure ends
    /// after the response to the request in progress.
    case stale(Owner, GATTProcedure)
  }

  /// The protection against an impostor on a link to a server for which there is a key.
  enum Protection {
    /// There is no key, or the link is encrypted: requests are sent.
    case none
    /// The peer could be an impostor. The client sends no requests and trusts no values until the link is encrypted.
    case guarded
    /// As in `guarded`; the host is already encrypting the link.
    case beingEncrypted
    /// As in `guarded`; the client has requested encryption for the requests in `queue`.
    case encryptionRequested
  }

  private var transaction = ATTTransaction()
  private var activity = Activity.idle
  /// The last request of the upper layer, valid while the request is in progress.
  private(set) var request: GATTRequest?
  /// The request that waits for a higher security level; it blocks all later requests.
  var held: HeldRequest?
  private(set) var queue = GATTRequestQueue()
  var protection = Protection.none
  private var confirmations = 0
  /// The discovery in progress.
  var discovery: DiscoveryProcedure?
  /// The beginning of a long value that is being read.
  var longValue: [UInt8] = []
  /// The values that are written with prepared writes.
  var writes: [GATTWritePart] = []
  /// The handles of the last Read Multiple or Read Multiple Variable Request.
  var handles: [AttributeHandle] = []
  /// The ATT_MTU at the time when the request in progress was sent.
  private(set) var requestMTU = ATT.defaultMTU
  var watch = DatabaseCacheValidator()
  /// The times for background requests and for the steps of `watch` that can wait.
  private var schedule = BackgroundSchedule()
  var signatureMaker: Signer?

  /// The maximum number of queued confirmations. A server that sends indications without waiting for confirmations
  /// gets no more than these.
  private static let maximumConfirmations = 16

  /// The time limit for the response to the request in progress.
  ///
  /// Read-only. Declared `mutating` so that it is read in place: copying the whole client crashes the optimizer of
  /// Swift 6.3.1.
  var transactionDeadline: Instant? { mutating get { transaction.deadline } }

  var deadline: Instant? {
    let turn = schedule.turnDeadline
    guard case .idle = activity else { return earliest(transaction.deadline, turn) }
    guard held == nil, protection == .none, watch.isWaiting else { return turn }
    return earliest(schedule.validationDeadline, turn)
  }

  private var isIdle: Bool {
    if case .idle = activity { true } else { false }
  }

  /// The procedure in progress.
  private var running: (owner: Owner, procedure: GATTProcedure)? {
    switch activity {
    case .idle: nil
    case .running(let owner, let procedure), .stale(let owner, let procedure): (owner, procedure)
    }
  }

  // MARK: Requests

  /// Starts Exchange MTU · Vol 3, Part G, 4.3.1.
  mutating func exchangeMTU(_ context: inout GATTContext) {
    guard isIdle else { return }
    activity = .running(.link, .exchangeMTU)
    transaction.begin(.exchangeMTURequest(clientReceiveMTU: UInt16(context.maximumMTU)))
  }

  mutating func request(
    _ request: GATTRequest, token: GATTToken, priority: GATTPriority, of requester: GATTRequester, at now: Instant,
    context: inout GATTContext
  ) {
    if let reason = context.closed {
      context.events.append(.completed(token, .failure(reason)))
      return
    }
    schedule.requestBegan(priority, at: now)
    if isIdle, held == nil, queue.isEmpty, !mustWait(request), protection == .none {
      queue.began(requester)
      start(request, token: token, priority, at: now, &context)
    } else {
      queue.append(GATTRequestQueue.Entry(token: token, request: request, priority: priority), of: requester)
    }
    startNext(at: now, &context)
  }

  /// Returns true if the request is a discovery and the Database Hash must be read first, because the cache may
  /// answer it.
  private func mustWait(_ request: GATTRequest) -> Bool { watch.comesFirst && request.discovery != nil }

  mutating func timeReached(_ now: Instant, context: inout GATTContext) {
    startNext(at: now, &context)
    offerTurn(at: now, &context)
  }

  /// Starts queued requests until one is in progress. The client's own tasks come last, except that the Database Hash
  /// is read before a discovery that the cache may answer.
  mutating func startNext(at now: Instant, _ context: inout GATTContext) {
    while isIdle, held == nil {
      if protection != .none, !mayPass {
        wantEncryption(&context)
        return
      }
      if !queue.isEmpty {
        if watch.comesFirst, let next = queue.first, mustWait(next.request) {
          follow(begin(watch.firstTask()), owner: .watch, at: now, &context)
          continue
        }
        let next = queue.removeFirst()
        start(next.request, token: next.token, next.priority, at: now, &context)
      } else if let task = watch.nextTask(&schedule, at: now) {
        let step: GATTProcedure.Step
        if case .request(let request) = task {
          step = begin(request, owner: .watch, context)
        } else {
          step = begin(task)
        }
        follow(step, owner: .watch, at: now, &context)
      } else {
        return
      }
    }
  }

  /// Starts a procedure for the upper layer.
  mutating func start(
    _ request: GATTRequest, token: GATTToken, _ priority: GATTPriority, at now: Instant,
    _ context: inout GATTContext
  ) {
    // A server never rejects a Write Command, so the request need not be kept.
    if case .writeWithoutResponse = request {
    } else {
      self.request = request
      if case .signedWriteWithoutResponse = request { context.events.append(.signatureMade) }
    }
    let owner = Owner.above(token, priority)
    follow(begin(request, owner: owner, context), owner: owner, at: now, &context)
  }

  /// Sends the next request or reports the result.
  private mutating func follow(
    _ step: consuming GATTProcedure.Step, owner: Owner, at now: Instant, _ context: inout GATTContext
  ) {
    switch consume step {
    case .request(let pdu, let procedure):
      activity = .running(owner, procedure)
      transaction.begin(pdu)
    case .done(let response): finish(owner, .success(response), at: now, &context)
    case .failed(let error): finish(owner, .failure(error), at: now, &context)
    }
  }

  private mutating func finish(
    _ owner: Owner, _ result: Result<GATTResponse, GATTError>, at now: Instant, _ context: inout GATTContext
  ) {
    activity = .idle
    var ended: DiscoveryProcedure.Goal?
    if discovery != nil {
      ended = discovery?.goal
      discovery = nil
    }
    if !writes.isEmpty { writes = [] }
    switch owner {
    case .above(let token, let priority):
      if case .failure(.att(let code)) = result, hold(token, priority, after: code, &context) { return }
      if case .success(let response) = result { learn(response, from: ended, at: now, &context) }
      complete(token, priority, result, hasRun: true, at: now, &context)
    case .watch:
      if case .changed(let range, let services) = watch.advance(result) {
        tellChange(range, services, at: now, &context)
      }
    case .link: break
    }
  }

  /// Reports the result of a request.
  mutating func complete(
    _ token: GATTToken, _ priority: GATTPriority, _ result: Result<GATTResponse, GATTError>, hasRun: Bool,
    at now: Instant, _ context: inout GATTContext
  ) {
    context.events.append(.completed(token, result))
    schedule.requestEnded(priority, hasRun: hasRun, at: now)
    offerTurn(at: now, &context)
  }

  /// Passes the result of a discovery by the upper layer to the cache validation.
  private mutating func learn(
    _ response: GATTResponse, from discovery: DiscoveryProcedure.Goal?, at now: Instant, _ context: inout GATTContext
  ) {
    if let discovery, discovery.uuid == nil,
      case .changed(let range, let services) = watch.learned(response, from: discovery.target)
    {
      tellChange(range, services, at: now, &context)
    }
    if case .services(let services) = response {
      watch.discovered(services, isComplete: discovery.map { $0.uuid == nil } ?? false)
    }
  }

  /// Fails all queued requests.
  mutating func failAll(with error: GATTError, at now: Instant, _ context: inout GATTContext) {
    while !queue.isEmpty {
      let next = queue.removeFirst()
      complete(next.token, next.priority, .failure(error), hasRun: false, at: now, &context)
    }
  }

  /// Fails all requests after the bearer has been closed.
  mutating func close(_ reason: GATTError, at now: Instant, _ context: inout GATTContext) {
    transaction.cancel()
    confirmations = 0
    if var owner = running?.owner {
      // A request without a response says nothing about the database.
      if case .watch = owner { owner = .link }
      finish(owner, .failure(reason), at: now, &context)
    }
    release(with: reason, at: now, &context)
    failAll(with: reason, at: now, &context)
  }

  // MARK: Background requests

  /// Requests one turn for a background request.
  mutating func awaitTurn(at now: Instant, _ context: inout GATTContext) {
    schedule.awaitTurn()
    offerTurn(at: now, &context)
  }

  /// Restarts the quiet time before background requests.
  mutating func noteUse(at now: Instant) { schedule.noteUse(at: now) }

  /// Reports the turn for a background request if it is due.
  @inline(__always)
  private mutating func offerTurn(at now: Instant, _ context: inout GATTContext) {
    if schedule.takeTurn(at: now), context.closed == nil { context.events.append(.backgroundTurn) }
  }

  /// Changes the priority of requests that have not ended.
  mutating func setPriority(_ priority: GATTPriority, of tokens: Set<GATTToken>) {
    switch activity {
    case .running(.above(let token, let old), let procedure) where tokens.contains(token):
      schedule.priorityChanged(from: old, to: priority)
      activity = .running(.above(token, priority), procedure)
    case .stale(.above(let token, let old), let procedure) where tokens.contains(token):
      schedule.priorityChanged(from: old, to: priority)
      activity = .stale(.above(token, priority), procedure)
    default: break
    }
    if let old = held, tokens.contains(old.token) {
      schedule.priorityChanged(from: old.priority, to: priority)
      held?.priority = priority
    }
    for old in queue.setPriority(priority, of: tokens) { schedule.priorityChanged(from: old, to: priority) }
  }

  // MARK: Requesters

  /// Lets another requester wait for a request, too.
  mutating func share(_ token: GATTToken, with requester: GATTRequester) { queue.share(token, with: requester) }

  /// Drops the requests among `tokens` that have not begun. Returns their tokens; no event follows for them.
  mutating func drop(
    _ tokens: Set<GATTToken>, at now: Instant, _ context: inout GATTContext
  ) -> [GATTToken] {
    let dropped = queue.removeAll { tokens.contains($0.token) }
    for request in dropped { schedule.requestEnded(request.priority, hasRun: false, at: now) }
    if !dropped.isEmpty { offerTurn(at: now, &context) }
    return dropped.map(\.token)
  }

  // MARK: PDUs

  /// True if `takePDU` has a PDU.
  @inline(__always)
  var hasOutput: Bool { transaction.isReady || confirmations > 0 }

  /// Removes and returns the next PDU; confirmations of indications come first.
  mutating func takePDU(at now: Instant, context: inout GATTContext) -> ATT.PDU? {
    if confirmations > 0 {
      confirmations -= 1
      return .handleValueConfirmation
    }
    guard let pdu = transaction.take(at: now) else { return nil }
    requestMTU = context.mtu
    if case .running(let owner, .writeWithoutResponse) = activity {
      finish(owner, .success(.done), at: now, &context)
      startNext(at: now, &context)
    }
    return pdu
  }

  mutating func receiveResponse(
    _ opcode: ATT.Opcode, _ octets: ByteSlice, at now: Instant, context: inout GATTContext
  ) {
    guard let (owner, procedure) = running else { return }
    var step: GATTProcedure.Step
    switch transaction.receive(opcode, octets) {
    case .unsolicited: return
    case .malformed:
      if case .prepareWrite = procedure {
        step = cancelWrite(.invalidResponse)
      } else {
        step = .failed(.invalidResponse)
      }
    case .refused(let code):
      noteRefusal(code, of: procedure, owner, at: now, &context)
      step = refused(procedure, code, context)
    case .response(let pdu): step = advance(procedure, with: pdu, &context)
    }
    if discovery?.isStale == true {
      step = discovery?.restart(context.pool) ?? step
    } else if case .stale = activity {
      step = stopped(step, after: procedure)
    }
    follow(step, owner: owner, at: now, &context)
    startNext(at: now, &context)
  }

  /// Handles notifications and indications; every indication is confirmed · Vol 3, Part F, 3.4.7.
  ///
  /// The client also accepts Multiple Handle Value Notifications, although it does not announce support for them: their
  /// meaning is unambiguous.
  mutating func receiveValue(_ octets: ByteSlice, at now: Instant, context: inout GATTContext) {
    if protection != .none {
      // The server is not authenticated, so its values are ignored. Indications are still confirmed.
      if octets[0] == ATT.Opcode.handleValueIndication.rawValue { confirm() }
      return
    }
    switch try? ATT.PDU.decode(octets) {
    case .handleValueNotification(let handle, let value):
      context.events.append(.valueReceived(handle, value))
    case .multipleHandleValueNotification(let list):
      for element in list { context.events.append(.valueReceived(element.handle, element.value)) }
    case .handleValueIndication(let handle, let value):
      confirm()
      if handle == watch.serviceChanged {
        guard let range = DatabaseCacheValidator.range(value) else { break }
        databaseChanged(range, at: now, &context)
        startNext(at: now, &context)
      } else {
        context.events.append(.valueReceived(handle, value))
      }
    default: break
    }
  }

  private mutating func confirm() { confirmations = min(confirmations + 1, Self.maximumConfirmations) }

  // MARK: Database changes

  /// Updates the cache validation after an error that indicates a change of the database.
  private mutating func noteRefusal(
    _ code: ATT.ErrorCode, of procedure: GATTProcedure, _ owner: Owner, at now: Instant, _ context: inout GATTContext
  ) {
    switch code {
    case .databaseOutOfSync:
      // A server answers a read of the hash in any state · Vol 3, Part G, 2.5.2.1.
      if case .watch = owner, case .readByType = procedure { break }
      databaseChanged(1...AttributeHandle.max, at: now, &context)
    case .invalidHandle: watch.handleWasUnknown()
    default: break
    }
  }

  /// Handles the server's message that its attributes in `range` have changed · Vol 3, Part G, 2.5.2, 7.1.
  private mutating func databaseChanged(
    _ range: ClosedRange<AttributeHandle>, at now: Instant, _ context: inout GATTContext
  ) {
    let services = watch.changed(range)
    discovery?.databaseChanged(range)
    tellChange(range, services, at: now, &context)
  }

  /// Reports a change of the database, and fails the queued requests whose handles may refer to other attributes now.
  private mutating func tellChange(
    _ range: ClosedRange<AttributeHandle>, _ services: [ClosedRange<AttributeHandle>], at now: Instant,
    _ context: inout GATTContext
  ) {
    context.events.append(.servicesChanged(range, services: services))
    stopCurrent(range, at: now, &context)
    if held?.request.names(range) == true { release(with: .att(.databaseOutOfSync), at: now, &context) }
    for stale in queue.removeAll(where: { $0.request.names(range) }) {
      complete(stale.token, stale.priority, .failure(.att(.databaseOutOfSync)), hasRun: false, at: now, &context)
    }
  }

  /// Ends the current procedure after the request in progress if its handles may refer to other attributes now.
  private mutating func stopCurrent(
    _ range: ClosedRange<AttributeHandle>, at now: Instant, _ context: inout GATTContext
  ) {
    guard let (owner, procedure) = running, names(range, procedure) else { return }
    guard transaction.isReady else {
      activity = .stale(owner, procedure)
      return
    }
    switch procedure {
    case .prepareWrite(let part, let octets) where part > 0 || octets.lowerBound > 0:
      follow(cancelWrite(.att(.databaseOutOfSync)), owner: owner, at: now, &context)
    case .executeWrite: follow(cancelWrite(.att(.databaseOutOfSync)), owner: owner, at: now, &context)
    default:
      transaction.cancel()
      finish(owner, .failure(.att(.databaseOutOfSync)), at: now, &context)
    }
  }

  /// Returns the step that replaces `step` after the response to a stale request: the procedure sends no more requests
  /// with the same handles, and a value is not assembled from parts of two attributes.
  private func stopped(_ step: GATTProcedure.Step, after procedure: GATTProcedure) -> GATTProcedure.Step {
    switch (procedure, step) {
    case (.prepareWrite, .request): return cancelWrite(.att(.databaseOutOfSync))
    case (.readRest, .done), (_, .request): return .failed(.att(.databaseOutOfSync))
    default: return step
    }
  }

  /// Notes that the link is now encrypted with the key of a bond. `cache` is from an earlier link with the same bond.
  mutating func becameBonded(_ cache: GATTCache?, at now: Instant, _ context: inout GATTContext) {
    watch.becameBonded(cache)
    startNext(at: now, &context)
  }

  /// Begins a discovery. Returns the result if the cache is known to be valid; nil: the discovery needs requests.
  mutating func discover(_ target: GATTDiscovery, only uuid: BluetoothUUID?, for owner: Owner) -> GATTResponse? {
    if case .above = owner, let response = watch.answer(target, only: uuid) { return response }
    discovery = DiscoveryProcedure(DiscoveryProcedure.Goal(target: target, uuid: uuid))
    return nil
  }
}
