import BluetoothWire
import DequeModule

/// The client side of one ATT bearer: runs the procedures of GATT one after the other · Vol 3, Part G, 4.
struct GATTClient {
  /// For whom a procedure runs.
  enum Owner {
    case above(GATTToken)
    /// The MTU exchange.
    case link
    /// The client's own watch over the database.
    case watch
  }

  /// Where the current procedure stands: what the request on its way is for.
  enum Procedure {
    case exchangeMTU
    case discoverPrimaryServices
    case discoverPrimaryService(BluetoothUUID)
    case findIncludedServices(in: ClosedRange<AttributeHandle>)
    /// Reads the declaration of an included service whose UUID the include declaration does not hold.
    case readIncludedService(Int)
    case discoverCharacteristics(in: ClosedRange<AttributeHandle>)
    case discoverDescriptors(in: ClosedRange<AttributeHandle>)
    case read(AttributeHandle)
    case readRest(AttributeHandle)
    case readByType(in: ClosedRange<AttributeHandle>)
    case readMultiple
    case write(AttributeHandle)
    /// These octets of the value with this place in `writes`.
    case prepareWrite(Int, Range<Int>)
    case executeWrite
    /// The prepared parts are given up because of this.
    case cancelWrite(GATTError)
    case writeWithoutResponse(AttributeHandle)
  }

  /// How a procedure goes on.
  enum Step {
    case request(ATT.PDU, Procedure)
    case done(GATTResponse)
    case failed(GATTError)
  }

  /// What a discovery has found so far.
  struct Findings {
    var services: [GATTService] = []
    var includes: [GATTInclude] = []
    /// Those of `includes` whose UUID is to be read.
    var unresolved: [Int] = []
    var characteristics: [GATTCharacteristic] = []
    var descriptors: [GATTDescriptor] = []
  }

  /// What the discovery that is under way looks for.
  struct Discovery {
    let target: GATTDiscovery
    /// nil: all that there is.
    let uuid: BluetoothUUID?
    /// The database has changed meanwhile where it looks.
    var isStale = false
    var restarts = 0
  }

  private var transaction = ATTTransaction()
  private var current: (owner: Owner, procedure: Procedure)?
  /// What those above have asked for last; of use while it is under way.
  private(set) var request: GATTRequest?
  /// What waits for a better protected link, and holds back all that follows.
  var held: HeldRequest?
  private(set) var queue: Deque<(token: GATTToken, request: GATTRequest)> = []
  /// There is a key for the server, and the link does not use it: anybody could be there. Nothing is asked and nothing
  /// believed before it is encrypted.
  var isGuarded = false
  /// The host encrypts it by itself.
  var isBeingEncrypted = false
  /// Encryption was asked for, for what waits in `queue`.
  var hasAskedForEncryption = false
  private var confirmations = 0
  private(set) var discovery: Discovery?
  var found = Findings()
  /// A long value as far as it has been read.
  var longValue: [UInt8] = []
  /// What is prepared part by part.
  var writes: [GATTWritePart] = []
  /// What the Read Multiple Request that was made last names.
  var handles: [AttributeHandle] = []
  /// The ATT_MTU when the request on its way left.
  private(set) var requestMTU = ATT.defaultMTU
  /// What the current procedure names may have become other attributes meanwhile.
  private var isStale = false
  var watch = GATTDatabaseWatch()
  var signatureMaker: SignatureMaker?

  /// How often a discovery of the whole database is begun again because that has changed.
  private static let maximumRestarts = 3
  /// Confirmations that may wait for room on the link; a server that does not wait for them gets no more.
  private static let maximumConfirmations = 16

  /// When the request on its way has to be answered.
  ///
  /// It changes nothing: `mutating` has it looked at where it is. Of the copy of the whole client that would be made else, the
  /// optimizer of Swift 6.3.1 stops with an error.
  var transactionDeadline: Instant? { mutating get { transaction.deadline } }

  var deadline: Instant? {
    guard current == nil else { return transaction.deadline }
    return held == nil && !isGuarded ? watch.deadline : nil
  }

  // MARK: Requests

  /// Exchange MTU · Vol 3, Part G, 4.3.1.
  mutating func exchangeMTU(_ context: inout GATTContext) {
    guard current == nil else { return }
    current = (.link, .exchangeMTU)
    transaction.begin(.exchangeMTURequest(clientReceiveMTU: UInt16(context.maximumMTU)))
  }

  mutating func request(_ request: GATTRequest, token: GATTToken, at now: Instant, context: inout GATTContext) {
    if let reason = context.closed {
      context.events.append(.completed(token, .failure(reason)))
      return
    }
    watch.linkWasUsed(at: now)
    if current == nil, held == nil, queue.isEmpty, !mustWait(request), !isGuarded {
      start(request, token: token, at: now, &context)
    } else {
      queue.append((token, request))
    }
    startNext(at: now, &context)
  }

  /// Whether the hash of the database may spare this request.
  private func mustWait(_ request: GATTRequest) -> Bool { watch.comesFirst && request.discovery != nil }

  mutating func timeReached(_ now: Instant, context: inout GATTContext) { startNext(at: now, &context) }

  /// Begins what waits, until something is on its way. The client's own affairs come last; only the hash of the database
  /// comes before a discovery that it may spare.
  mutating func startNext(at now: Instant, _ context: inout GATTContext) {
    while current == nil, held == nil {
      if isGuarded, !mayPass {
        wantEncryption(&context)
        return
      }
      if !queue.isEmpty {
        if mustWait(queue[0].request) {
          follow(begin(watch.firstTask()), owner: .watch, at: now, &context)
          continue
        }
        let next = queue.removeFirst()
        start(next.request, token: next.token, at: now, &context)
      } else if let task = watch.nextTask(at: now) {
        let step: Step
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

  /// Begins a procedure for those above.
  mutating func start(
    _ request: GATTRequest, token: GATTToken, at now: Instant, _ context: inout GATTContext
  ) {
    // A server refuses no Write Command.
    if case .writeWithoutResponse = request {
    } else {
      self.request = request
      if case .signedWriteWithoutResponse = request { context.events.append(.signatureMade) }
    }
    follow(begin(request, owner: .above(token), context), owner: .above(token), at: now, &context)
  }

  /// Sends what comes next, or tells the result.
  private mutating func follow(
    _ step: consuming Step, owner: Owner, at now: Instant, _ context: inout GATTContext
  ) {
    switch consume step {
    case .request(let pdu, let procedure):
      current = (owner, procedure)
      transaction.begin(pdu)
    case .done(let response): finish(owner, .success(response), at: now, &context)
    case .failed(let error): finish(owner, .failure(error), at: now, &context)
    }
  }

  private mutating func finish(
    _ owner: Owner, _ result: Result<GATTResponse, GATTError>, at now: Instant, _ context: inout GATTContext
  ) {
    current = nil
    isStale = false
    let discovery = discovery
    if discovery != nil {
      self.discovery = nil
      found = Findings()
    }
    if !writes.isEmpty { writes = [] }
    switch owner {
    case .above(let token):
      if case .failure(.att(let code)) = result, hold(token, after: code, &context) { return }
      watch.linkWasUsed(at: now)
      watch.requestCompleted()
      if case .success(let response) = result { learn(response, from: discovery) }
      context.events.append(.completed(token, result))
    case .watch:
      if case .changed(let range) = watch.advance(result) { tellChange(range, at: now, &context) }
    case .link: break
    }
  }

  /// What those above are told is watched over from now on.
  private mutating func learn(_ response: GATTResponse, from discovery: Discovery?) {
    if let discovery, discovery.uuid == nil { watch.learned(response, from: discovery.target) }
    if case .services(let services) = response {
      watch.discovered(services, isComplete: discovery.map { $0.uuid == nil } ?? false)
    }
  }

  /// Nothing of what waits is asked for.
  mutating func failAll(with error: GATTError, _ context: inout GATTContext) {
    while let next = queue.popFirst() { context.events.append(.completed(next.token, .failure(error))) }
  }

  /// The bearer is closed: nothing that waits will be answered.
  mutating func close(_ reason: GATTError, at now: Instant, _ context: inout GATTContext) {
    transaction.cancel()
    confirmations = 0
    if let current {
      var owner = current.owner
      // What was not answered says nothing about the database.
      if case .watch = owner { owner = .link }
      finish(owner, .failure(reason), at: now, &context)
    }
    release(with: reason, &context)
    failAll(with: reason, &context)
  }

  // MARK: PDUs

  /// Whether `takePDU` has one.
  @inline(__always)
  var hasOutput: Bool { transaction.isReady || confirmations > 0 }

  /// The next PDU: what was indicated is confirmed first.
  mutating func takePDU(at now: Instant, context: inout GATTContext) -> ATT.PDU? {
    if confirmations > 0 {
      confirmations -= 1
      return .handleValueConfirmation
    }
    guard let pdu = transaction.take(at: now) else { return nil }
    requestMTU = context.mtu
    if let current, case .writeWithoutResponse = current.procedure {
      finish(current.owner, .success(.done), at: now, &context)
      startNext(at: now, &context)
    }
    return pdu
  }

  mutating func receiveResponse(
    _ opcode: ATT.Opcode, _ octets: ByteSlice, at now: Instant, context: inout GATTContext
  ) {
    guard let (owner, procedure) = current else { return }
    var step: Step
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
      step = beginAgain(context)
    } else if isStale {
      step = stopped(step, after: procedure)
    }
    follow(step, owner: owner, at: now, &context)
    startNext(at: now, &context)
  }

  /// Notifications and indications; an indication is confirmed in any case · Vol 3, Part F, 3.4.7.
  ///
  /// Several values in one notification are taken in, although this client does not claim that it can: a server that sends
  /// them unasked has nothing else to say with them.
  mutating func receiveValue(_ octets: ByteSlice, at now: Instant, context: inout GATTContext) {
    if isGuarded {
      // Nothing shows that it is the server that it was. An indication is confirmed all the same.
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
        guard let range = GATTDatabaseWatch.range(value) else { break }
        databaseChanged(range, at: now, &context)
        startNext(at: now, &context)
      } else {
        context.events.append(.valueReceived(handle, value))
      }
    default: break
    }
  }

  private mutating func confirm() { confirmations = min(confirmations + 1, Self.maximumConfirmations) }

  // MARK: Changes of the database

  /// What an error says about the database.
  private mutating func noteRefusal(
    _ code: ATT.ErrorCode, of procedure: Procedure, _ owner: Owner, at now: Instant, _ context: inout GATTContext
  ) {
    switch code {
    case .databaseOutOfSync:
      // A server answers a read of the hash in any case · Vol 3, Part G, 2.5.2.1.
      if case .watch = owner, case .readByType = procedure { break }
      databaseChanged(1...AttributeHandle.max, at: now, &context)
    case .invalidHandle: watch.handleWasUnknown()
    default: break
    }
  }

  /// The server has said that its attributes in `range` are not what they were · Vol 3, Part G, 2.5.2, 7.1.
  private mutating func databaseChanged(
    _ range: ClosedRange<AttributeHandle>, at now: Instant, _ context: inout GATTContext
  ) {
    watch.changed(range)
    if discovery?.target.looks(in: range) == true { discovery?.isStale = true }
    tellChange(range, at: now, &context)
  }

  /// Tells of a change; what waits and was asked for by handles that may be others' now is not sent any more.
  private mutating func tellChange(
    _ range: ClosedRange<AttributeHandle>, at now: Instant, _ context: inout GATTContext
  ) {
    context.events.append(.servicesChanged(range))
    stopCurrent(range, at: now, &context)
    if held?.request.names(range) == true { release(with: .att(.databaseOutOfSync), &context) }
    guard !queue.isEmpty else { return }
    var rest: Deque<(token: GATTToken, request: GATTRequest)> = []
    while let next = queue.popFirst() {
      if next.request.names(range) {
        context.events.append(.completed(next.token, .failure(.att(.databaseOutOfSync))))
      } else {
        rest.append(next)
      }
    }
    queue = rest
  }

  /// What has begun and names handles that may be others' now goes no further than the request on its way.
  private mutating func stopCurrent(
    _ range: ClosedRange<AttributeHandle>, at now: Instant, _ context: inout GATTContext
  ) {
    guard let (owner, procedure) = current, names(range, procedure) else { return }
    guard transaction.isReady else {
      isStale = true
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

  /// Instead of the step after the response to a stale request: nothing more is sent that names the same handles, and
  /// parts of two attributes are not one value.
  private func stopped(_ step: Step, after procedure: Procedure) -> Step {
    switch (procedure, step) {
    case (.prepareWrite, .request): return cancelWrite(.att(.databaseOutOfSync))
    case (.readRest, .done), (_, .request): return .failed(.att(.databaseOutOfSync))
    default: return step
    }
  }

  /// The link is encrypted with the key of a bond from now on; `cache` is from such a link too.
  mutating func becameBonded(_ cache: GATTCache?, at now: Instant, _ context: inout GATTContext) {
    watch.becameBonded(cache)
    startNext(at: now, &context)
  }

  /// A discovery during which the database has changed: of the whole database it is begun again; else what it looked at
  /// may be something else now.
  private mutating func beginAgain(_ context: GATTContext) -> Step {
    guard let discovery, case .primaryServices = discovery.target, discovery.restarts < Self.maximumRestarts else {
      return .failed(.att(.databaseOutOfSync))
    }
    found = Findings()
    self.discovery?.isStale = false
    self.discovery?.restarts += 1
    return discovery.uuid.map { discoverPrimaryService($0, from: 1, context) } ?? discoverPrimaryServices(from: 1)
  }

  /// Begins a discovery, unless its result is known for certain.
  mutating func discover(_ target: GATTDiscovery, only uuid: BluetoothUUID?, for owner: Owner) -> GATTResponse? {
    if case .above = owner, let response = watch.response(to: target, only: uuid) { return response }
    discovery = Discovery(target: target, uuid: uuid)
    return nil
  }
}
