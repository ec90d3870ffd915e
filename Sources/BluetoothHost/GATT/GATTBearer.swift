import BluetoothWire
import DequeModule

/// The ATT bearer of one link, client and server · Vol 3, Part F, 3.2.11; Vol 3, Part G.
///
/// After each call the owner takes the events, and the PDUs as far as the link has room.
package struct GATTBearer {
  private let role: Link.Role
  private var client = GATTClient()
  private var server = GATTServer()
  private var context: GATTContext
  /// Client and server take turns, so that commands or notifications without end never hold back a response.
  private var isServersTurn = false

  /// - Parameter maximumMTU: the largest ATT_MTU of this side; held at 23 to `ATT.maximumMTU`.
  package init(role: Link.Role, maximumMTU: Int, pool: PacketPool) {
    self.role = role
    context = GATTContext(maximumMTU: maximumMTU, pool: pool)
  }

  /// When `timeReached` wants to be called.
  package var deadline: Instant? { isClosed ? nil : earliest(client.deadline, server.deadline) }
  /// The ATT_MTU, 23 to `maximumMTU`.
  package var mtu: Int { context.mtu }
  /// A transaction timed out, or the peer broke the rules of sequence: nothing is sent or taken in any more, and the
  /// link is to be ended · Vol 3, Part F, 3.3.3.
  package var isClosed: Bool { context.closed != nil }
  /// How well the link is protected; the permissions of the database depend on it.
  package var security: LinkSecurity { context.security }
  /// What checks the peer's Signed Write Commands; nil: there is no key, and they are ignored.
  package var signatureVerifier: SignatureVerifier? {
    get { server.signatureVerifier }
    set { server.signatureVerifier = newValue }
  }

  /// What signs the client's Signed Write Commands; nil: nobody does.
  package var signatureMaker: SignatureMaker? {
    get { client.signatureMaker }
    set { client.signatureMaker = newValue }
  }
  /// Nothing is asked of a bonded server and nothing of it believed before the link is encrypted. To be said before the link
  /// has a key.
  var guardsBondedLink = true
  /// What the client has found out about the server, for the next link to it.
  package var cache: GATTCache? { client.watch.cache }

  /// What the last link to the same server has left: discoveries are answered from it if the server's hash says so.
  package mutating func offer(_ cache: GATTCache) { client.watch.offer(cache) }

  /// The link is encrypted with the key of a bond from now on: the client does not keep what it has found before. `cache`
  /// is what another such link to the server has left.
  mutating func becameBonded(_ cache: GATTCache?, at now: Instant) {
    if !isClosed { client.becameBonded(cache, at: now, &context) }
  }

  /// The link is protected so from now on; what the client holds back for that is asked for again.
  ///
  /// - Parameter resumes: false: more is to come, and then what is held back goes on.
  package mutating func securityChanged(_ security: LinkSecurity, resumes: Bool = true, at now: Instant) {
    context.security = security
    client.isGuarded = guardsBondedLink && security.hasKey && security.level == .none
    if security.level > .none { client.isBeingEncrypted = false }
    if resumes, !isClosed { client.securityChanged(at: now, &context) }
  }

  /// The link is going to be encrypted, without having been asked for by the client.
  mutating func willBeEncrypted() { client.isBeingEncrypted = true }

  /// The link does not become better protected: what waits for that fails.
  package mutating func securityFailed(at now: Instant) {
    client.isBeingEncrypted = false
    if !isClosed { client.securityFailed(at: now, &context) }
  }

  /// The link is there. A central begins with the MTU exchange.
  package mutating func start(at now: Instant) {
    if role == .central, !isClosed { client.exchangeMTU(&context) }
  }

  /// Takes in one ATT PDU of the peer, of any content.
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

  /// Begins a procedure of the client as soon as those before it have ended; it ends with `GATTEvent.completed`.
  package mutating func request(_ request: GATTRequest, token: GATTToken, at now: Instant) {
    client.request(request, token: token, at: now, context: &context)
  }

  /// Answers a request of the peer; `value` is what a read gives, from the offset that was asked for, and empty for a
  /// write. A request that was answered before is ignored.
  package mutating func respond(
    to request: GATTServerRequest, with result: Result<ByteSlice, ATT.ErrorCode>, database: inout GATTDatabase,
    at now: Instant
  ) {
    guard !isClosed else { return }
    server.respond(to: request, with: result, database: &database, context: &context)
  }

  /// Sends a value to the client in the way in which it has subscribed, cut to MTU − 3 octets. Each call is followed
  /// by one `GATTEvent.updateSent`, at once if the client has not subscribed; by none when the bearer is closed.
  package mutating func update(_ value: AttributeHandle, with bytes: ByteSlice, at now: Instant) {
    guard !isClosed else { return }
    server.update(value, with: bytes, context: &context)
  }

  /// The database has changed: ends the subscriptions to what is not there any more, and sends Service Changed to a
  /// client that has asked for it · Vol 3, Part G, 7.1. A bearer that is closed sends nothing, but the record of its client
  /// has to tell of the change.
  package mutating func databaseChanged(
    _ range: ClosedRange<AttributeHandle>, in database: GATTDatabase, at now: Instant
  ) {
    server.databaseChanged(range, in: database, context: &context)
  }

  /// What the server knows of the client, for the client's next link.
  package func clientRecord(_ database: inout GATTDatabase) -> GATTClientRecord {
    server.clientRecord(&database)
  }

  /// Takes up where the client's last link ended: its configurations, each told by `GATTEvent.subscriptionChanged`, and
  /// Service Changed if the database has changed since. What the client has said on this link already stands.
  package mutating func restore(_ record: GATTClientRecord, database: inout GATTDatabase) {
    guard !isClosed else { return }
    server.restore(record, &database, &context)
  }

  /// Ends what `restore` has brought and the client has not said itself on this link.
  mutating func forgetInherited() {
    if !isClosed { server.forgetInherited(&context) }
  }

  /// Whether a PDU waits, perhaps for something that the peer has to do first.
  @inline(__always)
  var hasOutput: Bool { !isClosed && (client.hasOutput || server.hasOutput) }

  /// The next PDU for the link; to be called only when the link has room for it.
  package mutating func takePDU(at now: Instant) -> ATT.PDU? {
    guard !isClosed else { return nil }
    let first = isServersTurn ? takeFromServer(at: now) : takeFromClient(at: now)
    if let first { return first }
    return isServersTurn ? takeFromClient(at: now) : takeFromServer(at: now)
  }

  /// Whether `takeEvent` has one.
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
