import BluetoothHost
import BluetoothWire
import DequeModule

/// The broker of the Apple Notification Center Service: it publishes the service, asks the user which accessories may
/// get notifications, and serves them.
struct NotificationBroker {
  /// The state; nil: there was no notification, and no bond.
  private var provider: NotificationProvider?
  /// The time of the adapter's time zero in seconds since 2001-01-01 00:00:00 UTC; nil: unknown.
  var timeOfZero: Int64?
  /// The open questions, by the accessories that they are about.
  private var questions: [(peer: PeerHandle, id: PromptID)] = []
  /// The links on which a session that requires notifications for the peer has caused pairing.
  private var securedLinks: Set<HCI.ConnectionHandle> = []

  private mutating func madeProvider() -> NotificationProvider {
    let made = provider ?? NotificationProvider()
    provider = made
    return made
  }

  /// The notifications, oldest first.
  var notifications: [SystemNotification] { provider.map { $0.entries.map(\.notification) } ?? [] }
  /// The actions that accessories have performed, oldest first.
  var actions: [NotificationAction] { provider.map { Array($0.actions) } ?? [] }

  // MARK: Service

  /// Publishes the service once there is a bond: without one, no accessory can use it.
  mutating func publish(_ bonds: borrowing BondBroker, at now: Instant, _ context: inout DaemonContext) {
    guard context.policy.offersNotifications, provider?.placement == nil, !bonds.isEmpty else { return }
    if case .success(let placement) = context.host.addService(AppleNotificationService.definition, at: now) {
      madeProvider().placement = placement
    }
  }

  /// True if an attribute belongs to the service.
  func owns(_ handle: AttributeHandle) -> Bool { provider?.placement?.range.contains(handle) ?? false }

  /// Forgets the accessories: the adapter has gone off.
  mutating func dropAll(_ context: inout DaemonContext) {
    provider?.clients.removeAll()
    securedLinks.removeAll()
    for question in questions { context.prompts.withdraw(question.id) }
    questions.removeAll()
  }

  /// Forgets an accessory whose link has ended.
  mutating func linkEnded(_ connection: HCI.ConnectionHandle) {
    provider?.clients.removeAll { $0.connection == connection }
    securedLinks.remove(connection)
  }

  // MARK: Notifications

  private func date(_ time: Instant) -> String {
    timeOfZero.map { notificationDate($0 + time.sinceZero.nanoseconds / 1_000_000_000) } ?? ""
  }

  /// Adds a notification, or replaces the one with the same identifier.
  mutating func post(_ notification: SystemNotification, at now: Instant, _ context: inout DaemonContext) {
    guard context.policy.offersNotifications else { return }
    let date = date(now)
    madeProvider().post(notification, date: date)
    sendAll(at: now, &context.host)
  }

  /// Adds the notification of an alert about a suspended app.
  mutating func post(_ alert: Alert, at now: Instant, _ context: inout DaemonContext) {
    guard context.policy.offersNotifications else { return }
    let date = date(now)
    madeProvider().post(alert, date: date)
    sendAll(at: now, &context.host)
  }

  /// Removes a notification.
  mutating func remove(_ identifier: String, at now: Instant, _ host: inout Host) {
    provider?.remove(identifier)
    sendAll(at: now, &host)
  }

  // MARK: Requests

  /// Handles an accessory's write to Control Point.
  mutating func writeRequested(
    _ request: GATTServerRequest?, _ parts: GATTWriteParts, on link: DaemonLinkIndex, at now: Instant,
    _ bonds: inout BondBroker, _ context: inout DaemonContext
  ) {
    guard let request else { return }
    let connection = context.links[link].link.handle
    let result: Result<ByteSlice, ATT.ErrorCode>
    do throws(ATT.ErrorCode) {
      guard parts.count == 1, parts[0].offset == 0 else { throw AppleNotificationService.Failure.invalidCommand }
      guard isAllowed(link, at: now, &bonds, &context) else { throw .insufficientAuthorization }
      try perform(parts[0].value, on: link, &context)
      result = .success(ByteSlice())
    } catch {
      result = .failure(error)
    }
    context.host.respond(to: request, on: connection, with: result, at: now)
    sendAll(at: now, &context.host)
  }

  private func perform(
    _ command: ByteSlice, on link: DaemonLinkIndex, _ context: inout DaemonContext
  ) throws(ATT.ErrorCode) {
    guard let provider else { throw .unlikelyError }
    let peer = context.peers[context.links[link].peer].info.identifier
    guard let response = try provider.answer(command, of: peer) else { return }
    guard let client = provider.client(context.links[link].link.handle), provider.clients[client].wantsData else {
      return
    }
    guard provider.respond(response, to: client, partLength: context.links[link].maximumValueLength) else {
      throw .insufficientResources
    }
  }

  /// Handles an accessory's subscription, or its end.
  mutating func subscriptionChanged(
    _ handle: AttributeHandle, _ subscription: GATTSubscription, on link: DaemonLinkIndex, at now: Instant,
    _ bonds: inout BondBroker, _ context: inout DaemonContext
  ) {
    let connection = context.links[link].link.handle
    let provider = madeProvider()
    if provider.client(connection) == nil { provider.clients.append(.init(connection: connection)) }
    guard let client = provider.client(connection) else { return }
    let isOn = !subscription.isEmpty
    if handle == provider.handle(of: .dataSource) {
      provider.clients[client].wantsData = isOn
      if !isOn { provider.clients[client].waiting.removeAll { $0.0 == handle } }
    } else if isOn {
      // A bonded accessory that subscribes once more on a new link waits for the events.
      provider.restartSession(of: client)
      if isAllowed(link, at: now, &bonds, &context) { provider.beginSession(of: client) }
    } else {
      provider.clients[client].wantsEvents = false
      provider.endSession(of: client)
    }
    sendAll(at: now, &context.host)
  }

  /// Handles the transmission of a value to an accessory.
  mutating func updateSent(on link: DaemonLinkIndex, at now: Instant, _ context: inout DaemonContext) {
    guard let provider, let client = provider.client(context.links[link].link.handle) else { return }
    provider.clients[client].isSending = false
    sendAll(at: now, &context.host)
  }

  /// Sends the next value to each accessory that is ready for one.
  private func sendAll(at now: Instant, _ host: inout Host) {
    guard let provider else { return }
    for client in provider.clients.indices where !provider.clients[client].isSending {
      guard let (handle, value) = provider.clients[client].waiting.popFirst() else { continue }
      provider.clients[client].isSending = true
      host.update(handle, with: value, on: provider.clients[client].connection, at: now)
    }
  }

  // MARK: Permission

  /// Returns true if the user lets the accessory on a link get notifications. Asks the user at the first use.
  private mutating func isAllowed(
    _ link: DaemonLinkIndex, at now: Instant, _ bonds: inout BondBroker, _ context: inout DaemonContext
  ) -> Bool {
    let peer = context.links[link].peer
    guard context.host.security(of: context.links[link].link.handle).isBonded,
      let record = bonds.record(of: context.peers[peer].address)
    else { return false }
    if let isAllowed = record.getsNotifications { return isAllowed }
    guard !questions.contains(where: { $0.peer == peer }) else { return false }
    let info = context.peers[peer].info
    let pairing = Prompt.Pairing(
      identifier: info.identifier, name: info.name, isLocallyInitiated: false, replacesBond: false, isProven: true)
    questions.append((peer, context.prompts.ask(.shareNotifications(pairing), at: now)))
    return false
  }

  /// Handles the answer to a question of this broker; returns false if the answer belongs to another question.
  mutating func take(
    _ answer: PromptQueue.Answer, at now: Instant, _ bonds: inout BondBroker, _ context: inout DaemonContext
  ) -> Bool {
    guard let index = questions.firstIndex(where: { $0.id == answer.id }) else { return false }
    let peer = questions.remove(at: index).peer
    setSharing(answer.answer == .yes, with: context.peers[peer].address, at: now, &bonds, &context)
    return true
  }

  /// Allows or denies an accessory to get notifications. Does nothing without a bond.
  mutating func setSharing(
    _ isAllowed: Bool, with identity: DeviceAddress, at now: Instant, _ bonds: inout BondBroker,
    _ context: inout DaemonContext
  ) {
    guard let peer = context.peers.handle(of: identity), let record = bonds.record(of: identity) else { return }
    if let index = questions.firstIndex(where: { $0.peer == peer }) {
      context.prompts.withdraw(questions.remove(at: index).id)
    }
    let hasChanged = (record.getsNotifications ?? false) != isAllowed
    bonds.setSharing(isAllowed, of: record, at: now, &context)
    if let handle = context.links.index(of: peer).map({ context.links[$0].link.handle }),
      let client = provider?.client(handle)
    {
      if !isAllowed { provider?.endSession(of: client) }
      if isAllowed, context.host.security(of: handle).isBonded { provider?.beginSession(of: client) }
    }
    if hasChanged {
      for user in context.peers[peer].users where user.phase == .connected && user.requiresNotifications {
        context.deliver(.notificationSharingChanged(peer), to: user.session)
      }
    }
    sendAll(at: now, &context.host)
  }

  // MARK: Links

  /// Prepares a link whose security has changed, or whose peer a session requires to get notifications: begins the
  /// session of an accessory whose subscription dates from an earlier link, pairs if necessary, and asks the user.
  mutating func prepare(_ peer: PeerHandle, at now: Instant, _ bonds: inout BondBroker, _ context: inout DaemonContext)
  {
    guard context.policy.offersNotifications, let link = context.links.index(of: peer) else { return }
    let handle = context.links[link].link.handle
    if let provider, let client = provider.client(handle), provider.clients[client].wantsEvents,
      !provider.clients[client].hasSession, isAllowed(link, at: now, &bonds, &context)
    {
      provider.beginSession(of: client)
      sendAll(at: now, &context.host)
    }
    guard context.peers[peer].users.contains(where: { $0.phase == .connected && $0.requiresNotifications }) else {
      return
    }
    if context.host.security(of: handle).isBonded {
      _ = isAllowed(link, at: now, &bonds, &context)
    } else if context.host.security(of: handle).level == .none, securedLinks.insert(handle).inserted {
      // Once for each link: the user or the peer may refuse.
      context.host.secure(handle, .encrypted, at: now)
    }
  }
}
