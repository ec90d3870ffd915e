/// A remote device.
open class CBPeer: NSObject, NSCopying {
  private let peerIdentifier: UUID

  init(identifier: UUID) {
    peerIdentifier = identifier
    super.init()
  }

  /// Peers are made by the managers.
  @available(*, unavailable)
  public override init() { fatalError("CBPeer can't be created directly") }

  /// The same for the same device for as long as this machine knows it, and never its address.
  open var identifier: UUID { peerIdentifier }

  /// A peer is one device: the copy is the object itself.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  /// The property named `key`, as key-value coding answers on Apple's systems; nil, and one logged line, if there is
  /// none.
  open func value(forKey key: String) -> Any? {
    switch key {
    case "identifier": return identifier
    default: return Log.unknownKey(key, of: self)
    }
  }
}

/// An object's address as descriptions show it.
func addressText(of object: AnyObject) -> String {
  "0x" + String(UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque()), radix: 16)
}
