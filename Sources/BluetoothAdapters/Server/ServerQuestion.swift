import BluetoothDaemonProtocol
import BluetoothTransport
import BluetoothWire
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// A question to a running server, for the command line.
package enum ServerQuestion {
  /// Returns the clients of a server, including the one that asks.
  ///
  /// - Parameter limit: the time for the whole exchange.
  /// - Throws: `AdapterError`.
  package static func clients(
    of specifier: ServerSpecifier, token: [UInt8] = [], within limit: TimeAmount = .seconds(10)
  ) throws(AdapterError) -> [ConnectedClient] {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    defer { try? group.syncShutdownGracefully() }
    let loop = group.next()
    let answer = loop.makePromise(of: [ConnectedClient].self)
    let receiver = Receiver(answer)
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
    loop.scheduleTask(in: limit) { answer.fail(AdapterError(description: "\(specifier) has not answered in time")) }
    connected.whenComplete { result in
      switch result {
      case .failure(let error):
        answer.fail(AdapterError(description: "\(specifier): \(TransportError(connectingTo: transport, error))"))
      case .success:
        for message in [ClientMessage.hello(hello), .listClients] {
          if let frame = message.encode(.none).frame() { handler.send(frame) }
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
  private final class Receiver: ServerChannelReceiver, @unchecked Sendable {
    private let answer: EventLoopPromise<[ConnectedClient]>

    init(_ answer: EventLoopPromise<[ConnectedClient]>) { self.answer = answer }

    func received(_ frame: Frame, on channel: ServerChannel) {
      // Messages of the directory name peers, which this client does not know.
      guard let message = try? ServerMessage(frame, .none) else { return }
      switch message {
      case .welcome: channel.acceptLongFrames()
      case .refused(let refusal): answer.fail(AdapterError(description: refusal.text))
      case .clients(let clients): answer.succeed(clients)
      case .unknownMessage: answer.fail(AdapterError(description: "this btserver is too old to list its clients"))
      default: break
      }
    }

    func receivedAll(on channel: ServerChannel) {}

    func closed(_ channel: ServerChannel, violation: String?) {
      answer.fail(AdapterError(description: violation ?? "the server has closed the connection"))
    }
  }
}
