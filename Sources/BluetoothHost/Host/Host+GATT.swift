import BluetoothWire

/// The GATT client and the GATT server.
extension Host {
  /// Returns the ATT_MTU of a link; the default ATT_MTU if the link does not exist.
  package func mtu(of handle: HCI.ConnectionHandle) -> Int {
    table.index(of: handle).map { table[$0].bearer.mtu } ?? ATT.defaultMTU
  }

  // MARK: Client

  /// Queues a procedure, which begins when the earlier ones of its requester on this link have ended and the requester
  /// has its turn.
  package mutating func request(
    _ request: GATTRequest, token: GATTToken, priority: GATTPriority = .app, of requester: GATTRequester = .system,
    on handle: HCI.ConnectionHandle, at now: Instant
  ) {
    guard let index = table.index(of: handle) else { return }
    table[index].request(request, token: token, priority, of: requester, &context, at: now)
    settle(at: now)
  }

  /// Lets another requester wait for the result of a request, too, so that it need not wait for all earlier requests of
  /// the first one.
  package mutating func share(
    _ token: GATTToken, with requester: GATTRequester, on handle: HCI.ConnectionHandle
  ) {
    guard let index = table.index(of: handle) else { return }
    table[index].bearer.client.share(token, with: requester)
  }

  /// Drops the requests among `tokens` that have not begun. Returns their tokens; no event follows for them.
  package mutating func drop(
    _ tokens: Set<GATTToken>, on handle: HCI.ConnectionHandle, at now: Instant
  ) -> [GATTToken] {
    guard let index = table.index(of: handle) else { return [] }
    return table[index].drop(tokens, &context, at: now)
  }

  /// Requests one `GATTEvent.backgroundTurn` on a link. It comes when no request of an app is open and the link has
  /// been quiet for 100 ms, or after 8 requests of apps have completed since the last turn.
  package mutating func awaitBackgroundTurn(on handle: HCI.ConnectionHandle, at now: Instant) {
    guard let index = table.index(of: handle) else { return }
    table[index].awaitBackgroundTurn(&context, at: now)
  }

  /// Restarts the quiet time before background requests on a link.
  package mutating func noteUse(of handle: HCI.ConnectionHandle, at now: Instant) {
    guard let index = table.index(of: handle) else { return }
    table[index].bearer.client.noteUse(at: now)
  }

  /// Changes the priority of requests that have not ended.
  package mutating func setPriority(
    _ priority: GATTPriority, of tokens: Set<GATTToken>, on handle: HCI.ConnectionHandle
  ) {
    guard let index = table.index(of: handle) else { return }
    table[index].bearer.client.setPriority(priority, of: tokens)
  }

  /// Returns the known attributes of the peer's server; none if the link does not exist.
  package func remoteDatabase(on handle: HCI.ConnectionHandle) -> RemoteDatabase {
    table.index(of: handle).map { table[$0].bearer.remoteDatabase } ?? RemoteDatabase()
  }

  /// Keeps the known attributes of the peer's server beyond the end of the link, for apps that go on using them on the
  /// next link to the peer.
  package mutating func keepRemoteDatabase(on handle: HCI.ConnectionHandle) {
    if let index = table.index(of: handle) { table[index].keepsDatabase = true }
  }

  /// Forgets the attributes of a server without a link that `keepRemoteDatabase` has kept; nil: of all servers.
  package mutating func forgetRemoteDatabase(of identity: DeviceAddress?) {
    if let identity {
      context.server.keptDatabases[identity] = nil
    } else {
      context.server.forgetDatabases()
    }
  }

  /// Returns the cache of the peer's server from the last link that was encrypted with the key of a bond; nil: none.
  package func serverCache(of identity: DeviceAddress) -> GATTCache? { context.server.caches.bonded(identity) }

  /// Restores a stored cache of a bonded peer's server.
  package mutating func setServerCache(_ cache: GATTCache, of identity: DeviceAddress) {
    context.server.caches.keep(cache, of: identity, isBonded: true)
  }

  // MARK: Server

  /// Adds a service to the local database.
  package mutating func addService(
    _ definition: GATTServiceDefinition, at now: Instant
  ) -> Result<GATTServicePlacement, GATTDatabaseError> {
    do throws(GATTDatabaseError) {
      let placement = try context.server.database.add(definition)
      table.databaseChanged(placement.range, &context, at: now)
      settle(at: now)
      return .success(placement)
    } catch {
      return .failure(error)
    }
  }

  /// Removes the service whose declaration has this handle.
  package mutating func removeService(declaration: AttributeHandle, at now: Instant) {
    guard let range = context.server.database.remove(declaration: declaration) else { return }
    table.databaseChanged(range, &context, at: now)
    settle(at: now)
  }

  /// Answers a client's request; a second answer is ignored.
  package mutating func respond(
    to request: GATTServerRequest, on handle: HCI.ConnectionHandle, with result: Result<ByteSlice, ATT.ErrorCode>,
    at now: Instant
  ) {
    guard let index = table.index(of: handle) else { return }
    table[index].respond(to: request, with: result, &context, at: now)
    settle(at: now)
  }

  /// Sends a notification or an indication, as the client has subscribed; followed by `GATTEvent.updateSent`.
  package mutating func update(
    _ value: AttributeHandle, with bytes: ByteSlice, on handle: HCI.ConnectionHandle, at now: Instant
  ) {
    guard let index = table.index(of: handle) else { return }
    table[index].update(value, with: bytes, &context, at: now)
    settle(at: now)
  }

  /// The records of bonded clients from their last links that were encrypted with the bond's key, by identity
  /// address.
  package var clientRecords: [DeviceAddress: GATTClientRecord] {
    get { context.server.clientRecords }
    set { context.server.clientRecords = newValue }
  }

  /// The characteristics that clients have configured to be broadcast.
  package var broadcasts: [GATTBroadcast] { context.server.database.broadcasts }

  /// Sets the Device Name.
  package mutating func setDeviceName(_ name: String) { context.server.database.setDeviceName(name) }

  /// Sets the Peripheral Preferred Connection Parameters; nil: no specific values, and no such characteristic
  /// · Vol 3, Part C, 12.3.
  package mutating func setPreferredParameters(_ parameters: LinkParameters?, at now: Instant) {
    table.databaseChanged(context.server.database.setPreferredParameters(parameters), &context, at: now)
    settle(at: now)
  }

  /// Sets Central Address Resolution: true if a peripheral may address this device, as a central, with a private
  /// address · Vol 3, Part C, 12.4.
  package mutating func setCentralAddressResolution(_ isSupported: Bool) {
    context.server.database.setCentralAddressResolution(isSupported)
  }
}
