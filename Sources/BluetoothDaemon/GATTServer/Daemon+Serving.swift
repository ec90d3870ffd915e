import BluetoothHost
import BluetoothWire
import DequeModule

// Requests of GATT clients, on any link: the roles of client and server are independent of which device initiated the
// link.
extension Daemon {
  /// Returns the description of the client on a link, as apps see it.
  func centralInfo(of link: Int) -> CentralInfo {
    let peer = links[link].peer
    return CentralInfo(
      handle: peer, identifier: peers[peer].info.identifier, maximumUpdateLength: links[link].maximumValueLength)
  }

  // MARK: Requests

  mutating func readRequested(
    _ request: GATTServerRequest, _ handle: AttributeHandle, offset: Int, on link: Int, at now: Instant
  ) {
    let connection = links[link].link.handle
    guard let index = localDatabase.characteristic(at: handle) else {
      host.respond(to: request, on: connection, with: .failure(.invalidHandle), at: now)
      return
    }
    let characteristic = localDatabase.characteristics[index]
    let id = centralRequests.add(
      PendingCentralRequest(
        session: characteristic.session, connection: connection, request: request, isShared: false))
    deliver(
      .readRequested(id, centralInfo(of: link), characteristic.id, offset: offset), to: characteristic.session)
  }

  /// Passes a write to the app that owns the characteristic. The parts of an Execute Write go to all apps whose
  /// characteristics they concern, and it fails if one of the apps refuses. (The other apps have written then: apps do
  /// not undo.)
  mutating func writeRequested(
    _ request: GATTServerRequest?, _ parts: GATTWriteParts, on link: Int, at now: Instant
  ) {
    if parts.count == 1 {
      writeRequested(request, parts[0], on: link, at: now)
      return
    }
    let connection = links[link].link.handle
    let owners = parts.map { localDatabase.characteristic(at: $0.handle) }
    guard !parts.isEmpty, !owners.contains(nil) else {
      if let request { host.respond(to: request, on: connection, with: .failure(.invalidHandle), at: now) }
      return
    }
    var sessions: [PeripheralSessionID] = []
    for case .some(let owner) in owners where !sessions.contains(localDatabase.characteristics[owner].session) {
      sessions.append(localDatabase.characteristics[owner].session)
    }
    if let request, sessions.count > 1 { centralRequests.share(request, on: connection, among: sessions.count) }
    for session in sessions {
      let writes = zip(parts, owners).compactMap { part, owner -> CentralWrite? in
        guard let owner, localDatabase.characteristics[owner].session == session else { return nil }
        return CentralWrite(
          characteristic: localDatabase.characteristics[owner].id, offset: part.offset, value: part.value)
      }
      let id = request.map {
        centralRequests.add(
          PendingCentralRequest(
            session: session, connection: connection, request: $0, isShared: sessions.count > 1))
      }
      deliver(.writeRequested(id, centralInfo(of: link), writes), to: session)
    }
  }

  private mutating func writeRequested(
    _ request: GATTServerRequest?, _ part: GATTWritePart, on link: Int, at now: Instant
  ) {
    let connection = links[link].link.handle
    guard let index = localDatabase.characteristic(at: part.handle) else {
      if let request { host.respond(to: request, on: connection, with: .failure(.invalidHandle), at: now) }
      return
    }
    let characteristic = localDatabase.characteristics[index]
    if request == nil, let counters = peripheralCounters(of: characteristic.session), discards(counters.backlog) {
      return
    }
    let id = request.map {
      centralRequests.add(
        PendingCentralRequest(
          session: characteristic.session, connection: connection, request: $0, isShared: false))
    }
    let write = CentralWrite(characteristic: characteristic.id, offset: part.offset, value: part.value)
    deliver(.writeRequested(id, centralInfo(of: link), [write]), to: characteristic.session)
  }

  mutating func respond(
    to id: CentralRequestID, _ error: ATT.ErrorCode?, value: ByteSlice, by session: PeripheralSessionID, at now: Instant
  ) {
    guard let request = centralRequests.remove(id, of: session) else { return }
    answer(request, error.map { .failure($0) } ?? .success(value), at: now)
  }

  mutating func answer(
    _ request: PendingCentralRequest, _ result: Result<ByteSlice, ATT.ErrorCode>, at now: Instant
  ) {
    guard request.isShared else {
      host.respond(to: request.request, on: request.connection, with: result, at: now)
      return
    }
    var error: ATT.ErrorCode?
    if case .failure(let code) = result { error = code }
    guard let all = centralRequests.answerShared(request, error) else { return }
    host.respond(to: request.request, on: request.connection, with: all.map { ByteSlice() }, at: now)
  }

  // MARK: Subscriptions

  mutating func subscriptionChanged(_ handle: AttributeHandle, _ subscription: GATTSubscription, on link: Int) {
    guard let index = localDatabase.characteristic(at: handle) else { return }
    let characteristic = localDatabase.characteristics[index]
    let connection = links[link].link.handle
    if subscription.isEmpty {
      guard localDatabase.unsubscribe(connection, from: index) else { return }
      deliver(.unsubscribed(centralInfo(of: link), characteristic.id), to: characteristic.session)
    } else {
      guard localDatabase.subscribe(connection, to: index) else { return }
      deliver(.subscribed(centralInfo(of: link), characteristic.id), to: characteristic.session)
    }
  }

  /// Sends an updated value. The session's client has taken a credit for it, which comes back when the value has been
  /// sent to all clients.
  mutating func update(
    _ id: LocalAttributeID, _ value: ByteSlice, _ centrals: [PeerHandle]?, by session: PeripheralSessionID,
    at now: Instant
  ) {
    guard let counters = peripheralCounters(of: session) else { return }
    let call = updates.add(session, counters.updateCredits)
    var copies = 0
    if let index = localDatabase.characteristic(id, of: session) {
      let handle = localDatabase.characteristics[index].handle
      for subscriber in localDatabase.characteristics[index].subscribers.indices {
        let connection = localDatabase.characteristics[index].subscribers[subscriber]
        guard let link = linkIndex(of: connection), centrals?.contains(links[link].peer) ?? true else { continue }
        updates.addCopy(to: call)
        copies += 1
        links[link].updates.append(OutstandingUpdate(handle: handle, call: call))
        host.update(handle, with: value.prefix(links[link].maximumValueLength), on: connection, at: now)
      }
    }
    if copies == 0 { finishUpdate(call, copies: 0) }
  }

  /// Handles the transmission of the oldest update of `handle` on a link.
  mutating func updateSent(_ handle: AttributeHandle, on link: Int) {
    guard let index = links[link].updates.firstIndex(where: { $0.handle == handle }) else { return }
    let call = links[link].updates.remove(at: index).call
    finishUpdate(call, copies: 1)
  }

  private mutating func finishUpdate(_ call: SlotKey, copies: Int) {
    if let session = updates.finish(call, copies: copies) { deliver(.readyToUpdate, to: session) }
  }

  // MARK: End of a link

  /// Ends the subscriptions, requests and updates of the client on a link.
  mutating func endServing(_ link: Int) {
    let connection = links[link].link.handle
    let central = centralInfo(of: link)
    centralRequests.removeAll(on: connection)
    for index in localDatabase.characteristics.indices where localDatabase.unsubscribe(connection, from: index) {
      let characteristic = localDatabase.characteristics[index]
      deliver(.unsubscribed(central, characteristic.id), to: characteristic.session)
    }
    deliverToPeripherals(.centralDisconnected(central))
    while let update = links[link].updates.popFirst() { finishUpdate(update.call, copies: 1) }
  }
}
