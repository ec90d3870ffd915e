/// A remote device.
open class CBPeer: NSObject, NSCopying {
  /// The identifier; a subclass can override `identifier`.
  let storedIdentifier: UUID

  init(identifier: UUID) {
    storedIdentifier = identifier
    super.init()
  }

  /// Unavailable: the managers create peers.
  @available(*, unavailable)
  public override init() { fatalError("CBPeer can't be created directly") }

  /// The identifier of the device, constant for as long as this machine knows the device. It is not the device's
  /// address.
  open var identifier: UUID { storedIdentifier }

  /// Returns the object itself, because each object represents one device.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  /// Returns the property named `key`, as key-value coding does on Apple's systems. Returns nil and logs one line if
  /// there is none.
  open func value(forKey key: String) -> Any? {
    switch key {
    case "identifier": return identifier
    default: return Log.unknownKey(key, of: self)
    }
  }
}

/// Returns an object's memory address for descriptions.
func addressText(of object: AnyObject) -> String {
  "0x" + String(UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque()), radix: 16)
}
