import BluetoothDaemon

/// The base class of services, characteristics and descriptors.
open class CBAttribute: NSObject {
  private let type: CBUUID
  /// The daemon's identifier of a remote attribute; nil for a local one.
  let remoteID: RemoteAttributeID?

  /// The handle that a local attribute gets when its service is added; nil: the next one. For CoreBluetoothExtras.
  package final var fixedHandle: UInt16?

  init(uuid: CBUUID, remoteID: RemoteAttributeID? = nil) {
    type = uuid
    self.remoteID = remoteID
    super.init()
  }

  /// Unavailable: only subclasses create attributes.
  @available(*, unavailable)
  public override init() { fatalError("CBAttribute can't be created directly") }

  /// The handle of a remote attribute; nil for a local one.
  package var attributeHandle: UInt16? { remoteID?.handle }

  /// The peripheral that a remote attribute belongs to; nil once an object between them has been released.
  var owner: CBPeripheral? { nil }

  /// The attribute's type.
  open var uuid: CBUUID { type }

  /// Returns the property named `key`, as key-value coding does on Apple's systems. Returns nil and logs one line if
  /// there is none.
  open func value(forKey key: String) -> Any? {
    switch key {
    case "uuid", "UUID": return uuid
    default: return Log.unknownKey(key, of: self)
    }
  }
}
