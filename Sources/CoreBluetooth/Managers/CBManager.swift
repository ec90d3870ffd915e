import BluetoothDaemon
import Foundation

/// What both managers have in common.
open class CBManager: NSObject {
  private let core: any ManagerCore

  init(core: any ManagerCore) {
    self.core = core
    super.init()
  }

  /// A manager is a central or a peripheral.
  @available(*, unavailable)
  public override init() { fatalError("CBManager can't be created directly") }

  /// `unknown` at first; the delegate is told of every change. Commands are accepted in `poweredOn` only.
  open var state: CBManagerState { core.managerState }

  /// Whether this app may use Bluetooth: the adapter of the manager that was made last, so that there is no answer but
  /// `allowedAlways` before the first one. `allowedAlways` also where nobody has to be asked, which includes the simulated
  /// air unless a device of a world says otherwise.
  open class var authorization: CBManagerAuthorization { CBManagerAuthorization(AdapterSelection.access) }

  /// The old form of the class property: for this manager's adapter.
  @available(*, deprecated, message: "use the class property")
  open var authorization: CBManagerAuthorization { CBManagerAuthorization(core.access) }
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

/// Tells the managers of a process apart. Objects that a manager makes keep its identity without keeping the manager.
final class ManagerIdentity: Sendable {}

/// What a manager is behind its face: confined to nothing, safe to call from everywhere.
protocol ManagerCore: AnyObject, Sendable {
  var managerState: CBManagerState { get }
  /// What apps may do with its adapter.
  var access: AppAccess { get }
}
