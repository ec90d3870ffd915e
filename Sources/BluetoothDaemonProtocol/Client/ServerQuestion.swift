import BluetoothDaemon
import BluetoothTransport
import BluetoothWire
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// Questions to a running server, and requests of its user, for the command line.
package struct ServerQuestion: Sendable {
  private let specifier: ServerSpecifier
  private let token: [UInt8]
  private let limit: TimeAmount

  /// - Parameters:
  ///   - specifier: the server and the adapter that the question concerns.
  ///   - token: what a server on TCP asks for.
  ///   - limit: the time for the whole exchange; for an endless one, the time until the server's greeting.
  package init(to specifier: ServerSpecifier, token: [UInt8] = [], within limit: TimeAmount = .seconds(10)) {
    self.specifier = specifier
    self.token = token
    self.limit = limit
  }

  /// Returns the clients of a server, including the one that asks.
  ///
  /// - Throws: `AdapterError`.
  package static func clients(
    of specifier: ServerSpecifier, token: [UInt8] = [], within limit: TimeAmount = .seconds(10)
  ) throws(AdapterError) -> [ConnectedClient] {
    try ServerQuestion(to: specifier, token: token, within: limit).ask(.listClients) {
      if case .clients(let clients) = $0 { clients } else { nil }
    }
  }

  /// Returns the apps of the server.
  ///
  /// - Throws: `AdapterError`.
  package func apps() throws(AdapterError) -> [AppDescription] {
    try ask(.app(.listApps)) { if case .app(.apps(let apps)) = $0 { apps } else { nil } }
  }

  /// Returns the alerts so far, oldest first.
  ///
  /// - Throws: `AdapterError`.
  package func alerts() throws(AdapterError) -> [AlertDescription] {
    try ask(.app(.listAlerts(follows: false))) { if case .app(.alerts(let alerts)) = $0 { alerts } else { nil } }
  }

  /// Calls `body` with the alerts so far, and with the later ones as they come, until it returns false. Ends with the
  /// server.
  ///
  /// - Throws: `AdapterError`.
  package func follow(_ body: @escaping @Sendable ([AlertDescription]) -> Bool) throws(AdapterError) {
    try ask(.app(.listAlerts(follows: true)), endlessly: true) { message in
      if case .app(.alerts(let alerts)) = message { body(alerts) ? nil : () } else { nil }
    }
  }

  /// Returns the uses of the peers with this name, address or identifier. A known peer without a link that no app waits
  /// for has neither users nor apps that serve it; the result is empty if the adapter knows no such peer.
  ///
  /// - Throws: `AdapterError`.
  package func uses(of peer: String) throws(AdapterError) -> [PeerUsage] {
    try ask(.app(.explain(peer: peer))) { if case .app(.links(let links)) = $0 { links } else { nil } }
  }

  /// Returns the peers that the adapter knows.
  ///
  /// - Throws: `AdapterError`.
  package func peers() throws(AdapterError) -> [(name: String?, address: DeviceAddress, isBonded: Bool)] {
    let peers = NIOLockedValueBox<[(name: String?, address: DeviceAddress, isBonded: Bool)]>([])
    // The server sends its directory before it answers.
    return try ask(.listClients) { message in
      switch message {
      case .directory(.peer(_, _, let address, let name, let bond)):
        peers.withLockedValue { $0.append((name: name, address: address, isBonded: bond != nil)) }
        return nil
      case .clients: return peers.withLockedValue { $0 }
      default: return nil
      }
    }
  }

  /// A part of what a monitor gets.
  package enum MonitorEvent: Sendable {
    /// The server passes the packets of this adapter from now on.
    case started(adapter: String)
    case packet(MonitoredPacket)
    /// A tenth of a second has passed.
    case tick
  }

  /// Calls `body` with the HCI packets of the adapter as they come, until it returns false. Ends with the server.
  ///
  /// - Throws: `AdapterError` if the server does not answer; `Refusal` if it shows no packets to this user.
  package func monitor(_ body: @escaping @Sendable (MonitorEvent) -> Bool) throws {
    let name = NIOLockedValueBox("")
    let tick: @Sendable () -> String?? = { body(.tick) ? nil : .some(nil) }
    let failure: String? = try ask(.app(.monitor), endlessly: true, tick: tick) { message -> String?? in
      switch message {
      case .welcome(let welcome):
        name.withLockedValue { $0 = welcome.adapter }
        return nil
      case .app(.done(.some(let failure))): return .some(failure)
      case .app(.done(nil)): return body(.started(adapter: name.withLockedValue { $0 })) ? nil : .some(nil)
      case .app(.packet(let packet)): return body(.packet(packet)) ? nil : .some(nil)
      default: return nil
      }
    }
    if let failure { throw Refusal(description: failure) }
  }

  /// Sends a request of the user, and waits until the server has carried it out.
  ///
  /// - Throws: `AdapterError` if the server does not answer; `Refusal` if it does not carry out the request.
  package func perform(_ request: AppMessage) throws {
    let failure: String?? = try ask(.app(request)) {
      if case .app(.done(let failure)) = $0 { .some(.some(failure)) } else { nil }
    }
    if let failure, let failure { throw Refusal(description: failure) }
  }

  /// The server's reason not to carry out a request.
  package struct Refusal: Error, CustomStringConvertible {
    package let description: String
  }

  /// Asks a question, and waits for a message in which `find` finds the answer.
  ///
  /// - Parameters:
  ///   - endlessly: true to wait without a limit once the server has sent its greeting.
  ///   - tick: called every 0.1 s until it returns an answer; nil: not called.
  private func ask<Answer: Sendable>(
    _ message: ClientMessage, endlessly: Bool = false, tick: (@Sendable () -> Answer?)? = nil,
    _ find: @escaping @Sendable (ServerMessage) -> Answer?
  ) throws(AdapterError) -> Answer {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    defer { try? group.syncShutdownGracefully() }
    let loop = group.next()
    let answer = loop.makePromise(of: Answer.self)
    let receiver = Receiver(answer, find)
    let handler = ServerChannel(receiver)
    let bootstrap = ClientBootstrap(group: loop).connectTimeout(limit).channelInitializer { channel in
      channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(handler) }
    }
    let transport: TransportSpecifier
    let connected: EventLoopFuture<any Channel>
    switch specifier.place {
    case .unix(let path):
      transport = .unix(path: path)
      connected = bootstrap.connect(unixDomainSocketPath: path)
    case .tcp(let host, let port):
      transport = .tcp(host: host, port: port)
      connected = bootstrap.connect(host: host, port: port)
    }
    let hello = Hello(adapter: specifier.adapter, program: "ble", token: ByteSlice(token))
    let specifier = specifier
    loop.scheduleTask(in: limit) {
      if endlessly && receiver.isWelcome { return }
      answer.fail(AdapterError(description: "\(specifier) has not answered in time"))
    }
    if let tick {
      let interval = TimeAmount.milliseconds(100)
      loop.scheduleRepeatedTask(initialDelay: interval, delay: interval) { task in
        guard let found = tick() else { return }
        task.cancel()
        answer.succeed(found)
      }
    }
    connected.whenComplete { result in
      switch result {
      case .failure(let error):
        answer.fail(AdapterError(description: "\(specifier): \(TransportError(connectingTo: transport, error))"))
      case .success:
        for message in [ClientMessage.hello(hello), message] {
          guard let frame = message.encode(.none).frame() else {
            return answer.fail(AdapterError(description: "the question is too long"))
          }
          handler.send(frame)
        }
        handler.flush()
      }
    }
    do {
      defer { withExtendedLifetime(receiver) {} }
      return try answer.futureResult.wait()
    } catch {
      throw error as? AdapterError ?? AdapterError(description: "\(specifier): \(error)")
    }
  }

  /// Waits for the answer. Confined to the event loop.
  private final class Receiver<Answer: Sendable>: ServerChannelReceiver, @unchecked Sendable {
    // Unchecked: the properties are used on the event loop alone.

    /// True once the server has sent its greeting.
    private(set) var isWelcome = false
    private let answer: EventLoopPromise<Answer>
    private let find: (ServerMessage) -> Answer?

    init(_ answer: EventLoopPromise<Answer>, _ find: @escaping (ServerMessage) -> Answer?) {
      self.answer = answer
      self.find = find
    }

    func received(_ frame: Frame, on channel: ServerChannel) {
      answer.futureResult.eventLoop.preconditionInEventLoop()
      // Messages of the directory name peers, which this client does not know.
      guard let message = try? ServerMessage(frame, .none) else { return }
      switch message {
      case .welcome:
        isWelcome = true
        channel.acceptLongFrames()
        _ = find(message)
      case .refused(let refusal): answer.fail(AdapterError(description: refusal.text))
      case .unknownMessage: answer.fail(AdapterError(description: "this btserver is too old for the question"))
      default: if let found = find(message) { answer.succeed(found) }
      }
    }

    func receivedAll(on channel: ServerChannel) {}

    func closed(_ channel: ServerChannel, violation: String?) {
      answer.futureResult.eventLoop.preconditionInEventLoop()
      answer.fail(AdapterError(description: violation ?? "the server has closed the connection"))
    }
  }
}
