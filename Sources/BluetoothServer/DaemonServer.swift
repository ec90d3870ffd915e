// Overview
//
// Programs of several users want to share one controller. BluetoothServer serves the daemon of an adapter to other
// processes: sockets, sessions, limits, and who is who. `btserver` is the program around it.
//
// The idea: the daemon does not know of the server. Each session of another process has a proxy (`CentralProxy`,
// `PeripheralProxy`), which is an ordinary client that only queues events. A proxy encodes an event on the adapter's
// thread, because its octets are valid only during the call, into the `Outbox` of its connection; the loop writes what
// has gathered.
//
// All sockets of the server are on one event loop, and so are the adapters with external controllers, so that a request
// wakes no second thread. Simulated adapters run on the thread of their air.
//
// Callers: `btserver` creates the server with its adapters. The module calls the daemon by its sessions,
// BluetoothDaemonProtocol for octets, and BluetoothTransport for sockets. The other end is `ServerRunner` of that
// protocol.
//
// Invariants:
// - Octets from a client are hostile. The decoder refuses what the daemon could not take. The server takes credits
//   itself and counts handled events, so a client that claims more than it has is disconnected.
// - Nothing grows without limit for one client (`ServerLimits.swift`): a connection stops being read while its client
//   does not read, and while too many requests or events of all clients wait. A client is disconnected if too many
//   octets wait for it, and if the daemon holds links for 10 s because of it.
// - The `Outbox` puts the changes of the peers that a message names in front of it, in one step, so a client knows each
//   peer that it hears of.
// - The adapters of a server have `ServedPrompts`: they answer questions for permission by the rule of the server or
//   pass them to `UserQuestions`, which the log, the commands and the desktop observe. The first answer from anywhere
//   ends a question, and `withdraw` of the daemon closes it everywhere.
//
// Where to begin: this file, then `ServerConnection.swift` for one client and `SessionProxies.swift` for its sessions;
// `ServerApps.swift` for the apps that the server launches; `HCIMonitor.swift` for monitoring.
//
// Specification: this project's own; Documentation/Server-protocol.md has it.

import BluetoothDaemon
import BluetoothDaemonProtocol
import BluetoothTransport
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A server that shares adapters among the apps of other processes. All sockets are on one thread. With external
/// controllers on the same thread, a request of an app wakes no other thread.
package final class DaemonServer: Sendable {
  private let group: MultiThreadedEventLoopGroup
  /// True if the thread ends with the server.
  private let ownsGroup: Bool
  let clients: ServerClients
  private let storeTime: TimeAmount
  private let listeners = NIOLockedValueBox<[Listener]>([])
  private let isStopped = NIOLockedValueBox(false)

  private struct Listener {
    let channel: any Channel
    let file: UnixSocketFile?
  }

  /// - Parameters:
  ///   - adapters: the first one is for apps that name none. There must be at least one.
  ///   - apps: the apps that the server launches, and how it identifies those of clients.
  ///   - group: one thread, which outlives the server; nil: a thread that ends with the server.
  package init(
    _ adapters: [ServedAdapter], limits: ServerLimits = ServerLimits(), apps setup: AppsSetup = AppsSetup(),
    on group: MultiThreadedEventLoopGroup? = nil
  ) {
    ownsGroup = group == nil
    let group = group ?? MultiThreadedEventLoopGroup(numberOfThreads: 1)
    self.group = group
    storeTime = limits.storeTime
    let apps = ServerApps(adapters, setup, limits, on: group.next())
    clients = ServerClients(adapters, limits, apps)
    apps.gate.execute { apps.begin() }
  }

  // MARK: Listening

  /// Listens on a Unix socket. A stale socket file is replaced.
  ///
  /// - Parameter mode: who may connect, as in `chmod`.
  package func listen(atPath path: String, mode: mode_t = 0o660) throws(ServerError) {
    do {
      let file = try UnixSocketFile(path: path, mode: mode)
      do {
        listeners.append(Listener(channel: try bootstrap(nil).withBoundSocket(file.descriptor).wait(), file: file))
        noteSocketPath(URL(fileURLWithPath: path).path)
      } catch {
        file.remove()
        throw error
      }
    } catch {
      throw ServerError("can't listen at \(path): \(Self.text(error))")
    }
  }

  /// Listens on a socket that is bound and that another program has opened, such as systemd.
  ///
  /// - Parameter token: the token that clients must present, unless it is a Unix socket; nil: only a Unix socket can be
  ///   served.
  package func listen(on descriptor: CInt, token: [UInt8]?) throws(ServerError) {
    // The file of a Unix socket says who may connect. Whoever reaches another socket can.
    let isUnixSocket = Self.isUnixSocket(descriptor)
    guard isUnixSocket || token != nil else {
      throw ServerError(
        "can't listen on the descriptor \(descriptor): it is not a Unix socket, and there is no token for its clients "
          + "(--token-file)")
    }
    do {
      let listening = if let token, !isUnixSocket { networkBootstrap(token) } else { bootstrap(nil) }
      let channel = try listening.withBoundSocket(descriptor).wait()
      listeners.append(Listener(channel: channel, file: nil))
      if case .unixDomainSocket? = channel.localAddress, let path = channel.localAddress?.pathname {
        noteSocketPath(path)
      }
    } catch {
      throw ServerError("can't listen on the descriptor \(descriptor): \(Self.text(error))")
    }
  }

  /// Listens on TCP for clients that present `token`. Returns the port, which the system chooses if `port` is 0.
  package func listen(host: String, port: Int, token: [UInt8]) throws(ServerError) -> Int {
    do {
      let channel = try networkBootstrap(token).serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
        .bind(host: host, port: port).wait()
      listeners.append(Listener(channel: channel, file: nil))
      return channel.localAddress?.port ?? port
    } catch {
      throw ServerError("can't listen at \(host):\(port): \(Self.text(error))")
    }
  }

  /// Returns true for a socket with an address in the file system, or with an abstract one.
  private static func isUnixSocket(_ descriptor: CInt) -> Bool {
    var address = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let code = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
    }
    return code == 0 && CInt(address.ss_family) == AF_UNIX
  }

  /// Keeps the path of the first Unix socket for the apps that the server launches.
  private func noteSocketPath(_ path: String) {
    let clients = clients
    group.next().execute { if clients.apps.socketPath == nil { clients.apps.socketPath = path } }
  }

  private static func text(_ error: any Error) -> String {
    if let error = error as? TransportError { return error.description }
    if let error = error as? IOError { return TransportError.reason(error.errnoCode) }
    return "\(error)"
  }

  /// Returns the bootstrap of a socket on TCP.
  private func networkBootstrap(_ token: [UInt8]) -> ServerBootstrap {
    bootstrap(token).childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      .childChannelOption(.socketOption(.so_keepalive), value: 1)
  }

  private func bootstrap(_ token: [UInt8]?) -> ServerBootstrap {
    let clients = clients
    return ServerBootstrap(group: group).serverChannelOption(.backlog, value: 128)
      // Backs off while no descriptor is available.
      .serverChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(AcceptBackoffHandler())
        }
      }
      .childChannelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 32_768))
      .childChannelOption(.maxMessagesPerRead, value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(ServerConnection(clients, token: token))
        }
      }
  }

  // MARK: Clients

  /// The clients that are connected, in no order.
  package var connectedClients: [ClientIdentity] {
    let clients = clients
    return (try? group.next().submit { clients.identities }.wait()) ?? []
  }

  // MARK: The end

  /// Ends all connections, closes all sockets and removes their files. Apps see `resetting` until the server is back.
  ///
  /// Waits until the adapters have handled all requests, so that the decisions of users, and what is preserved for
  /// apps, are on the disk; at most for `ServerLimits.storeTime`, after which a line in the log names the adapters
  /// that have not.
  package func stop() {
    let wasStopped = isStopped.withLockedValue { isStopped in
      defer { isStopped = true }
      return isStopped
    }
    guard !wasStopped else { return }
    let all = listeners.withLockedValue { listeners in
      defer { listeners.removeAll() }
      return listeners
    }
    for listener in all {
      listener.file?.remove()
      try? listener.channel.close().wait()
    }
    let (clients, storeTime) = (clients, storeTime)
    let unfinished = try? group.next().flatSubmit { () -> EventLoopFuture<[String]> in
      clients.apps.end()
      clients.refuseAll()
      clients.log.end()
      return clients.apps.finish(within: storeTime)
    }.wait()
    for name in unfinished ?? [] {
      ServerLog.warn(
        "\(name): has not stored everything within \(storeTime.nanoseconds / 1_000_000_000) s; decisions about apps, "
          + "and what is preserved for them, may be lost")
    }
    clients.apps.gate.close()
    if ownsGroup { try? group.syncShutdownGracefully() }
  }
}

extension NIOLockedValueBox where Value: RangeReplaceableCollection {
  fileprivate func append(_ element: sending Value.Element) { withLockedValue { $0.append(element) } }
}
