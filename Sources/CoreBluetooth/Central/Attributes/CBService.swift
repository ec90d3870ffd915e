import BluetoothDaemon
import NIOConcurrencyHelpers

/// A service of a remote peripheral, or a local one.
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

  /// The peripheral that contains the service; nil for a local service, and once the peripheral has been released.
  open var peripheral: CBPeripheral? { content.withLockedValue { $0.peripheral } }

  /// True for a primary service, false for a secondary one.
  open var isPrimary: Bool { primary }

  /// The included services discovered so far; nil before the first discovery.
  open var includedServices: [CBService]? { content.withLockedValue { $0.includedServices } }

  /// The characteristics discovered so far; nil before the first discovery.
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

/// A local service for `CBPeripheralManager.add(_:)`. Changes after it has been added do not affect what centrals
/// see.
open class CBMutableService: CBService {
  /// Creates a service of type `UUID` without characteristics.
  public init(type UUID: CBUUID, primary isPrimary: Bool) {
    super.init(uuid: UUID, isPrimary: isPrimary)
  }

  /// The included services. They must be added to the manager before this service.
  open override var includedServices: [CBService]? {
    get { super.includedServices }
    set { content.withLockedValue { $0.includedServices = newValue } }
  }

  /// The characteristics, all of them `CBMutableCharacteristic`s.
  open override var characteristics: [CBCharacteristic]? {
    get { super.characteristics }
    set {
      content.withLockedValue { $0.characteristics = newValue }
      for characteristic in newValue ?? [] { characteristic.content.withLockedValue { $0.service = self } }
    }
  }
}
