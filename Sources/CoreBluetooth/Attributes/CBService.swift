import BluetoothDaemon
import NIOConcurrencyHelpers

/// A service of a peer, or a local one.
open class CBService: CBAttribute {
  struct Content {
    weak var peripheral: CBPeripheral?
    var includedServices: [CBService]?
    var characteristics: [CBCharacteristic]?
    /// The manager that has published a local service.
    var publisher: ManagerIdentity?
  }

  let content: NIOLockedValueBox<Content>
  private let primary: Bool

  init(uuid: CBUUID, isPrimary: Bool, remoteID: RemoteAttributeID? = nil, peripheral: CBPeripheral? = nil) {
    primary = isPrimary
    content = NIOLockedValueBox(Content(peripheral: peripheral))
    super.init(uuid: uuid, remoteID: remoteID)
  }

  override var owner: CBPeripheral? { content.withLockedValue { $0.peripheral } }

  /// Whose service it is; nil for a local one, and when the peripheral was released.
  open var peripheral: CBPeripheral? { content.withLockedValue { $0.peripheral } }

  /// Primary, else secondary.
  open var isPrimary: Bool { primary }

  /// The services that this one includes, as far as they were discovered; nil before.
  open var includedServices: [CBService]? { content.withLockedValue { $0.includedServices } }

  /// The characteristics, as far as they were discovered; nil before.
  open var characteristics: [CBCharacteristic]? { content.withLockedValue { $0.characteristics } }

  open override func value(forKey key: String) -> Any? {
    switch key {
    case "peripheral": return peripheral
    case "isPrimary": return isPrimary
    case "includedServices": return includedServices
    case "characteristics": return characteristics
    default: return super.value(forKey: key)
    }
  }

  open override var description: String {
    "<\(Swift.type(of: self)): \(addressText(of: self)), isPrimary = \(isPrimary ? "YES" : "NO"), UUID = \(uuid)>"
  }
}

/// A service for `CBPeripheralManager.add(_:)`. What is changed after that has no effect on what centrals see.
open class CBMutableService: CBService {
  /// A service of type `UUID` without characteristics.
  public init(type UUID: CBUUID, primary isPrimary: Bool) {
    super.init(uuid: UUID, isPrimary: isPrimary)
  }

  /// The services to include: they must be added to the manager before this one.
  open override var includedServices: [CBService]? {
    get { super.includedServices }
    set { content.withLockedValue { $0.includedServices = newValue } }
  }

  /// The characteristics, `CBMutableCharacteristic`s all.
  open override var characteristics: [CBCharacteristic]? {
    get { super.characteristics }
    set {
      content.withLockedValue { $0.characteristics = newValue }
      for characteristic in newValue ?? [] { characteristic.content.withLockedValue { $0.service = self } }
    }
  }
}
