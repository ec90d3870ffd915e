import BluetoothWire
import DequeModule

/// The ATT bearer of one link with its GATT client and GATT server · Vol 3, Part F, 3.2.11; Vol 3, Part G.
///
/// After each call, the owner takes the events, and the PDUs as far as the link has room.
package struct GATTBearer {
  private let role: Link.Role
  /// The client, whose functions that need no `context` are called directly.
  var client = GATTClient()
  private var server = GATTServer()
  private var context: GATTContext
  /// True if the server sends next. Client and server take turns, so that endless commands or notifications cannot
  /// delay a response.
  private var isServersTurn = false

  /// Creates the bearer of a new link.
  ///
  /// - Parameter maximumMTU: The largest ATT_MTU of this side, limited to the range 23 to `ATT.maximumMTU`.
  package init(role: Link.Role, maximumMTU: Int, pool: PacketPool) {
    self.role = role
    context = GATTContext(maximumMTU: maximumMTU, pool: pool)
  }

  /// The next instant at which `timeReached` must be called; nil: none.
  package var deadline: Instant? { isClosed ? nil : earliest(client.deadline, server.deadline) }
  /// The ATT_MTU, 23 to `maximumMTU`.
  package var mtu: Int { context.mtu }
  /// True after a transaction has timed out or the peer has violated the sequence of requests and responses: the
  /// bearer neither sends nor receives, and the link must be disconnected · Vol 3, Part F, 3.3.3.
  package var isClosed: Bool { context.closed != nil }
  /// The security of the link, which determines the access to the database.
  package var security: HostLinkSecurity { context.security }
  /// The verifier of the peer's Signed Write Commands; nil: there is no key, and the server ignores these commands.
  package var signatureVerifier: SignatureVerifier? {
    get { server.signatureVerifier }
    set { server.signatureVerifier = newValue }
  }

  /// The signer of the client's Signed Write Commands; nil: the client cannot sign.
  package var signatureMaker: Signer? {
    get { client.signatureMaker }
    set { client.signatureMaker = newValue }
  }
  /// True if the client neither sends requests to a bonded server nor trusts its values before the link is encrypted.
  /// Set before the link has a key.
  var guardsBondedLink = true
  /// The known attributes of the server.
  var remoteDatabase: RemoteDatabase { client.watch.database }
  /// True if the server is known to have no Service Changed characteristic.
  var lacksServiceChanged: Bool { client.watch.lacksServiceChanged }
  /// The client's cache of the server's database, for the next link to the server.
  package var cache: GATTCache? { client.watch.cache }

  /// Offers the cache of the last link to the same server. The client answers discoveries from it if the server's
  /// Database Hash is unchanged.
  package mutating func offer(_ cache: GATTCache) { client.watch.offer(cache) }

  /// Notes that the link is now encrypted with the key of a bond. The client does not cache results that it received
  /// before.
  ///
  /// - Parameter cache: The cache of an earlier bonded link to the server.
  mutating func becameBonded(_ cache: GATTCache?, at now: Instant) {
    if !isClosed { client.becameBonded(cache, at: now, &context) }
  }

  /// Notes the new security of the link. The server reports the restored subscriptions that have waited for it, and the
  /// client repeats the requests that it has held back for it.
  ///
  /// - Parameter resumes: False if another change follows, after which the client continues.
  package mutating func securityChanged(_ security: HostLinkSecurity, resumes: Bool = true, at now: Instant) {
    context.security = security
    client.setGuarded(guardsBondedLink && security.hasKey && security.level == .none)
    guard !isClosed else { return }
    server.securityChanged(&context)
    if resumes { client.securityChanged(at: now, &context) }
  }

  /// Notes that the security of the link could not be raised: the requests that wait for it fail.
  package mutating func securityFailed(at now: Instant) {
    if !isClosed { client.securityFailed(at: now, &context) }
  }

  /// Starts the bearer of a new link. A central begins with the MTU exchange.
  package mutating func start(at now: Instant) {
    if role == .central, !isClosed { client.exchangeMTU(&context) }
  }

  /// Processes an ATT PDU of the peer with arbitrary content.
  package mutating func receive(_ octets: ByteSlice, database: inout GATTDatabase, at now: Instant) {
    guard !isClosed, !octets.isEmpty else { return }
    let opcode = ATT.Opcode(rawValue: octets[0])
    switch opcode?.kind {
    case nil, .request, .command: server.receive(octets, database: &database, context: &context)
    case .response:
      guard let opcode, octets.count <= mtu else { break }
      client.receiveResponse(opcode, octets, at: now, context: &context)
    case .notification, .indication:
      guard octets.count <= mtu else { break }
      client.receiveValue(octets, at: now, context: &context)
    case .confirmation:
      guard octets.count == 1 else { break }
      server.confirm(&context)
    }
    closeIfNeeded(at: now)
  }

  package mutating func timeReached(_ now: Instant) {
    guard !isClosed else { return }
    let clients = client.transactionDeadline
    if let overdue = earliest(clients, server.deadline), overdue <= now {
      context.closed = .timeout
      closeIfNeeded(at: now)
    } else {
      client.timeReached(now, context: &context)
    }
  }

  /// Queues a procedure of the client, which begins when the earlier ones of its requester have ended and the requester
  /// has its turn. It ends with `GATTEvent.completed`.
  package mutating func request(
    _ request: GATTRequest, token: GATTToken, priority: GATTPriority = .app, of requester: GATTRequester = .system,
    at now: Instant
  ) {
    client.request(request, token: token, priority: priority, of: requester, at: now, context: &context)
  }

  /// Drops the requests among `tokens` that have not begun. Returns their tokens; no event follows for them.
  mutating func drop(_ tokens: Set<GATTToken>, at now: Instant) -> [GATTToken] {
    client.drop(tokens, at: now, &context)
  }

  /// Requests one `GATTEvent.backgroundTurn`: it comes when no request of an app is open and the bearer has been quiet
  /// for 100 ms, or after 8 requests of apps have completed since the last turn.
  mutating func awaitBackgroundTurn(at now: Instant) {
    if !isClosed { client.awaitTurn(at: now, &context) }
  }

  /// Answers a request of the peer; a second answer is ignored. For a read, `value` is the attribute's value from the
  /// requested offset on; for a write, it is empty.
  package mutating func respond(
    to request: GATTServerRequest, with result: Result<ByteSlice, ATT.ErrorCode>, database: inout GATTDatabase,
    at now: Instant
  ) {
    guard !isClosed else { return }
    server.respond(to: request, with: result, database: &database, context: &context)
  }

  /// Sends a value to the client in the way to which the client has subscribed, truncated to MTU − 3 octets. One
  /// `GATTEvent.updateSent` follows each call, immediately if the client has not subscribed; none follows if the
  /// bearer is closed.
  package mutating func update(_ value: AttributeHandle, with bytes: ByteSlice, at now: Instant) {
    guard !isClosed else { return }
    server.update(value, with: bytes, context: &context)
  }

  /// Handles a change of the database: ends the subscriptions to removed attributes and sends Service Changed to a
  /// client that has subscribed to it · Vol 3, Part G, 7.1. A closed bearer sends nothing, but records the change for
  /// the client.
  package mutating func databaseChanged(
    _ range: ClosedRange<AttributeHandle>, in database: GATTDatabase, at now: Instant
  ) {
    server.databaseChanged(range, in: database, context: &context)
  }

  /// Returns the server's record of the client, for the client's next link.
  package func clientRecord(_ database: inout GATTDatabase) -> GATTClientRecord {
    server.clientRecord(&database)
  }

  /// Restores the state of the client's last link: its configurations, each reported with
  /// `GATTEvent.subscriptionChanged` once the link has the security that it needs, and Service Changed if the database
  /// has changed since. Configurations that the client has already written on this link take precedence.
  package mutating func restore(_ record: GATTClientRecord, database: inout GATTDatabase) {
    guard !isClosed else { return }
    server.restore(record, &database, &context)
  }

  /// Removes the restored configurations that the client has not written itself on this link.
  mutating func forgetInherited() {
    if !isClosed { server.forgetInherited(&context) }
  }

  /// True if a PDU is queued, including PDUs that must wait for the peer.
  @inline(__always)
  var hasOutput: Bool { !isClosed && (client.hasOutput || server.hasOutput) }

  /// Removes and returns the next PDU. Call it only when the link has room for a PDU.
  package mutating func takePDU(at now: Instant) -> ATT.PDU? {
    guard !isClosed else { return nil }
    let first = isServersTurn ? takeFromServer(at: now) : takeFromClient(at: now)
    if let first { return first }
    return isServersTurn ? takeFromClient(at: now) : takeFromServer(at: now)
  }

  /// True if `takeEvent` has an event.
  @inline(__always)
  var hasEvents: Bool { !context.events.isEmpty }

  package mutating func takeEvent() -> GATTEvent? { context.events.popFirst() }

  private mutating func takeFromClient(at now: Instant) -> ATT.PDU? {
    guard client.hasOutput, let pdu = client.takePDU(at: now, context: &context) else { return nil }
    isServersTurn = true
    return pdu
  }

  private mutating func takeFromServer(at now: Instant) -> ATT.PDU? {
    guard server.hasOutput, let pdu = server.takePDU(at: now, context: &context) else { return nil }
    isServersTurn = false
    return pdu
  }

  private mutating func closeIfNeeded(at now: Instant) {
    if let reason = context.closed { client.close(reason, at: now, &context) }
  }
}
