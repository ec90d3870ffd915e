// Overview
//
// Programs on Linux speak BlueZ's D-Bus interface: bleak, bluetoothctl, Home Assistant, browsers. BluetoothBlueZ serves
// this interface (`org.bluez`) for adapters of this package, such as a device of a simulated world, so that unchanged
// programs meet them.
//
// The idea: the service is a client of the daemon, as a server of apps is. Each adapter has one central session and one
// peripheral session, whose commands and events become methods, properties and signals. Everything is pure state behind
// `BlueZBus`: tests have a bus that records, programs have `DBusBlueZBus` on a real one.
//
// Callers: `ble bluez` and `btserver --bluez`. The module calls the daemon by its sessions, BluetoothDBus for values and
// the bus, and NIO for the event loop.
//
// Invariants:
// - Everything runs on one event loop. Events of adapters on other threads are copied to it, in order (`SessionEnd`).
// - Changes of properties are announced before the answer to the call that has caused them (`ServerContext.reply`).
// - What a client holds ends with the client (`clientVanished`): discoveries, subscriptions, sockets, agents,
//   advertisements, applications, monitors.
// - Arguments of clients give an answer or an error by name, never a trap.
//
// Where to begin: this file, then `ExportedAdapter.swift`, `ExportedDevice.swift` and `RemoteDatabaseTree.swift`.
//
// Specification: doc/org.bluez.*.rst of BlueZ, and its sources where the pages leave a choice.

import BluetoothDBus
import BluetoothDaemon
import BluetoothTypes
import NIOCore

/// The service `org.bluez`. Confined to its event loop.
package final class BlueZServer: BusService, @unchecked Sendable {
  // Unchecked: all functions are called on the loop, except `init`.
  private var context: ServerContext!
  private var adapters: [ExportedAdapter] = []
  private let served: [ServedBlueZAdapter]
  private var readyHandlers: [() -> Void] = []

  /// - Parameters:
  ///   - adapters: the adapters, which become `hci0`, `hci1` and so on.
  ///   - loop: the loop that runs the service, and on which the bus calls it.
  package init(
    _ adapters: [ServedBlueZAdapter], on loop: any EventLoop, bus: any BlueZBus, version: BlueZVersion = .trixie
  ) {
    served = adapters
    context = ServerContext(self, on: loop, bus: bus, version: version)
  }

  /// Exports the objects, and opens the sessions.
  package func begin() {
    context.loop.preconditionInEventLoop()
    context.add([(BlueZInterface.agentManager, [:]), (BlueZInterface.profileManager, [:])], at: "/org/bluez")
    context.adapterChanged = { [weak self] in self?.tellReady() }
    adapters = served.enumerated().map { ExportedAdapter($1, number: $0, in: context) }
    for adapter in adapters { adapter.begin() }
    context.tree.flush()
  }

  /// Calls `handler` once when each adapter has told whether it is on.
  package func whenReady(_ handler: @escaping () -> Void) {
    context.loop.preconditionInEventLoop()
    readyHandlers.append(handler)
    tellReady()
  }

  private func tellReady() {
    guard adapters.allSatisfy(\.isKnown) else { return }
    let handlers = readyHandlers
    readyHandlers = []
    for handler in handlers { handler() }
  }

  /// Ends the sessions.
  package func stop() {
    context.loop.preconditionInEventLoop()
    context.adapterChanged = {}
    for adapter in adapters { adapter.stop() }
    adapters = []
  }

  /// The paths of all objects, sorted.
  package var paths: [String] { context.tree.paths }

  // MARK: Bus

  package func handle(_ call: BusCall, _ answer: BusAnswer) {
    context.loop.preconditionInEventLoop()
    if call.path == "/org/bluez" {
      return handleManager(call, answer)
    }
    guard context.tree.contains(call.path),
      let adapter = adapters.first(where: { call.path == $0.path || call.path.hasPrefix($0.path + "/") })
    else { return context.fail(answer, DBusError("org.freedesktop.DBus.Error.UnknownObject", "no such object")) }
    if call.path == adapter.path {
      adapter.handle(call, answer)
    } else if let device = adapter.device(at: call.path) {
      device.handle(call, answer)
    } else {
      context.fail(answer, .doesNotExist)
    }
    context.tree.flush()
  }

  private func handleManager(_ call: BusCall, _ answer: BusAnswer) {
    // There are no profiles of BR/EDR.
    guard call.interface == BlueZInterface.agentManager.name else { return context.fail(answer, .notSupported) }
    do throws(DBusError) {
      try context.agents.handle(call)
      for adapter in adapters { adapter.useCapability(of: nil) }
      context.watch(call.sender)
      context.reply(answer)
    } catch {
      context.fail(answer, error)
    }
  }

  package func property(_ name: String, of interface: String, at path: String) -> DBusValue? {
    context.tree.properties(of: interface, at: path)?[name]
  }

  package func setProperty(
    _ name: String, of interface: String, at path: String, to value: DBusValue, _ answer: BusAnswer
  ) {
    context.loop.preconditionInEventLoop()
    guard let adapter = adapters.first(where: { path == $0.path || path.hasPrefix($0.path + "/") }) else {
      return context.fail(answer, .doesNotExist)
    }
    if path == adapter.path {
      adapter.setProperty(name, to: value, answer)
    } else if let device = adapter.device(at: path) {
      device.setProperty(name, to: value, answer)
    } else {
      context.fail(answer, .doesNotExist)
    }
    context.tree.flush()
  }

  package func clientVanished(_ client: String) {
    context.loop.preconditionInEventLoop()
    for adapter in adapters { adapter.clientVanished(client) }
    context.forget(client)
    for adapter in adapters { adapter.useCapability(of: nil) }
  }

  package func received(_ signal: BusSignal) {
    context.loop.preconditionInEventLoop()
    for adapter in adapters {
      adapter.monitors.received(signal)
      adapter.peripheral.applications.received(signal)
    }
    context.tree.flush()
  }
}
