import BluetoothAdapters
import BluetoothDaemon
import BluetoothTransport
import Foundation
import NIOConcurrencyHelpers

/// Selects the adapter of a manager: from its option, else the default device of a world, else from the environment (a
/// world file, else a specifier), else the first one that is known: in most programs the simulated one of the process.
enum AdapterSelection {
  private struct Latest {
    weak var adapter: (any DaemonAdapter)?
  }

  private static let latest = NIOLockedValueBox(Latest())

  /// The permission of apps to use the adapter that was selected last. If there is none, it is the one at the server
  /// that the environment names; allowed if it names none.
  static var access: AppAccess { latest.withLockedValue { $0.adapter }?.access ?? accessAtServer ?? .allowed }

  /// The permission of this app at the server that a manager without an option would use; nil: it would use another
  /// adapter.
  private static var accessAtServer: AppAccess? {
    guard DefaultAdapter.current == nil, variable(WorldFileAdapter.environmentVariable) == nil else { return nil }
    return variable(AdapterRegistry.environmentVariable).flatMap { AdapterRegistry.serverAccess(at: $0) }
  }

  /// The features of the adapter that was selected last; empty before its first `poweredOn`.
  static var features: AdapterFeatures { latest.withLockedValue { $0.adapter }?.directory.features ?? [] }

  /// Returns the adapter for a manager's options; nil, with one logged line, if no adapter is named.
  static func adapter(for options: [String: Any]?) -> (any DaemonAdapter)? {
    let adapter = find(options)
    if let adapter { latest.withLockedValue { $0.adapter = adapter } }
    return adapter
  }

  /// The adapters that are known without trying; see `AdapterRegistry.knownAdapters`.
  static var known: [any AdapterSpecifier] {
    AdapterRegistry.knownAdapters(named: variable(AdapterRegistry.environmentVariable))
  }

  private static func find(_ options: [String: Any]?) -> (any DaemonAdapter)? {
    switch options?[CBManagerOptionAdapterKey] {
    case let source as any AdapterSource: return source.adapter
    case let specifier as String: return adapter(named: specifier, by: "the option CBManagerOptionAdapterKey")
    case let other?:
      Log.misuse(
        "invalid CBManagerOptionAdapterKey of type \(type(of: other)): expected a specifier such as \"virtual\", or a"
          + " device of a BluetoothLab world")
      return nil
    case nil:
      if let adapter = DefaultAdapter.current { return adapter }
      if let path = variable(WorldFileAdapter.environmentVariable) {
        return checked(WorldFileAdapter.adapter(forFile: path), WorldFileAdapter.environmentVariable)
      }
      if let specifier = variable(AdapterRegistry.environmentVariable) {
        return adapter(named: specifier, by: "the environment variable \(AdapterRegistry.environmentVariable)")
      }
      guard let standard = AdapterRegistry.standard() else {
        Log.warning(
          "no Bluetooth adapter: this program has no simulated one, and Linux lists none; name one in"
            + " \(AdapterRegistry.environmentVariable): \(AdapterRegistry.forms())")
        return nil
      }
      if standard.kind == .simulated { noteSolitude() }
      return adapter(named: "\(standard)", by: "the default")
    }
  }

  /// The value of an environment variable; nil if it is not set or empty: scripts set an empty value to unset it.
  private static func variable(_ name: String) -> String? {
    let value = ProcessInfo.processInfo.environment[name] ?? ""
    return value.isEmpty ? nil : value
  }

  private static let solitudeWasLogged = NIOLockedValueBox(false)

  /// Logs, once in a process, that the manager is alone on its air.
  private static func noteSolitude() {
    let isFirst = solitudeWasLogged.withLockedValue { wasLogged in
      defer { wasLogged = true }
      return !wasLogged
    }
    guard isFirst else { return }
    Log.hint(
      "this program uses a simulated adapter with no other device in range. To meet devices, make a device of a"
        + " BluetoothLab world the default (World.makeDefault), name a world file in"
        + " \(WorldFileAdapter.environmentVariable), or name an adapter in"
        + " \(AdapterRegistry.environmentVariable), such as tcp:HOST:PORT of \"ble air\" or hci:0")
  }

  private static func adapter(named specifier: String, by origin: String) -> (any DaemonAdapter)? {
    checked(AdapterRegistry.adapter(for: specifier), origin)
  }

  /// Returns an adapter, or logs the reason why there is none.
  private static func checked(_ found: Result<any DaemonAdapter, AdapterError>, _ origin: String) -> (
    any DaemonAdapter
  )? {
    switch found {
    case .success(let adapter): return adapter
    case .failure(let error):
      Log.warning("no Bluetooth adapter: \(error) (selected by \(origin))")
      return nil
    }
  }
}
