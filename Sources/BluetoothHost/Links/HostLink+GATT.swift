import BluetoothWire

/// A link takes its client record and its subscriptions from the GATT state of the host when it begins, and leaves them
/// there when it ends.
extension HostLink {
  // MARK: Server

  /// Reports the link and restores the state of a bonded client. The client's record stays in place: if several links
  /// have the same identity, the client's link is not known yet.
  mutating func reportConnected(_ context: inout HostContext) {
    visibility = .reported
    context.output.tell(.connected(link))
    guard let record = context.server.clientRecord(of: identity) else { return }
    bearer.restore(record, database: &context.server.database)
    markReady(&context)
    while let event = bearer.takeEvent() { context.output.tell(.gatt(link.handle, event)) }
  }

  /// Stores the record of the client and the cache of the peer's server when the link ends.
  ///
  /// Only links that were encrypted with the bond's key count for the client, because any device can use its address.
  mutating func keepGATTState(_ context: inout HostContext) {
    let isBonded = bearer.security.isBonded
    if isBonded { context.server.keep(bearer.clientRecord(&context.server.database), of: identity) }
    context.server.caches.keep(bearer.cache, of: identity, isBonded: isBonded)
    if keepsDatabase, !bearer.remoteDatabase.isEmpty {
      context.server.keptDatabases[identity] = bearer.remoteDatabase.forNextLink(isStale: true)
    }
    if context.configuration.keepsUnbondedServices, !isBonded, bearer.lacksServiceChanged,
      bearer.remoteDatabase.primaryServices != nil
    {
      context.server.keepUnbonded(bearer.remoteDatabase.forNextLink(isStale: false), of: identity)
    }
  }

  /// Answers a client's request.
  mutating func respond(
    to request: GATTServerRequest, with result: Result<ByteSlice, ATT.ErrorCode>, _ context: inout HostContext,
    at now: Instant
  ) {
    bearer.respond(to: request, with: result, database: &context.server.database, at: now)
    serve(&context, at: now)
  }

  /// Sends a notification or an indication.
  @inline(__always)
  mutating func update(
    _ value: AttributeHandle, with bytes: ByteSlice, _ context: inout HostContext, at now: Instant
  ) {
    bearer.update(value, with: bytes, at: now)
    serve(&context, at: now)
  }

  // MARK: Client

  /// Queues a procedure of the client.
  @inline(__always)
  mutating func request(
    _ request: GATTRequest, token: GATTToken, _ priority: GATTPriority, of requester: GATTRequester = .system,
    _ context: inout HostContext, at now: Instant
  ) {
    bearer.request(request, token: token, priority: priority, of: requester, at: now)
    serve(&context, at: now)
  }

  /// Drops requests of the client that have not begun.
  mutating func drop(
    _ tokens: Set<GATTToken>, _ context: inout HostContext, at now: Instant
  ) -> [GATTToken] {
    let dropped = bearer.drop(tokens, at: now)
    passOn(&context, at: now)
    return dropped
  }

  /// Requests the turn for a background request.
  mutating func awaitBackgroundTurn(_ context: inout HostContext, at now: Instant) {
    bearer.awaitBackgroundTurn(at: now)
    passOn(&context, at: now)
  }

  /// Offers the cached database to the client of a new link, even of a hidden one: the cache is stored again,
  /// unchanged, when the link ends.
  mutating func offerCache(_ context: inout HostContext) {
    if let cache = context.server.caches[identity] { bearer.offer(cache) }
  }

  /// Takes the attributes that apps found on the link before, which they use on this one.
  mutating func resumeDatabase(_ context: inout HostContext) {
    if let kept = context.server.unbondedDatabase(of: identity) {
      return bearer.client.watch.resume(kept, isChecked: false)
    }
    guard let former = context.server.keptDatabases.removeValue(forKey: identity) else { return }
    bearer.client.watch.resume(former, isChecked: true)
    // If this link ends before it is reported, the next one resumes them.
    keepsDatabase = true
  }

  /// Replaces the offered cache after the link has been encrypted with the bond's key.
  mutating func offerBondedCache(_ context: inout HostContext, at now: Instant) {
    bearer.becameBonded(context.server.caches.bonded(identity), at: now)
  }

  // MARK: Name discovery

  /// Processes the response to a request of a name discovery.
  mutating func nameDiscoveryCompleted(
    _ result: Result<GATTResponse, GATTError>, _ context: inout HostContext, at now: Instant
  ) {
    switch context.nameDiscoveries.completed(result, on: link.handle) {
    case .request(let request)?: self.request(request, token: NameDiscoveries.token, .system, &context, at: now)
    case .end(let end, let name)?:
      context.output.tell(.nameDiscovered(end.address, name))
      if end.link != nil { disconnect(.remoteUserTerminatedConnection, &context) }
    case nil: break
    }
  }
}
