// Design: beside BlueZ
//
// - `bluetoothd` owns the controller, the bonds and the connections. This adapter takes the place of a daemon: it
//   answers the requests of sessions with calls of BlueZ's objects, as an ordinary client of the message bus.
// - `BlueZTree` is a copy of BlueZ's objects, which signals keep current. It is the only knowledge of devices and
//   attributes: a device's path stands for a peer, and the number in an attribute's path is its handle.
// - The link is shared with all programs of the machine. A session that cancels a connection ends the link only if no
//   other session of this process uses it.
// - The state of the adapter is that of `Adapter1.Powered`. Each other state drops what sessions have begun, as a daemon
//   drops it; so do the end of `bluetoothd` and the removal of the adapter.
// - `bluetoothd` asks an agent when devices pair, which this process is while it uses a link or has a service: see
//   `BlueZRunner+Pairing.swift`. L2CAP channels are sockets of the kernel: `BlueZRunner+Channels.swift`. Values without
//   responses come and go by sockets of BlueZ: `BlueZRunner+Sockets.swift`.
// - What BlueZ does not tell is refused with `SessionError.notSupported`: the table in Documentation/Beside-BlueZ.md.

import BluetoothDBus
import BluetoothDaemon
import BluetoothTransport
import BluetoothWire
import NIOCore

/// An adapter that `bluetoothd` owns and that this process shares with all programs of the machine.
package final class BlueZAdapter: DaemonAdapter, Sendable {
  package let directory = PeerDirectory()
  package var deliversInPlace: Bool { false }
  private let sessions = LocalSessions()
  private let executor: BlueZExecutor

  /// Creates the adapter, which connects and reconnects to the bus until the adapter is deallocated.
  ///
  /// - Parameters:
  ///   - adapter: the name of an adapter of BlueZ, such as `hci1`; nil: the first one.
  ///   - name: the name in the log.
  ///   - hiddenServices: the services of peers that apps don't see.
  ///   - prompts: answer the questions of BlueZ while this process uses a link or has a service.
  package init(
    _ adapter: String?, name: String, bus: DBusAddress, hiddenServices: [BluetoothUUID], prompts: any Prompts,
    on loop: any EventLoop
  ) {
    let executor = BlueZExecutor(loop: loop)
    self.executor = executor
    sessions.requests.setExecutor(executor)
    let (sessions, directory) = (sessions, directory)
    loop.execute {
      executor.begin(
        BlueZRunner(
          adapter, name: name, bus: bus, hiddenServices: hiddenServices, prompts: prompts, sessions: sessions,
          directory: directory, on: loop))
    }
  }

  deinit { executor.end() }

  package func absoluteTime() -> Double { WallClock.secondsSince2001 }

  package func openCentralSession(for client: any CentralClient, owner: SessionOwner?) -> CentralSession {
    CentralSession(client: client, owner: owner, in: sessions)
  }

  package func openPeripheralSession(for client: any PeripheralClient, owner: SessionOwner?) -> PeripheralSession {
    PeripheralSession(client: client, owner: owner, in: sessions)
  }
}

/// An executor that makes the event loop handle the requests of apps.
private final class BlueZExecutor: AdapterExecutor, @unchecked Sendable {
  private let loop: any EventLoop
  /// Accessed only on the loop.
  private var runner: BlueZRunner?

  init(loop: any EventLoop) { self.loop = loop }

  /// Starts the runner. Called on the loop.
  func begin(_ runner: BlueZRunner) {
    loop.preconditionInEventLoop()
    self.runner = runner
    runner.begin()
  }

  func wake() { loop.execute { self.runner?.pump() } }

  func end() {
    loop.execute { [self] in
      runner?.end()
      runner = nil
    }
  }
}
