import BluetoothDaemon
import BluetoothDaemonProtocol
import BluetoothTransport
import BluetoothWire
import Metrics
import NIOCore

/// One client of a server. Confined to the connection's event loop.
final class ServerConnection: ChannelInboundHandler, @unchecked Sendable {
  // Unchecked: other threads use `announceOutput` only.
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private enum State {
    /// The client has not said who it is.
    case greeting
    /// The client gets the directory. It is not read from until it has all of it.
    case directory
    case open
    case closed
  }

  let clients: ServerClients
  private let token: [UInt8]?
  private var state = State.greeting
  private var parser = FrameParser(maximumLength: DaemonProtocol.maximumHelloLength)
  private(set) var context: ChannelHandlerContext?
  private(set) var identity: ClientIdentity?
  private var origin = ConnectionOrigin.host([])
  private(set) var served: ServedAdapter?
  private(set) var outbox: Outbox?
  private let channels = ChannelTable()
  /// The app of the client; nil: it belongs to none.
  private var appIdentity: AppIdentity?
  /// The app, from the first session until it ends.
  var app: ServedApp?
  /// True if the client has had a connection before.
  var hasReturned = false
  /// True if the app was in the background on the client's former connection. A client that says so gains nothing.
  var wasInBackground = false
  /// True if the app has been ended: the client is about to end, and its messages are dropped.
  var isStopped = false
  /// The restore identifiers of the sessions that the client is about to open.
  var restoreIdentifiers: [SessionNumber: String] = [:]
  private var centrals: [SessionNumber: CentralProxy] = [:]
  private var peripherals: [SessionNumber: PeripheralProxy] = [:]
  private var greetingTimer: Scheduled<Void>?
  private var stallTimer: Scheduled<Void>?
  /// True while a pause runs, in which the daemon catches up with the requests of all clients.
  private var isPausing = false
  /// True if the client's octets are being processed.
  private var isProcessing = false
  /// The time that a client has to end itself after its app has been ended.
  static let stopTime = TimeAmount.seconds(5)
  /// The lines of the log that a client can cause again and again.
  enum RepeatedLine: Hashable {
    case unknownType, typeUnknownToClient, mayNotControl
    case power(Bool)
    case reset(forgetsBonds: Bool)
    case monitor
  }

  /// The repeated lines that the log has about this connection. It has one of each kind, so that no client can fill it
  /// and slow the server.
  private var loggedLines: Set<RepeatedLine> = []

  /// - Parameter token: what a client must present; nil: none.
  init(_ clients: ServerClients, token: [UInt8]?) {
    self.clients = clients
    self.token = token
  }

  var limits: ServerLimits { clients.limits }
  var sessionCount: Int { centrals.count + peripherals.count }

  /// The client, for a list; nil: it has not said what it wants.
  var description: ConnectedClient? {
    guard let identity, let served else { return nil }
    let origin = identity.process?.program ?? identity.address
    return ConnectedClient(
      process: identity.process.map { UInt32(clamping: $0.id) }, user: identity.process?.user,
      origin: origin?.cut(), adapter: served.name, sessions: UInt32(sessionCount))
  }

  // MARK: Beginning and end

  func channelActive(context: ChannelHandlerContext) {
    self.context = context
    clients.metrics.connections.increment()
    greetingTimer = context.eventLoop.scheduleTask(in: limits.greetingTime) { [self] in
      if case .greeting = state { refuse(.protocolViolation, "no greeting in time") }
    }
    ClientIdentity.of(context.channel).assumeIsolated().whenComplete { [self] result in
      if case .closed = state { return }
      // A system that does not tell it makes the client a stranger, as over TCP.
      let client = (try? result.get()) ?? ClientIdentity(process: nil, address: nil)
      identity = client
      origin = client.origin(at: self.context?.channel.remoteAddress)
      clients.addStranger(self, from: origin)
      process()
    }
  }

  func channelInactive(context: ChannelHandlerContext) { end(isLost: true) }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  /// Ends all sessions of the client. Those of an app that may have crashed can be preserved.
  private func end(isLost: Bool) {
    context?.eventLoop.preconditionInEventLoop()
    if case .closed = state {} else if outbox != nil { log("has disconnected") }
    state = .closed
    clients.remove(self)
    clients.apps.removeFollower(self)
    if let served, let outbox { clients.apps.endMonitor(outbox, on: served) }
    app?.remove(self, isLost: isLost)
    app = nil
    greetingTimer?.cancel()
    stallTimer?.cancel()
    outbox?.close()
    let (centrals, peripherals) = (centrals, peripherals)
    clients.metrics.addSessions(-sessionCount)
    self.centrals.removeAll()
    self.peripherals.removeAll()
    for proxy in centrals.values { proxy.counts.take()?.close() }
    for proxy in peripherals.values { proxy.counts.take()?.close() }
    channels.closeAll()
    context = nil
  }

  /// Returns the events that the process has not handled to the daemon, before the end of its app.
  func returnEvents() {
    context?.eventLoop.preconditionInEventLoop()
    // Messages may have arrived while the client was not read from.
    while let frame = try? parser.next() {
      guard case .eventsHandled(let number, let count)? = try? ClientMessage(frame, outbox?.numbering ?? .none) else {
        continue
      }
      _ = centrals[number]?.counts.eventsHandled(Int(count)) ?? peripherals[number]?.counts.eventsHandled(Int(count))
    }
    for number in centrals.keys.sorted(by: { $0.value < $1.value }) { centrals[number]?.returnEvents() }
    for number in peripherals.keys.sorted(by: { $0.value < $1.value }) { peripherals[number]?.returnEvents() }
  }

  /// Ends the connection with a reason for the client's log.
  func refuse(_ reason: RefusalReason, _ text: String) {
    guard let context else { return }
    context.eventLoop.preconditionInEventLoop()
    if case .closed = state { return }
    clients.noteRefusal(reason, text, of: identity, from: origin)
    let channel = context.channel
    state = .closed
    if channel.isWritable, let frame = ServerMessage.refused(Refusal(reason, text.cut())).encode(.none).frame() {
      // The client loses the octets that it does not read in time.
      channel.eventLoop.scheduleTask(in: .seconds(1)) { channel.close(promise: nil) }
      context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: frame))).whenComplete { _ in
        channel.close(promise: nil)
      }
      end(isLost: false)
    } else {
      end(isLost: false)
      channel.close(promise: nil)
    }
  }

  func log(_ text: String) {
    clients.log.log(from: "\(origin)") {
      ServerLog.tell("\(identity?.text ?? "a client") \(text)", about: identity)
    }
  }

  /// Logs the first line of a kind about this connection.
  func logOnce(_ line: RepeatedLine, _ text: @autoclosure () -> String) {
    if loggedLines.insert(line).inserted { log(text()) }
  }

  // MARK: Input

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if case .closed = state { return }
    let octets = unwrapInboundIn(data).readableBytesView
    clients.metrics.receivedOctets.increment(by: octets.count)
    parser.append(octets)
    process()
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    flush()
    process()
  }

  /// True if the next message of the client may be handled now.
  private var takesMessages: Bool {
    guard let context, identity != nil, !isPausing else { return false }
    switch state {
    case .greeting: return true
    // A client that does not read its answers is not asked for more requests.
    case .open: return context.channel.isWritable
    case .directory, .closed: return false
    }
  }

  /// Handles the messages that have arrived.
  private func process() {
    context?.eventLoop.assertInEventLoop()
    // A message that changes the state calls this function recursively; the outer call continues.
    guard !isProcessing else { return }
    isProcessing = true
    defer { isProcessing = false }
    do {
      while takesMessages, let frame = try parser.next() {
        clients.metrics.messages.increment()
        try handle(frame)
        pauseIfBusy()
      }
    } catch {
      refuse(.protocolViolation, "not a message of this protocol (\(error))")
    }
    updateReading()
  }

  private func updateReading() {
    guard let context else { return }
    context.channel.setOption(.autoRead, value: takesMessages || identity == nil).whenFailure { _ in }
  }

  /// Takes no more requests for a moment if the daemon has too many.
  private func pauseIfBusy() {
    guard
      let pending = centrals.first?.value.counts.session?.pendingCount
        ?? peripherals.first?.value.counts.session?.pendingCount,
      pending > limits.pending, let context
    else { return }
    isPausing = true
    context.eventLoop.scheduleTask(in: .milliseconds(1)) { [self] in
      isPausing = false
      pauseIfBusy()
      process()
    }
  }

  private func handle(_ frame: Frame) throws {
    do throws(DecodingError) {
      let message = try ClientMessage(frame, outbox?.numbering ?? .none)
      if case .greeting = state {
        guard case .hello(let hello) = message else { throw .invalid(field: "first message") }
        greet(hello)
      } else {
        handle(message)
      }
    } catch {
      guard case .unknown(let type) = error, case .open = state else { throw error }
      logOnce(.unknownType, "has sent a message of the unknown type \(type)")
      outbox?.send(.unknownMessage(type: type))
    }
  }

  private func greet(_ hello: Hello) {
    greetingTimer?.cancel()
    if let token, !Self.isEqual(token, hello.token.bytes) {
      return refuse(.notPermitted, "the token is missing or wrong")
    }
    let versions = DaemonProtocol.versions
    let version = min(versions.upperBound, hello.versions.upperBound)
    guard version >= max(versions.lowerBound, hello.versions.lowerBound) else {
      return refuse(
        .version,
        "the client speaks the versions \(hello.versions.lowerBound) to \(hello.versions.upperBound) of the protocol, "
          + "this server \(versions.lowerBound) to \(versions.upperBound)")
    }
    guard let identity else { return }
    do throws(ClientPlaces.Full) { try clients.add(self, of: identity) } catch {
      return refuse(.tooMany, error.description)
    }
    guard let served = clients.adapter(named: hello.adapter) else {
      let names = clients.adapters.map(\.name).joined(separator: ", ")
      return refuse(.unknownAdapter, "no adapter \"\(hello.adapter)\"; the adapters are \(names)")
    }
    use(served, version: version)
  }

  /// Begins to serve an adapter to the client.
  private func use(_ served: ServedAdapter, version: UInt16) {
    guard let context, let identity else { return }
    // The directory has the identifiers of apps from then on.
    guard served.host == nil || clients.apps.isReady else {
      state = .directory
      return clients.apps.whenReady { [weak self] in
        guard let self, case .directory = state else { return }
        use(served, version: version)
      }
    }
    self.served = served
    if served.host != nil { appIdentity = clients.apps.setup.identify(identity) }
    parser.maximumLength = DaemonProtocol.maximumFrameLength
    let loop = context.eventLoop
    let name = appIdentity?.name
    let outbox = Outbox(served.adapter.directory, for: name, limit: limits.waitingOctets) { [weak self] in
      guard let self else { return }
      loop.execute { self.flush() }
    }
    self.outbox = outbox
    state = .directory
    outbox.send(.welcome(Welcome(version: version, adapter: served.name)))
    clients.noteAcceptance(of: identity)
    log("uses the adapter \(served.name)\(name.map { " as the app \($0)" } ?? "")")
    flush()
  }

  /// Compares in a time that does not depend on the first difference.
  private static func isEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    var difference = left.count ^ right.count
    for index in left.indices { difference |= Int(left[index] ^ (index < right.count ? right[index] : 0)) }
    return difference == 0
  }

  private func handle(_ message: ClientMessage) {
    if isStopped { return }
    switch message {
    case .hello: violate("a second greeting")
    case .unknownMessage(let type): logOnce(.typeUnknownToClient, "does not know the messages of type \(type)")
    case .listClients: outbox?.send(.clients(clients.descriptions))
    case .app(let message): handle(message)
    case .introduce(let address): centrals.first?.value.counts.session?.introduce(address)
    case .openCentral(let number):
      guard let adapter = admit(number), let outbox else { return }
      let owner = owner(of: number)
      let proxy = CentralProxy(number, outbox, channels, keepsEvents: owner?.restoreIdentifier != nil)
      centrals[number] = proxy
      clients.metrics.addSessions(1)
      proxy.open(on: adapter, for: owner)
    case .openPeripheral(let number):
      guard let adapter = admit(number), let outbox else { return }
      let owner = owner(of: number)
      let proxy = PeripheralProxy(number, outbox, channels, keepsEvents: owner?.restoreIdentifier != nil)
      peripherals[number] = proxy
      clients.metrics.addSessions(1)
      proxy.open(on: adapter, for: owner)
    case .closeCentral(let number): closed(centrals.removeValue(forKey: number)?.counts.take())
    case .closePeripheral(let number): closed(peripherals.removeValue(forKey: number)?.counts.take())
    case .central(let number, let command, let seenStates):
      guard let proxy = centrals[number] else { return }
      if !proxy.perform(command, seenStates: seenStates) { violate("a write without a credit") }
    case .peripheral(let number, let command, let seenStates):
      guard let proxy = peripherals[number] else { return }
      if !proxy.perform(command, seenStates: seenStates) { violate("an update without a credit") }
    case .eventsHandled(let number, let count):
      let isPossible =
        centrals[number]?.counts.eventsHandled(Int(count)) ?? peripherals[number]?.counts.eventsHandled(Int(count))
      if isPossible == false { violate("more events handled than sent") }
    case .channelOctets(let channel, let octets):
      if channels[channel]?.receive(octets) == false { violate("more octets than a channel takes") }
    case .channelRead(let channel, let frames):
      if channels[channel]?.wasRead(Int(frames)) == false { violate("more octets read than sent") }
    case .closeChannel(let channel): channels[channel]?.close()
    }
  }

  private func closed(_ session: CentralSession?) {
    guard let session else { return }
    session.close()
    clients.metrics.addSessions(-1)
  }

  private func closed(_ session: PeripheralSession?) {
    guard let session else { return }
    session.close()
    clients.metrics.addSessions(-1)
  }

  func violate(_ text: String) { refuse(.protocolViolation, text) }

  /// Returns the adapter for a new session; nil, with the end of the connection, if the client may not have it.
  private func admit(_ number: SessionNumber) -> (any DaemonAdapter)? {
    guard centrals[number] == nil, peripherals[number] == nil else {
      violate("a session number that is in use")
      return nil
    }
    guard sessionCount < limits.sessions else {
      refuse(.tooMany, "too many managers: \(limits.sessions) are open")
      return nil
    }
    guard let served else { return nil }
    if app == nil, let identity = appIdentity, let user = self.identity?.process?.user, let host = served.host {
      guard let found = clients.apps.app(identity.name, ofUser: user, on: served, host) else {
        refuse(.tooMany, "too many apps: this user has had \(limits.apps)")
        return nil
      }
      app = found
      found.add(self, identity.manifest)
    }
    return served.adapter
  }

  /// The app and the restore identifier of a session that is about to be opened; nil: the session belongs to no app.
  private func owner(of number: SessionNumber) -> SessionOwner? {
    let identifier = restoreIdentifiers.removeValue(forKey: number)
    let user = ClientUser(self.identity?.process?.user)
    return app.map { SessionOwner(app: $0.name, restoreIdentifier: identifier, user: user) }
  }

  // MARK: Output

  /// Writes what waits for the client.
  private func flush() {
    guard let context, let outbox else { return }
    let sentOctets = clients.metrics.sentOctets
    do throws(Outbox.Failure) {
      while true {
        let octets = try outbox.takeOctets(withDirectory: context.channel.isWritable)
        guard !octets.isEmpty else { break }
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: octets))).whenComplete { _ in
          outbox.wasSent(octets.count)
          sentOctets.increment(by: octets.count)
        }
      }
    } catch {
      switch error {
      case .full: refuse(.tooSlow, "the client does not read: \(limits.waitingOctets) octets wait")
      case .tooLong: refuse(.tooMany, "an event exceeds the length of a message")
      }
      return
    }
    if case .directory = state, context.channel.isWritable {
      state = .open
      process()
    }
    watchStall()
  }

  // MARK: Clients that do not keep up

  /// Starts to watch the client if the daemon holds links because of it. Ends the connection if too many events wait.
  private func watchStall() {
    if centrals.values.contains(where: \.counts.isExhausted) || peripherals.values.contains(where: \.counts.isExhausted)
    {
      return refuse(.tooSlow, "the app has not handled \(SessionLimits.maximumWaitingEvents) events of a manager")
    }
    guard stallTimer == nil, let context, let handled = stalledCount else { return }
    stallTimer = context.eventLoop.scheduleTask(in: limits.stallTime) { [self] in
      stallTimer = nil
      guard let now = stalledCount else { return }
      if now == handled {
        refuse(.tooSlow, "the app has handled no event for \(limits.stallTime.nanoseconds / 1_000_000_000) s")
      } else {
        watchStall()
      }
    }
  }

  /// The number of events that the sessions with too many waiting ones have handled; nil: there is no such session.
  private var stalledCount: Int? {
    let full =
      centrals.values.filter(\.counts.isFull).map(\.counts.handledCount)
      + peripherals.values.filter(\.counts.isFull).map(\.counts.handledCount)
    return full.isEmpty ? nil : full.reduce(0, +)
  }
}
