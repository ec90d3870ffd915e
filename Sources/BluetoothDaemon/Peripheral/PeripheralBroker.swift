// Design: links that a server ends
//
// Apple's API leaves the end of a link to its central. A program that serves and ends asks the daemon for it
// (`PeripheralCommand.disconnect`), because a controller may outlive the program. The daemon keeps links that a central
// manager, another session with services, or the system uses.

import BluetoothHost
import BluetoothWire
import DequeModule

/// The broker of peripheral managers: it executes their commands, merges their services into the host's one database
/// and their advertising into one advertisement, and passes clients' requests to the owners of the attributes.
///
/// Requests come on any link: the roles of client and server are independent of which device initiated the link.
struct PeripheralBroker {
  var localDatabase = LocalDatabase()
  var advertising = AdvertisingState()
  /// The content that the host advertises; nil: it does not advertise.
  var applied: AdvertisingState.Content?
  var advertisingSets = AdvertisingSetTable()
  private var centralRequests = CentralRequestTable()
  private var updates = UpdateTable()
  /// The updates that apps in the background have sent too fast.
  private var lateUpdates = LateUpdates()
  /// The services that no session owns any more and that the host's database still contains.
  private var droppedServices: [AttributeHandle] = []

  /// Executes a command of a session.
  mutating func perform(
    _ command: PeripheralCommand, for session: PeripheralSessionID, at now: Instant,
    _ channels: inout ChannelBroker, _ context: inout DaemonContext
  ) {
    switch command {
    case .startAdvertising(let localName, let services):
      startAdvertising(.init(session: session, localName: localName, services: services), at: now, &context)
    case .advertise(let custom):
      startAdvertising(.init(session: session, localName: nil, services: [], custom: custom), at: now, &context)
    case .stopAdvertising: stopAdvertising(by: session, at: now, &context)
    case .startSet(let id, let advertising): start(id, advertising, for: session, at: now, &context)
    case .stopSet(let id): stop(id, of: session, at: now, &context)
    case .addService(let service), .addServiceAt(let service): add(service, of: session, at: now, &context)
    case .removeService(let id): remove(id, of: session, at: now, &context)
    case .removeAllServices: removeAllServices(of: session, at: now, &context)
    case .respond(let id, let error, let value):
      respond(to: id, error, value: value, by: session, at: now, &context.host)
    case .update(let id, let value, let centrals): update(id, value, centrals, by: session, at: now, &context)
    case .setConnectionLatency(let latency, let central):
      guard let link = context.link(to: central, for: session) else { return }
      setConnectionLatency(latency, on: link, at: now, &context)
    case .changeLink(let central, let request):
      guard let link = context.link(to: central, for: session) else { return }
      context.request(request, on: link.index, for: .peripheral(session), at: now)
    case .disconnect(let central):
      if let link = context.link(to: central, for: session) {
        disconnect(link, at: now, &context)
      } else if let link = context.links.index(of: central), context.links[link].server.isKnown(to: session) {
        context.deliver(.centralDisconnected(context.centralInfo(of: link)), to: session)
      }
    case .publishChannel(let isEncrypted):
      channels.publishChannel(isEncrypted: isEncrypted, by: session, at: now, &context)
    // The daemon handles these commands itself.
    case .unpublishChannel, .barrier, .askForPower, .observeLinks: break
    }
  }

  /// Ends a session's advertising, services and pending requests, without events for the session. The requests of its
  /// GATT clients fail.
  mutating func close(_ session: PeripheralSessionID, at now: Instant, _ context: inout DaemonContext) {
    stopAdvertising(by: session, at: now, &context)
    // The session of an app that is denied the use of Bluetooth goes on when the app is allowed again.
    for _ in lateUpdates.removeAll(of: session) { _ = context.sessions.counters(of: session)?.updateCredits.put() }
    stopSets(of: session, at: now, &context.host)
    for link in context.links.indices { context.links[link].observed.requests.leave(.peripheral(session)) }
    for request in centralRequests.removeAll(of: session) {
      answer(request, .failure(.unlikelyError), at: now, &context.host)
    }
    removeAllServices(of: session, at: now, &context)
  }

  /// Drops advertising, services and requests when the adapter goes off, without events for them. The services stay in
  /// the host's database until `removeDropped`.
  mutating func dropAll(_ context: inout DaemonContext) {
    for link in context.links.indices {
      for update in context.links[link].server.updates { _ = updates.finish(update.call, copies: 1) }
    }
    for update in lateUpdates.removeAll() {
      _ = context.sessions.counters(of: update.session)?.updateCredits.put()
    }
    advertising = AdvertisingState()
    applied = nil
    advertisingSets = AdvertisingSetTable()
    centralRequests.removeAll()
    droppedServices += localDatabase.services.reversed().map(\.range.lowerBound)
    localDatabase.removeAll()
  }

  /// The time of the next late update; nil: there is none.
  var deadline: Instant? { lateUpdates.deadline }

  /// Sends the late updates whose time has come.
  mutating func timeReached(_ now: Instant, _ context: inout DaemonContext) {
    while let update = lateUpdates.takeDue(at: now) { send(update, at: now, &context) }
  }

  /// Sends the late updates of a session at once: its app has no limit any more, and its next updates do not wait.
  mutating func sendLateUpdates(
    of session: PeripheralSessionID, at now: Instant, _ context: inout DaemonContext
  ) {
    for update in lateUpdates.removeAll(of: session) { send(update, at: now, &context) }
  }

  /// Removes dropped services from the host's database.
  mutating func removeDropped(at now: Instant, _ host: inout Host) {
    for declaration in droppedServices { host.removeService(declaration: declaration, at: now) }
    droppedServices.removeAll()
  }

  // MARK: Requests

  /// The answer to a request for a value of an app that does not run and that the request neither runs nor launches.
  /// Apple documents that there is an error, and not which.
  static let suspendedAppError = ATT.ErrorCode.unlikelyError

  /// Fails the requests that wait for a session whose app does not answer them any more.
  mutating func refuseRequests(to session: PeripheralSessionID, at now: Instant, _ host: inout Host) {
    for request in centralRequests.removeAll(of: session) {
      answer(request, .failure(Self.suspendedAppError), at: now, &host)
    }
  }

  /// Passes a read to the app that owns the characteristic.
  mutating func readRequested(
    _ request: GATTServerRequest, _ handle: AttributeHandle, offset: Int, on link: DaemonLinkIndex, at now: Instant,
    _ context: inout DaemonContext
  ) {
    let connection = context.links[link].link.handle
    guard let index = localDatabase.characteristic(at: handle) else {
      context.host.respond(to: request, on: connection, with: .failure(.invalidHandle), at: now)
      return
    }
    let characteristic = localDatabase.characteristics[index]
    guard canAsk(characteristic.session, isCommand: false, &context) else {
      context.host.respond(to: request, on: connection, with: .failure(Self.suspendedAppError), at: now)
      return
    }
    let id = centralRequests.add(
      PendingCentralRequest(
        session: characteristic.session, connection: connection, request: request, isShared: false, procedure: .read,
        characteristic: characteristic.id, since: now))
    context.deliver(
      .readRequested(id, context.centralInfo(of: link), characteristic.id, offset: offset), on: link,
      to: characteristic.session)
  }

  /// Passes a write to the app that owns the characteristic. The parts of an Execute Write go to all apps whose
  /// characteristics they concern, and it fails if one of the apps refuses. The writes to the other apps'
  /// characteristics are then not undone.
  mutating func writeRequested(
    _ request: GATTServerRequest?, _ parts: GATTWriteParts, on link: DaemonLinkIndex, at now: Instant,
    _ context: inout DaemonContext
  ) {
    if parts.count == 1 {
      writeRequested(request, parts[0], on: link, at: now, &context)
      return
    }
    let connection = context.links[link].link.handle
    let owners = parts.map { localDatabase.characteristic(at: $0.handle) }
    guard !parts.isEmpty, !owners.contains(nil) else {
      if let request { context.host.respond(to: request, on: connection, with: .failure(.invalidHandle), at: now) }
      return
    }
    var sessions: [PeripheralSessionID] = []
    for case .some(let owner) in owners where !sessions.contains(localDatabase.characteristics[owner].session) {
      sessions.append(localDatabase.characteristics[owner].session)
    }
    var canAskAll = true
    for session in sessions where !canAsk(session, isCommand: request == nil, &context) { canAskAll = false }
    guard canAskAll else {
      if let request {
        context.host.respond(to: request, on: connection, with: .failure(Self.suspendedAppError), at: now)
      }
      return
    }
    if let request, sessions.count > 1 {
      centralRequests.share(request, on: connection, among: sessions.count)
    }
    for session in sessions {
      let writes = zip(parts, owners).compactMap { part, owner -> CentralWrite? in
        guard let owner, localDatabase.characteristics[owner].session == session else { return nil }
        return CentralWrite(
          characteristic: localDatabase.characteristics[owner].id, offset: part.offset, value: part.value)
      }
      let id = request.map {
        centralRequests.add(
          PendingCentralRequest(
            session: session, connection: connection, request: $0, isShared: sessions.count > 1, procedure: .write,
            characteristic: nil, since: now))
      }
      context.deliver(.writeRequested(id, context.centralInfo(of: link), writes), on: link, to: session)
    }
  }

  private mutating func writeRequested(
    _ request: GATTServerRequest?, _ part: GATTWritePart, on link: DaemonLinkIndex, at now: Instant,
    _ context: inout DaemonContext
  ) {
    let connection = context.links[link].link.handle
    guard let index = localDatabase.characteristic(at: part.handle) else {
      if let request { context.host.respond(to: request, on: connection, with: .failure(.invalidHandle), at: now) }
      return
    }
    let characteristic = localDatabase.characteristics[index]
    guard canAsk(characteristic.session, isCommand: request == nil, &context) else {
      if let request {
        context.host.respond(to: request, on: connection, with: .failure(Self.suspendedAppError), at: now)
      }
      return
    }
    if request == nil, let counters = context.sessions.counters(of: characteristic.session),
      context.backlogs.discards(counters.backlog)
    {
      return
    }
    let id = request.map {
      centralRequests.add(
        PendingCentralRequest(
          session: characteristic.session, connection: connection, request: $0, isShared: false, procedure: .write,
          characteristic: characteristic.id, since: now))
    }
    let write = CentralWrite(characteristic: characteristic.id, offset: part.offset, value: part.value)
    context.deliver(
      .writeRequested(id, context.centralInfo(of: link), [write]), on: link, to: characteristic.session)
  }

  /// Sends an app's answer to the client.
  mutating func respond(
    to id: CentralRequestID, _ error: ATT.ErrorCode?, value: ByteSlice, by session: PeripheralSessionID,
    at now: Instant, _ host: inout Host
  ) {
    guard let request = centralRequests.remove(id, of: session) else { return }
    answer(request, error.map { .failure($0) } ?? .success(value), at: now, &host)
  }

  private mutating func answer(
    _ request: PendingCentralRequest, _ result: Result<ByteSlice, ATT.ErrorCode>, at now: Instant,
    _ host: inout Host
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

  /// Reports a client's subscription, or its end, to the app that owns the characteristic.
  mutating func subscriptionChanged(
    _ handle: AttributeHandle, _ subscription: GATTSubscription, on link: DaemonLinkIndex,
    _ context: inout DaemonContext
  ) {
    guard let index = localDatabase.characteristic(at: handle) else { return }
    let characteristic = localDatabase.characteristics[index]
    let connection = context.links[link].link.handle
    if subscription.isEmpty {
      guard localDatabase.unsubscribe(connection, from: index) else { return }
      context.deliver(.unsubscribed(context.centralInfo(of: link), characteristic.id), to: characteristic.session)
    } else {
      guard localDatabase.subscribe(connection, to: index) else {
        return reportRepetition(of: characteristic.id, on: link, to: characteristic.session, &context)
      }
      context.deliver(
        .subscribed(context.centralInfo(of: link), characteristic.id), on: link, to: characteristic.session)
    }
  }

  /// Sends an updated value. The session's client has taken a credit for the update; the credit is returned when the
  /// value has been sent to all GATT clients.
  mutating func update(
    _ id: LocalAttributeID, _ value: ByteSlice, _ centrals: [PeerHandle]?, by session: PeripheralSessionID,
    at now: Instant, _ context: inout DaemonContext
  ) {
    let update = LateUpdates.Update(session: session, characteristic: id, value: value, centrals: centrals)
    if let spacing = updateSpacing(of: session, context), lateUpdates.delay(update, by: spacing, at: now) {
      let app = context.sessions.owner(of: session)
      return context.note(.updateRate, of: app)
    }
    send(update, at: now, &context)
  }

  private mutating func send(_ update: LateUpdates.Update, at now: Instant, _ context: inout DaemonContext) {
    let (session, id, value, centrals) = (update.session, update.characteristic, update.value, update.centrals)
    guard let counters = context.sessions.counters(of: session) else { return }
    let call = updates.add(session, counters.updateCredits)
    var copies = 0
    if let index = localDatabase.characteristic(id, of: session) {
      let handle = localDatabase.characteristics[index].handle
      for subscriber in localDatabase.characteristics[index].subscribers.indices {
        let connection = localDatabase.characteristics[index].subscribers[subscriber]
        guard let link = context.links.index(of: connection), centrals?.contains(context.links[link].peer) ?? true
        else { continue }
        updates.addCopy(to: call)
        copies += 1
        context.links[link].server.add(OutstandingUpdate(handle: handle, call: call))
        context.host.update(handle, with: value.prefix(context.links[link].maximumValueLength), on: connection, at: now)
      }
    }
    if copies == 0 { finishUpdate(call, copies: 0, &context) }
  }

  /// Handles the transmission of the oldest update of `handle` on a link; of an indication, its confirmation.
  mutating func updateSent(_ handle: AttributeHandle, on link: DaemonLinkIndex, _ context: inout DaemonContext) {
    guard let call = context.links[link].server.takeUpdate(of: handle) else { return }
    if let place = localDatabase.characteristic(at: handle), localDatabase.characteristics[place].isOnlyIndicated {
      let characteristic = localDatabase.characteristics[place]
      reportConfirmation(of: characteristic.id, on: link, to: characteristic.session, &context)
    }
    finishUpdate(call, copies: 1, &context)
  }

  private mutating func finishUpdate(_ call: SlotKey, copies: Int, _ context: inout DaemonContext) {
    if let session = updates.finish(call, copies: copies) { context.deliver(.readyToUpdate, to: session) }
  }

  // MARK: Reports

  /// Returns the sessions whose attributes the client on a link uses, with that use.
  func uses(
    by connection: HCI.ConnectionHandle, at now: Instant
  ) -> [(session: PeripheralSessionID, use: PeerUsage.Served)] {
    var uses: [(session: PeripheralSessionID, use: PeerUsage.Served)] = []
    func change(_ session: PeripheralSessionID, _ body: (inout PeerUsage.Served) -> Void) {
      if !uses.contains(where: { $0.session == session }) {
        uses.append((session, PeerUsage.Served(app: nil, subscriptions: [], pending: [])))
      }
      for index in uses.indices where uses[index].session == session { body(&uses[index].use) }
    }
    for characteristic in localDatabase.characteristics where characteristic.subscribers.contains(connection) {
      guard let uuid = localDatabase.uuid(of: characteristic.id, of: characteristic.session) else { continue }
      change(characteristic.session) { $0.subscriptions.append(uuid) }
    }
    for request in centralRequests.all where request.connection == connection {
      let uuid = request.characteristic.flatMap { localDatabase.uuid(of: $0, of: request.session) }
      let age = PeerUsage.Pending.age(since: request.since, at: now)
      change(request.session) { $0.pending.append(.init(request.procedure, of: uuid, milliseconds: age)) }
    }
    return uses
  }

  // MARK: End of a link

  /// Ends the link to a central for a session. If a central manager, another session that serves centrals, or the
  /// system uses the link, it stays, and only the session is told of its end.
  private mutating func disconnect(
    _ link: SessionLink<PeripheralRole>, at now: Instant, _ context: inout DaemonContext
  ) {
    let isServedByOthers =
      localDatabase.services.contains { $0.session != link.session }
      || context.links[link.index].channels.entries.contains { $0.owner != .peripheral(link.session) }
    guard context.isInUse(link.index) || isServedByOthers else {
      return context.links.end(link.index, at: now, &context.host)
    }
    context.deliver(.centralDisconnected(context.centralInfo(of: link.index)), to: link.session)
  }

  /// Ends the subscriptions, requests and updates of the client on a link, which has ended for this reason.
  mutating func endServing(_ link: DaemonLinkIndex, _ reason: HCI.ErrorCode, _ context: inout DaemonContext) {
    let connection = context.links[link].link.handle
    let central = context.centralInfo(of: link)
    centralRequests.removeAll(on: connection)
    for index in localDatabase.characteristics.indices where localDatabase.unsubscribe(connection, from: index) {
      let characteristic = localDatabase.characteristics[index]
      context.deliver(.unsubscribed(central, characteristic.id), to: characteristic.session)
    }
    reportEnd(reason, on: link, &context)
    context.deliverToPeripherals(.centralDisconnected(central), on: link)
    while let call = context.links[link].server.takeUpdate() { finishUpdate(call, copies: 1, &context) }
  }
}
