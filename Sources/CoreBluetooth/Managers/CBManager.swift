import BluetoothDaemon
import Foundation

/// The base class of both managers.
open class CBManager: NSObject {
  private let core: any AnyManagerCore

  init(core: any AnyManagerCore) {
    self.core = core
    super.init()
  }

  /// Unavailable: create a `CBCentralManager` or a `CBPeripheralManager`.
  @available(*, unavailable)
  public override init() { fatalError("CBManager can't be created directly") }

  /// The state, `unknown` at first. The delegate is called on every change. Commands are accepted only in
  /// `poweredOn`.
  open var state: CBManagerState { core.managerState }

  /// The permission of this app to use Bluetooth, from the adapter selected last. Before the first manager exists, it
  /// is the one at the server that the environment names, whose answer is awaited for at most 1 s, and otherwise
  /// `allowedAlways`. It is also `allowedAlways` where no permission is required, which includes simulated devices
  /// unless their options say otherwise.
  open class var authorization: CBManagerAuthorization { CBManagerAuthorization(AdapterSelection.access) }

  /// The permission of this app to use this manager's adapter. Replaced by the class property.
  @available(*, deprecated, message: "use the class property")
  open var authorization: CBManagerAuthorization { CBManagerAuthorization(core.access) }

  /// Returns the property named `key`, as key-value coding does on Apple's systems. Returns nil and logs one line if
  /// there is none.
  open func value(forKey key: String) -> Any? {
    switch key {
    case "state": return state.rawValue
    default: return Log.unknownKey(key, of: self)
    }
  }
}

extension CBManagerAuthorization {
  init(_ access: AppAccess) {
    switch access {
    case .undetermined: self = .notDetermined
    case .denied: self = .denied
    case .allowed: self = .allowedAlways
    }
  }
}

/// The identity of a manager. Objects created by a manager keep its identity without retaining the manager.
final class ManagerIdentity: Sendable {}

/// The thread-safe implementation behind a manager. It is confined to no executor and can be called from any thread.
protocol AnyManagerCore: AnyObject, Sendable {
  var managerState: CBManagerState { get }
  /// The permission of apps to use the adapter.
  var access: AppAccess { get }
}
