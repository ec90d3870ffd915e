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

  /// Whether this app may use Bluetooth. Always allowed here: nobody has to be asked.
  open class var authorization: CBManagerAuthorization { .allowedAlways }

  /// The old form of the class property.
  @available(*, deprecated, message: "use the class property")
  open var authorization: CBManagerAuthorization { Self.authorization }
}

/// What a manager is behind its face: confined to nothing, safe to call from everywhere.
protocol ManagerCore: AnyObject, Sendable {
  var managerState: CBManagerState { get }
}
