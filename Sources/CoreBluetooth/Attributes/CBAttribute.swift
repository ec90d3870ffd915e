import BluetoothDaemon

/// What services, characteristics and descriptors have in common.
open class CBAttribute: NSObject {
  private let type: CBUUID
  /// What the service calls this attribute of a peer; nil: it is a local one.
  let remoteID: RemoteAttributeID?

  init(uuid: CBUUID, remoteID: RemoteAttributeID? = nil) {
    type = uuid
    self.remoteID = remoteID
    super.init()
  }

  /// Attributes are found or made by their own classes' initializers.
  @available(*, unavailable)
  public override init() { fatalError("CBAttribute can't be created directly") }

  /// The peripheral that a remote attribute belongs to; nil once an object between the two was released.
  var owner: CBPeripheral? { nil }

  /// The attribute's type.
  open var uuid: CBUUID { type }

  /// The property named `key`, as key-value coding answers on Apple's systems; nil, and one logged line, if there is
  /// none.
  open func value(forKey key: String) -> Any? {
    switch key {
    case "uuid", "UUID": return uuid
    default: return Log.unknownKey(key, of: self)
    }
  }
}
