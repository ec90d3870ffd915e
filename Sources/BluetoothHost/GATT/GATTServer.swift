// Design: the GATT server
//
// One database serves all links. Attributes are stored by handle, and a handle is assigned to another attribute only
// when no other handles are left. The values that clients write stay where they were received. The state of one client
// (its configuration, what it has said of itself, and what it knows of the database) is in its bearer, and leaves it as
// one value, `GATTClientRecord`. The host keeps the records of bonded clients by identity address, and gives each link
// of that identity a copy. It accepts a new record only from a link that was encrypted with the key of the bond,
// because an address proves nothing.
//
// The protection of a link is a value too (`HostLinkSecurity`). An attribute has a security requirement for each
// direction, which every access path to its value checks. A subscription stores the requirement of its value, which is
// checked again when a value is sent. Without encryption the answer is 0x0F if there is a key, and 0x05 if there is
// none.
//
// A client with Robust Caching that is change-unaware gets no values. Values wait while Service Changed is on its way
// to the client. If the client has not subscribed to Service Changed, values are dropped, so that no layer above waits
// for a client that sends no requests. Service Changed goes before all values, and covers all changes that happened
// while it waited.

import BluetoothWire
import DequeModule

/// The server of one ATT bearer. It answers the requests of one client from the database that all links share, and
/// sends the client the values to which it has subscribed · Vol 3, Part F, 3.3.1; Vol 3, Part G, 4.
struct GATTServer {
  /// The reason for an error response to a request · Vol 3, Part F, 3.4.1.1.
  struct Refusal: Error {
    var handle: AttributeHandle = 0
    var code: ATT.ErrorCode
  }

  /// The state restored from a client's record.
  struct Inheritance {
    /// The value handles of the restored subscriptions.
    var subscriptions: [AttributeHandle] = []
    /// The value handles of those that have not been reported yet: they need a secure link.
    var unreported: [AttributeHandle] = []
    var features: GATTClientFeatures = []
  }

  /// A request that waits for an answer of the upper layer.
  struct Pending {
    enum Kind {
      case read, readBlob, readByType
      case readMultiple(ReadMultiple)
      case write
      case executeWrite
    }

    let request: GATTServerRequest
    let opcode: UInt8
    let handle: AttributeHandle
    var kind: Kind
  }

  /// A response with its position in the sequence of responses and updates.
  struct Response {
    let order: UInt64
    let pdu: ATT.PDU
  }

  var pending: Pending?
  /// The request that arrived while another request was pending.
  private var waiting: ByteSlice?
  private var responses: Deque<Response> = []
  private var exchangedMTU: UInt16?
  /// The prepared writes that wait for Execute Write · Vol 3, Part F, 3.4.6.
  var prepared: [GATTWritePart] = []
  var subscriptions = GATTSubscriptions()
  var features: GATTClientFeatures = []
  /// The subscriptions and features that were restored from an earlier link and that the client has not written on this
  /// link.
  var inherited: Inheritance?
  var awareness = GATTChangeAwareness()
  var updates = GATTUpdateQueue()
  /// The verifier of the client's Signed Write Commands; nil: there is no key, and the server ignores these commands.
  var signatureVerifier: SignatureVerifier?
  private var lastRequest: UInt32 = 0
  private var lastOrder: UInt64 = 0

  /// The maximum number of unanswered requests. The specification permits one · Vol 3, Part F, 3.3.2. A second one is
  /// answered after the first, because some clients violate the rule; a third one closes the bearer.
  private static let maximumOutstanding = 2

  var deadline: Instant? { updates.deadline }

  // MARK: Requests

  /// Processes a request, a command, or a PDU with an unknown opcode.
  mutating func receive(_ octets: ByteSlice, database: inout GATTDatabase, context: inout GATTContext) {
    let opcode = octets[0]
    if ATT.Opcode.isCommand(opcode) {
      if octets.count <= context.mtu { receiveCommand(octets, database: &database, context: &context) }
      return
    }
    let outstanding = (pending == nil ? 0 : 1) + (waiting == nil ? 0 : 1) + responses.count
    guard outstanding < Self.maximumOutstanding else {
      context.closed = .invalidResponse
      return
    }
    if pending == nil {
      process(octets, database: &database, context: &context)
    } else {
      waiting = octets
    }
  }

  private mutating func process(_ octets: ByteSlice, database: inout GATTDatabase, context: inout GATTContext) {
    let opcode = octets[0]
    do throws(Refusal) {
      guard ATT.Opcode(rawValue: opcode) != nil else { throw Refusal(code: .requestNotSupported) }
      guard octets.count <= context.mtu, let request = try? ATT.PDU.decode(octets) else {
        throw Refusal(code: .invalidPDU)
      }
      guard awareness.admits(request, isRobust: features.contains(.robustCaching)) else {
        throw Refusal(handle: request.firstHandle, code: .databaseOutOfSync)
      }
      if let response = try answer(request, database: &database, context: &context) { send(response) }
    } catch {
      send(.errorResponse(request: opcode, handle: error.handle, code: error.code))
    }
  }

  /// Returns the response to a request; nil: the response waits for the upper layer.
  private mutating func answer(
    _ request: ATT.PDU, database: inout GATTDatabase, context: inout GATTContext
  ) throws(Refusal) -> ATT.PDU? {
    switch request {
    case .exchangeMTURequest(let mtu): return try exchangeMTU(mtu, context)
    case .findInformationRequest(let start, let end):
      return try findInformation(start, end, database, context)
    case .findByTypeValueRequest(let start, let end, let type, let value):
      return try findByTypeValue(start, end, BluetoothUUID(type), value, database, context)
    case .readByGroupTypeRequest(let start, let end, let type):
      return try readByGroupType(start, end, type, database, context)
    case .readByTypeRequest(let start, let end, let type):
      return try readByType(start, end, type, &database, &context)
    case .readRequest(let handle): return try read(handle, &database, &context)
    case .readBlobRequest(let handle, let offset): return try readBlob(handle, Int(offset), &database, &context)
    case .readMultipleRequest(let handles):
      return try readMultiple(ReadMultiple(handles: handles, hasLengths: false), &database, &context)
    case .readMultipleVariableRequest(let handles):
      return try readMultiple(ReadMultiple(handles: handles, hasLengths: true), &database, &context)
    case .writeRequest(let handle, let value): return try write(handle, value, &database, &context)
    case .prepareWriteRequest(let handle, let offset, let value):
      return try prepareWrite(GATTWritePart(handle: handle, offset: Int(offset), value: value), database, context)
    case .executeWriteRequest(let flags): return try executeWrite(flags, &database, &context)
    default: throw Refusal(code: .requestNotSupported)
    }
  }

  /// Processes Exchange MTU, which is permitted once on a bearer · Vol 3, Part F, 3.4.2. The new size applies once
  /// the response has been sent.
  private mutating func exchangeMTU(_ mtu: UInt16, _ context: GATTContext) throws(Refusal) -> ATT.PDU {
    guard exchangedMTU == nil else { throw Refusal(code: .requestNotSupported) }
    exchangedMTU = mtu
    return .exchangeMTUResponse(serverReceiveMTU: UInt16(context.maximumMTU))
  }

  // MARK: Answers of the upper layer

  /// Asks the upper layer for an attribute's value, starting at `offset`.
  mutating func ask(
    _ kind: Pending.Kind, _ opcode: ATT.Opcode, _ handle: AttributeHandle, offset: Int, _ context: inout GATTContext
  ) {
    let request = makePending(kind, opcode, handle)
    context.events.append(.readRequested(request, handle, offset: offset))
  }

  mutating func makePending(
    _ kind: Pending.Kind, _ opcode: ATT.Opcode, _ handle: AttributeHandle
  ) -> GATTServerRequest {
    lastRequest &+= 1
    let request = GATTServerRequest(number: lastRequest)
    pending = Pending(request: request, opcode: opcode.rawValue, handle: handle, kind: kind)
    return request
  }

  mutating func respond(
    to request: GATTServerRequest, with result: Result<ByteSlice, ATT.ErrorCode>, database: inout GATTDatabase,
    context: inout GATTContext
  ) {
    guard let answered = pending, answered.request == request else { return }
    pending = nil
    do throws(Refusal) {
      if let response = try finish(answered, with: result, database: &database, context: &context) { send(response) }
    } catch {
      send(.errorResponse(request: answered.opcode, handle: error.handle, code: error.code))
    }
    if pending == nil, let next = waiting {
      waiting = nil
      process(next, database: &database, context: &context)
    }
  }

  private mutating func finish(
    _ answered: Pending, with result: Result<ByteSlice, ATT.ErrorCode>, database: inout GATTDatabase,
    context: inout GATTContext
  ) throws(Refusal) -> ATT.PDU? {
    let value: ByteSlice
    switch result {
    case .success(let given): value = given
    case .failure(let code):
      if case .executeWrite = answered.kind { prepared.removeAll(keepingCapacity: true) }
      throw Refusal(handle: answered.handle, code: code)
    }
    switch answered.kind {
    case .read: return .readResponse(value: value.prefix(context.mtu - 1))
    case .readBlob: return .readBlobResponse(value: value.prefix(context.mtu - 1))
    case .readByType: return readByTypeResponse(answered.handle, value, context)
    case .readMultiple(var state):
      state.append(value)
      return try readMultiple(state, &database, &context)
    case .write: return .writeResponse
    case .executeWrite:
      applyPrepared(&database, &context)
      return .executeWriteResponse
    }
  }

  // MARK: Output

  /// Returns the next number in the sequence of responses and updates.
  mutating func nextOrder() -> UInt64 {
    lastOrder += 1
    return lastOrder
  }

  private mutating func send(_ response: ATT.PDU) {
    responses.append(Response(order: nextOrder(), pdu: response))
  }

  /// True if a response or an update is queued, including updates that must wait for a confirmation.
  @inline(__always)
  var hasOutput: Bool { !responses.isEmpty || !updates.isEmpty }

  /// Removes and returns the next PDU in the order of creation. An indication that must wait delays the later updates
  /// but no response.
  mutating func takePDU(at now: Instant, context: inout GATTContext) -> ATT.PDU? {
    if let response = responses.first {
      if let update = updates.nextOrder, update < response.order,
        let pdu = takeUpdate(at: now, &context)
      {
        return pdu
      }
      responses.removeFirst()
      if case .exchangeMTUResponse = response.pdu, let mtu = exchangedMTU { context.agreeMTU(with: mtu) }
      return response.pdu
    }
    return takeUpdate(at: now, &context)
  }

  private mutating func takeUpdate(at now: Instant, _ context: inout GATTContext) -> ATT.PDU? {
    updates.take(
      subscriptions, isHeldBack: !awareness.isAware && features.contains(.robustCaching), at: now, context: &context)
  }
}

extension ATT.PDU {
  /// The handle of a request, or the first handle of its range; 0: it has none.
  fileprivate var firstHandle: ATT.Handle {
    switch self {
    case .readRequest(let handle), .readBlobRequest(let handle, _), .writeRequest(let handle, _),
      .prepareWriteRequest(let handle, _, _), .readByTypeRequest(let handle, _, _):
      return handle
    case .readMultipleRequest(let handles), .readMultipleVariableRequest(let handles): return handles.first ?? 0
    default: return 0
    }
  }
}
