// Design: a daemon in another process
//
// - `LocalSessions` is used at both ends. In the program it holds the managers' sessions, and `ServerRunner` takes
//   their requests in place of a daemon.
// - What both ends share in one process is repeated: a credit comes back as a message when the daemon puts it
//   (`Session.observeCredits`), handled events are reported by number, and the octets of a channel move between two
//   pipes with a window for each direction. So `EventBacklog` counts what the app at the far end has not handled, and
//   the daemon holds links and drops discoveries as for an app in its own process.
// - A server that has been started again counts peers anew. So a program has handles of its own, by identifier, and
//   translates them (`PeerNumbering`).
// - If the connection is lost, the program's managers see `resetting`, as after a failure of the controller: credits,
//   barriers and channels end at the program's end, and all sessions are opened again on the next connection. The count
//   of seen states begins anew there, and commands from before are dropped.

import BluetoothDaemon
import BluetoothTransport
import BluetoothWire
import DequeModule
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// Connects the sessions of this process with a daemon in another one. Reconnects when the connection is lost; the
/// sessions stay, and their apps see the loss as a change of state. Confined to the event loop.
final class ServerRunner: @unchecked Sendable {
  private enum Connection {
    case connecting
    /// The server has not answered the greeting.
    case greeting(ServerChannel)
    case open(ServerChannel)
    /// The pause before the next attempt.
    case pausing(Scheduled<Void>)
    case ended
  }

  let specifier: ServerSpecifier
  private let hello: Hello
  private let loop: any EventLoop
  /// The time in which a server must answer the greeting.
  private let greetingTime: TimeAmount
  /// True once the server has told the permission of this app, or can't be asked.
  private let hasAnswer: ConditionLock<Bool>
  /// Ends this program, because the system or its user has ended the app.
  let stop: ServerAdapter.Stopper
  let sessions: LocalSessions
  let directory: PeerDirectory
  let peers: RemotePeers
  let pool = PacketPool()
  private var connection = Connection.connecting
  private var greetingTimer: Scheduled<Void>?
  private var backOff = ReconnectBackoff()
  /// True if a server has sent an event of a session. Before that, no manager knows a state of a server: connections
  /// have only told the permission of the app, or were lost while the first session was opened.
  var hasSessionEvents = false
  /// The state of this app as the server has reported it last.
  var runState = AppRunState.foreground
  /// The state that apps see while there is no connection; nil: nothing is known yet.
  private(set) var outage: AdapterState?
  var centrals: [CentralSessionID: RemoteSession] = [:]
  var peripherals: [PeripheralSessionID: RemoteSession] = [:]
  var centralIDs: [SessionNumber: CentralSessionID] = [:]
  var peripheralIDs: [SessionNumber: PeripheralSessionID] = [:]
  /// The channels by the handles of this process, and these handles by those of the server.
  var channels: [ChannelHandle: RemoteChannel] = [:]
  var channelHandles: [ChannelHandle: ChannelHandle] = [:]
  /// The attempts to connect to peers that the server does not know yet.
  var attempts: [PeerHandle: [WaitingAttempt]] = [:]
  private var latestNumber: UInt32 = 0
  private var requests = Deque<DaemonRequest>()
  private var isPumping = false
  private var isWoken = false
  /// True if the log has a line about the denied permission of this app.
  private var hasNotedDenial = false
  /// The types that the server does not know, for the log.
  private var unknownTypes: Set<UInt16> = []

  init(
    _ specifier: ServerSpecifier, _ hello: Hello, sessions: LocalSessions, directory: PeerDirectory,
    on loop: any EventLoop, greetingTime: TimeAmount = ServerAdapter.greetingTime,
    hasAnswer: ConditionLock<Bool> = ConditionLock(value: false), stop: @escaping ServerAdapter.Stopper
  ) {
    self.greetingTime = greetingTime
    self.hasAnswer = hasAnswer
    self.stop = stop
    self.specifier = specifier
    self.hello = hello
    self.sessions = sessions
    self.directory = directory
    self.loop = loop
    peers = RemotePeers(directory)
  }

  func begin() {
    loop.preconditionInEventLoop()
    connect()
    pump()
  }

  /// Closes the connection. Called when the adapter is deallocated, so nothing is reported.
  func end() {
    loop.preconditionInEventLoop()
    let former = connection
    connection = .ended
    greetingTimer?.cancel()
    switch former {
    case .greeting(let channel), .open(let channel): channel.close()
    case .pausing(let task): task.cancel()
    case .connecting, .ended: break
    }
  }

  /// The open connection; nil: there is none.
  var channel: ServerChannel? {
    if case .open(let channel) = connection { channel } else { nil }
  }

  /// Sends a message. Returns false if there is no connection, or if the message can't be sent.
  @discardableResult
  func send(_ message: ClientMessage) -> Bool {
    loop.assertInEventLoop()
    guard let channel, let frame = message.encode(peers.numbering).frame() else { return false }
    channel.send(frame)
    return true
  }

  // MARK: Pump

  /// Passes on the requests of apps, and the numbers of events that they have handled.
  func pump() {
    loop.assertInEventLoop()
    isWoken = true
    guard !isPumping else { return }
    if case .ended = connection { return }
    isPumping = true
    while isWoken {
      isWoken = false
      sessions.requests.takeAll(&requests)
      while let request = requests.popFirst() { handle(request) }
    }
    acknowledgeEvents()
    isPumping = false
    channel?.flush()
  }

  private func acknowledgeEvents() {
    guard channel != nil else { return }
    for id in Array(centrals.keys) { acknowledge(centrals[id]?.takeHandledEvents(), of: centrals[id]?.number) }
    for id in Array(peripherals.keys) {
      acknowledge(peripherals[id]?.takeHandledEvents(), of: peripherals[id]?.number)
    }
  }

  private func acknowledge(_ count: Int?, of session: SessionNumber?) {
    guard let count, count > 0, let session else { return }
    send(.eventsHandled(session, count: UInt32(clamping: count)))
  }

  /// Returns a number that no session of this process has had.
  func nextNumber() -> SessionNumber {
    latestNumber &+= 1
    return SessionNumber(latestNumber)
  }

  // MARK: Connection

  private func connect() {
    connection = .connecting
    let bootstrap = ClientBootstrap(group: loop).connectTimeout(.seconds(10))
    let handler = ServerChannel(self)
    let bound = NIOLoopBound(handler, eventLoop: loop)
    let prepared = bootstrap.channelInitializer { channel in
      channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(bound.value) }
    }
    let attempt: EventLoopFuture<any Channel>
    let transport: TransportSpecifier
    switch specifier.place {
    case .unix(let path):
      transport = .unix(path: path)
      attempt = prepared.connect(unixDomainSocketPath: path)
    case .tcp(let host, let port):
      transport = .tcp(host: host, port: port)
      attempt = prepared.channelOption(.tcpOption(.tcp_nodelay), value: 1)
        .channelOption(.socketOption(.so_keepalive), value: 1).connect(host: host, port: port)
    }
    attempt.assumeIsolated().whenComplete { [self] result in
      switch result {
      case .success: greet(handler)
      case .failure(let error): failed(TransportError(connectingTo: transport, error))
      }
    }
  }

  private func greet(_ channel: ServerChannel) {
    guard case .connecting = connection else { return channel.close() }
    connection = .greeting(channel)
    greetingTimer = loop.scheduleTask(in: greetingTime) { [self] in
      guard case .greeting(let waiting) = connection, waiting === channel else { return }
      channel.close()
      lost(.unsupported, "no answer: this is not the socket of a btserver")
    }
    // A greeting names no peers.
    if let frame = ClientMessage.hello(hello).encode(peers.numbering).frame() { channel.send(frame) }
    channel.flush()
  }

  private func failed(_ error: TransportError) {
    guard case .connecting = connection else { return }
    if error.isLasting {
      directory.access = .denied
      lost(.unauthorized, "\(error): this user may not use the socket; join the group of the file")
    } else {
      lost(.resetting, "\(error); is btserver running?")
    }
  }

  /// Handles the loss of the connection, or a failed attempt to connect.
  ///
  /// - Parameters:
  ///   - state: what apps see until the connection is back.
  ///   - line: the log line. It is omitted if an outage with the same state is already logged.
  private func lost(_ state: AdapterState, _ line: String) {
    if outage != state { DaemonLog.note("\(line); retrying", of: "\(specifier)") }
    outage = state
    noteAnswer()
    greetingTimer?.cancel()
    let pause = backOff.next()
    connection = .pausing(loop.scheduleTask(in: .nanoseconds(pause.nanoseconds)) { self.connect() })
    dropEverything(state)
    pump()
  }

  /// The server has accepted this client: opens all sessions.
  private func welcomed(_ channel: ServerChannel) {
    connection = .open(channel)
    greetingTimer?.cancel()
    backOff.reset()
    if outage != nil { DaemonLog.tell("connected again", of: "\(specifier)") }
    outage = nil
    channel.acceptLongFrames()
    // The server tells the bonds anew.
    directory.setBonds([:])
    openAll()
  }
}

extension ServerRunner: ServerChannelReceiver {
  func received(_ frame: Frame, on channel: ServerChannel) {
    loop.assertInEventLoop()
    do throws(DecodingError) {
      let message = try ServerMessage(frame, peers.numbering)
      switch (connection, message) {
      case (.greeting(let expected), .welcome(let welcome)) where expected === channel:
        guard DaemonProtocol.versions.contains(welcome.version) else { throw .invalid(field: "version") }
        welcomed(channel)
      case (.greeting(let expected), .refused(let refusal)) where expected === channel: refused(refusal, channel)
      case (.open(let open), .refused(let refusal)) where open === channel: refused(refusal, channel)
      case (.open(let open), _) where open === channel:
        isPumping = true
        handle(message)
        isPumping = false
      case (.greeting, _): throw .invalid(field: "first message")
      default: break
      }
    } catch {
      if case .unknown(let type) = error, self.channel === channel {
        send(.unknownMessage(type: type))
      } else {
        channel.close()
        closed(channel, violation: "\(error)")
      }
    }
  }

  func receivedAll(on channel: ServerChannel) { pump() }

  func closed(_ channel: ServerChannel, violation: String?) {
    loop.preconditionInEventLoop()
    switch connection {
    case .greeting(let expected) where expected === channel:
      if let violation {
        lost(.unsupported, "\(violation): this is not the socket of a btserver")
      } else {
        // Another program's socket, or a server that has just ended.
        lost(.resetting, "closed without an answer: is this the socket of a btserver?")
      }
    case .open(let expected) where expected === channel:
      lost(.resetting, violation.map { "protocol violation: \($0)" } ?? "lost the connection")
    default: break
    }
  }

  private func refused(_ refusal: Refusal, _ channel: ServerChannel) {
    channel.close()
    switch refusal.reason {
    case .version: lost(.unsupported, "\(refusal.text): update this program or btserver")
    case .unknownAdapter: lost(.unsupported, refusal.text)
    case .notPermitted:
      directory.access = .denied
      lost(.unauthorized, "\(refusal.text): name a file with the token in \(ServerSpecifier.tokenVariable)")
    case .tooMany, .protocolViolation, .tooSlow, .stopping: lost(.resetting, refusal.text)
    }
  }

  /// Notes the permission of this app. A denial gives one line, which says how the user can change it.
  func noteAccess(_ access: AppAccess) {
    if access == .denied, !hasNotedDenial {
      DaemonLog.note(
        "btserver denies this app the use of Bluetooth; \(specifier.adviceForDeniedApp)", of: "\(specifier)")
    }
    if access != .undetermined { hasNotedDenial = access == .denied }
  }

  /// Lets the callers of `ServerAdapter.toldAccess` go on.
  func noteAnswer() {
    hasAnswer.lock()
    hasAnswer.unlock(withValue: true)
  }

  /// Notes a type that the server does not know.
  func noteUnknownType(_ type: UInt16) {
    guard unknownTypes.insert(type).inserted else { return }
    DaemonLog.note(
      "btserver does not know the messages of type \(type): it is older than this program", of: "\(specifier)")
  }
}
