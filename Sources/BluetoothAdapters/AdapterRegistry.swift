// Overview
//
// A manager names its adapter by a specifier such as `hci:0`. BluetoothAdapters finds or makes the adapter, and runs
// what is behind it: a simulated device, a host and a daemon on a transport, or a connection to a daemon in another
// process.
//
// The idea: an `Adapter` (BluetoothDaemon) is all that CoreBluetooth knows, and each kind of adapter has a runner that
// feeds its daemon:
// - `virtual`: `RealTimeDevice`, one device in a world of its own, in real time;
// - `tcp:`, `unix:`, `serial:`, `hci:`: `TransportAdapter` with a `TransportRunner`, on an event loop;
// - `server:`: `ServerAdapter` with a `ServerRunner`, which takes the requests of the sessions in place of a daemon.
//
// Callers: CoreBluetooth's `AdapterSelection` asks for the adapter of a manager, and the programs list the adapters
// (`AdapterList.swift`). The module calls the daemon, the transports, the simulation, the bonds on disk and the
// protocol of the server.
//
// Invariants:
// - A specifier always gives the same object, so all managers of a process that name it share one daemon.
// - A runner is confined to its event loop. A request wakes the loop once for all that arrive before they are
//   processed.
// - A lost connection never ends the adapter: apps see `resetting`, or `unsupported` if a person must fix the cause,
//   and the runner tries again without limit (`ReconnectBackoff.swift`).
// - An adapter with a transport asks the user at the terminal, unless `COREBLUETOOTH_PROMPTS` says otherwise.
// - The module has no rule of the daemon: it moves packets, requests and time.
//
// Where to begin: this file, then `TransportRunner.swift` for controllers and `ServerRunner.swift` for servers;
// `TerminalPrompts.swift` for questions; `WorldFileAdapter.swift` for the place in which CoreBluetoothWorld registers.
//
// Specification: none. Documentation/Adapters.md is for users.

import BluetoothDaemon
import BluetoothTransport
import NIOConcurrencyHelpers

/// An object that provides an adapter, such as a device of a world. Apps pass the object to a manager in place of a
/// specifier.
package protocol AdapterSource: AnyObject {
  var adapter: any Adapter { get }
}

/// The adapters of this process, by specifier.
package enum AdapterRegistry {
  /// The valid forms of specifiers, for messages.
  package static let forms =
    "virtual, tcp:HOST:PORT, unix:PATH, serial:DEVICE[,BAUD][,h5], hci:N,"
    + " server[:PATH][,NAME]"

  /// True if the adapters with external controllers connect by themselves to bonded input devices, as the system of a
  /// computer does. A tool that looks at devices turns it off before it uses an adapter.
  package static let reconnectsInputDevices = NIOLockedValueBox(true)

  /// The device for the specifier `virtual`, created when a manager first uses this specifier.
  private static let ownDevice = RealTimeDevice(name: "virtual")

  /// The adapters with external controllers. They reconnect to their controllers until the process ends.
  private static let transportAdapters = TransportAdapterTable { TransportAdapter($0) }

  /// The adapters of other processes. They reconnect to their servers until the process ends.
  private static let serverAdapters = ServerAdapterTable()

  /// True if `specifier` is meant to name the adapter of a server.
  private static func isServer(_ specifier: String) -> Bool {
    specifier.prefix { $0 != ":" } == "server" || specifier.hasPrefix("server,")
  }

  /// Returns the permission of this app at the server that `specifier` names. Blocks until the server has answered, for
  /// at most 1 s; nil: it names no server.
  package static func serverAccess(at specifier: String) -> AppAccess? {
    guard isServer(specifier), case .success(let found) = adapter(for: specifier) else { return nil }
    return (found as? ServerAdapter)?.toldAccess()
  }

  /// Returns the adapter that `specifier` names: always the same object for the same specifier.
  package static func adapter(for specifier: String) -> Result<any Adapter, AdapterError> {
    let scheme = specifier.prefix { $0 != ":" }
    switch scheme {
    case "virtual" where specifier == "virtual":
      return .success(ownDevice.adapter)
    case _ where isServer(specifier):
      return serverAdapters.adapter(for: specifier)
    case _ where TransportSpecifier.schemes.contains(String(scheme)):
      return transportAdapters.adapter(for: specifier)
    default:
      return .failure(
        AdapterError(description: "unknown adapter \"\(specifier)\": expected one of: \(forms)"))
    }
  }
}

/// The adapters with external controllers, by transport specifier. Each adapter is created at its first use.
final class TransportAdapterTable: Sendable {
  private let make: @Sendable (TransportSpecifier) -> TransportAdapter
  private let adapters = NIOLockedValueBox<[TransportSpecifier: TransportAdapter]>([:])

  init(make: @escaping @Sendable (TransportSpecifier) -> TransportAdapter) { self.make = make }

  func adapter(for text: String) -> Result<any Adapter, AdapterError> {
    do throws(TransportSpecifier.Problem) {
      let specifier = try TransportSpecifier(text)
      return .success(
        adapters.withLockedValue { adapters in
          if let adapter = adapters[specifier] { return adapter }
          let adapter = make(specifier)
          adapters[specifier] = adapter
          return adapter
        })
    } catch {
      return .failure(AdapterError(description: "invalid adapter \"\(text)\": \(error)"))
    }
  }
}
