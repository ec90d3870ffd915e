// Overview
//
// A manager names its adapter by a specifier such as `hci:0`. BluetoothAdapters finds or makes the adapter, and runs
// what is behind it: a simulated device, a host and a daemon on a transport, or a connection to a daemon in another
// process.
//
// The idea: a `DaemonAdapter` (BluetoothDaemon) is all that CoreBluetooth knows, and each kind of adapter has a runner
// that feeds its daemon:
// - `virtual`: `RealTimeDevice`, one device in a world of its own, in real time;
// - `tcp:`, `unix:`, `serial:`, `hci:`: `TransportAdapter` with a `TransportRunner`, on an event loop;
// - `server:`: BluetoothDaemonProtocol's `ServerAdapter`, which takes the requests of the sessions in place of a daemon;
// - `bluez`: `BlueZAdapter` in the folder BlueZ, which takes them in place of a daemon, too, and calls `bluetoothd`.
//
// Each kind is an `AdapterScheme`, of which `AdapterRegistry` has the one list: how its specifiers are read and
// described, what the machine must have, and how its adapters are made. A build without the trait `AllAdapters`
// has neither `virtual` nor `server`, nor the modules behind them.
//
// Callers: CoreBluetooth's `AdapterSelection` asks for the adapter of a manager, and the programs list the adapters.
// The module calls the daemon, the transports, the simulation, the bonds on disk and the protocol of the server.
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
// Where to begin: this file and `AdapterScheme.swift`, then `TransportRunner.swift` for controllers;
// `TerminalPrompts.swift` for questions; `WorldFileAdapter.swift` for the place in which CoreBluetoothWorld registers.
//
// Specification: none. Documentation/Adapters.md is for users.

import BluetoothCrypto
import BluetoothDaemon
import BluetoothTransport
import NIOConcurrencyHelpers

/// An object that provides an adapter, such as a device of a world. Apps pass the object to a manager in place of a
/// specifier.
package protocol AdapterSource: AnyObject {
  var adapter: any DaemonAdapter { get }
}

/// The kinds of adapters, and the adapters of this process, by specifier.
package enum AdapterRegistry {
  /// The environment variable with the specifier for managers that name no adapter.
  package static let environmentVariable = "COREBLUETOOTH_ADAPTER"

  /// The schemes of this module, in the order of help and documentation. Those with a condition are in builds with
  /// the trait of that name.
  static let ownSchemes: [any AdapterScheme] = {
    var schemes: [any AdapterScheme] = []
    #if AllAdapters
      schemes.append(VirtualScheme())
    #endif
    schemes += TransportSpecifier.Scheme.allCases.map { $0 as any AdapterScheme }
    #if AllAdapters
      schemes.append(ServerScheme())
    #endif
    schemes.append(BlueZScheme())
    return schemes
  }()
  /// The schemes that other products have added.
  private static let addedSchemes = NIOLockedValueBox<[any AdapterScheme]>([])

  /// All schemes.
  package static var schemes: [any AdapterScheme] { ownSchemes + addedSchemes.withLockedValue { $0 } }

  /// Adds a scheme of another product. Called when the program starts.
  package static func register(_ scheme: any AdapterScheme) { addedSchemes.withLockedValue { $0.append(scheme) } }

  /// Returns the valid forms of specifiers, for messages and help.
  package static func forms(of schemes: [any AdapterScheme] = schemes) -> String {
    schemes.map(\.form.syntax).joined(separator: ", ")
  }

  /// Reads a specifier.
  ///
  /// - Parameter schemes: the kinds of adapters that are accepted.
  package static func specifier(
    _ text: String, of schemes: [any AdapterScheme] = schemes
  ) throws(SpecifierProblem) -> any AdapterSpecifier {
    let name = text.prefix { $0 != ":" && $0 != "," }
    guard let scheme = schemes.first(where: { $0.name == name }) else {
      throw SpecifierProblem(description: "expected one of: \(forms(of: schemes))", hasUnknownScheme: true)
    }
    return try scheme.read(text)
  }

  /// The adapters in use. They reconnect to their controllers and servers until the process ends.
  private static let adapters = AdapterTable()

  /// Returns the permission of this app at the server that `specifier` names. Blocks until the server has answered, for
  /// at most 1 s; nil: it names no server.
  package static func serverAccess(at text: String) -> AppAccess? {
    guard (try? specifier(text))?.kind == .server, case .success(let found) = adapter(for: text) else { return nil }
    return found.toldAccess(within: 1)
  }

  /// Returns the adapter that `specifier` names: always the same object for the same specifier.
  ///
  /// - Parameter context: the settings with which the adapter is made, if it is not in use yet.
  package static func adapter(
    for specifier: String, _ context: AdapterContext = AdapterContext()
  ) -> Result<any DaemonAdapter, AdapterError> {
    adapters.adapter(for: specifier, context)
  }

  /// Returns the adapter of managers that name none: the first one that is known without trying; nil: none is known.
  package static func standard(
    of schemes: [any AdapterScheme] = schemes, on machine: Machine = Machine()
  ) -> (any AdapterSpecifier)? {
    schemes.lazy.compactMap { $0.knownAdapters(of: machine).first }.first
  }

  /// Returns the adapters that are known without trying: `virtual`, those of Linux, and `named`, if it is valid and not
  /// among them.
  ///
  /// - Parameter named: the value of an environment variable; nil: none.
  package static func knownAdapters(named: String? = nil, of machine: Machine = Machine()) -> [any AdapterSpecifier] {
    var result = schemes.flatMap { $0.knownAdapters(of: machine) }
    if let named, let specifier = try? specifier(named), !result.contains(where: { "\($0)" == "\(specifier)" }) {
      result.append(specifier)
    }
    return result
  }
}

/// Adapters by specifier. Each is made at its first use.
final class AdapterTable: Sendable {
  private let adapters = NIOLockedValueBox<[String: any DaemonAdapter]>([:])

  func adapter(for text: String, _ context: AdapterContext) -> Result<any DaemonAdapter, AdapterError> {
    let specifier: any AdapterSpecifier
    do throws(SpecifierProblem) { specifier = try AdapterRegistry.specifier(text) } catch {
      return .failure(AdapterError(error, in: text))
    }
    // A server encrypts for its clients. Beside BlueZ, the identifiers of peers are made with the library.
    if specifier.kind != .server || specifier is BlueZSpecifier {
      do throws(MissingCryptoLibrary) { _ = try CryptoLibrary.version() } catch {
        return .failure(AdapterError(description: error.description))
      }
    }
    return adapters.withLockedValue { adapters in
      if let adapter = adapters["\(specifier)"] { return .success(adapter) }
      do throws(AdapterError) {
        let adapter = try specifier.makeAdapter(context)
        adapters["\(specifier)"] = adapter
        return .success(adapter)
      } catch { return .failure(error) }
    }
  }
}
