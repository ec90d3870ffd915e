import BluetoothAdapters
import BluetoothDaemon
import Foundation
import NIOConcurrencyHelpers

/// Selects the adapter of a manager: from its option, else the default device of a world, else from the environment,
/// else the device of the process.
enum AdapterSelection {
  static let environmentVariable = "COREBLUETOOTH_ADAPTER"
  static let standard = "virtual"

  private struct Latest {
    weak var adapter: (any Adapter)?
  }

  private static let latest = NIOLockedValueBox(Latest())

  /// The permission of apps to use the adapter that was selected last; allowed if there is none.
  static var access: AppAccess { latest.withLockedValue { $0.adapter }?.directory.access ?? .allowed }

  /// The features of the adapter that was selected last; empty before its first `poweredOn`.
  static var features: AdapterFeatures { latest.withLockedValue { $0.adapter }?.directory.features ?? [] }

  /// Returns the adapter for a manager's options; nil, with one logged line, if no adapter is named.
  static func adapter(for options: [String: Any]?) -> (any Adapter)? {
    let adapter = find(options)
    if let adapter { latest.withLockedValue { $0.adapter = adapter } }
    return adapter
  }

  private static func find(_ options: [String: Any]?) -> (any Adapter)? {
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
      // Scripts set an empty value to unset the variable.
      guard let specifier = ProcessInfo.processInfo.environment[environmentVariable], !specifier.isEmpty else {
        noteSolitude()
        return adapter(named: standard, by: "the default")
      }
      return adapter(named: specifier, by: "the environment variable \(environmentVariable)")
    }
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
        + " BluetoothLab world the default (World.makeDefault), or name an adapter in \(environmentVariable), such as"
        + " tcp:HOST:PORT of \"ble air\" or hci:0")
  }

  private static func adapter(named specifier: String, by origin: String) -> (any Adapter)? {
    switch AdapterRegistry.adapter(for: specifier) {
    case .success(let adapter): return adapter
    case .failure(let error):
      Log.warning("no Bluetooth adapter: \(error) (selected by \(origin))")
      return nil
    }
  }
}
