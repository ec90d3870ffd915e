import BluetoothDaemon
import NIOConcurrencyHelpers

/// A characteristic of a peer, or a local one.
open class CBCharacteristic: CBAttribute {
  struct Content {
    weak var service: CBService?
    var properties: CBCharacteristicProperties
    var value: Data?
    var descriptors: [CBDescriptor]?
    var isNotifying = false
    // Local ones only.
    var permissions: CBAttributePermissions = []
    var subscribedCentrals: [CBCentral] = []
    /// The manager that has published it.
    var publisher: ManagerIdentity?
  }

  let content: NIOLockedValueBox<Content>

  init(uuid: CBUUID, content: Content, remoteID: RemoteAttributeID? = nil) {
    self.content = NIOLockedValueBox(content)
    super.init(uuid: uuid, remoteID: remoteID)
  }

  override var owner: CBPeripheral? { content.withLockedValue { $0.service }?.owner }

  /// Whose characteristic it is; nil once that was released.
  open var service: CBService? { content.withLockedValue { $0.service } }

  /// What can be done with it; advice, for the peer decides.
  open var properties: CBCharacteristicProperties { content.withLockedValue { $0.properties } }

  /// What was read or notified last; nil before. A write does not change it.
  open var value: Data? { content.withLockedValue { $0.value } }

  /// The descriptors, as far as they were discovered; nil before.
  open var descriptors: [CBDescriptor]? { content.withLockedValue { $0.descriptors } }

  /// Always false: broadcasting was never there for apps.
  @available(*, deprecated)
  open var isBroadcasted: Bool { false }

  /// Whether its notifications or indications are on.
  open var isNotifying: Bool { content.withLockedValue { $0.isNotifying } }

  open override func value(forKey key: String) -> Any? {
    switch key {
    case "service": return service
    case "properties": return properties.rawValue
    case "value": return value
    case "descriptors": return descriptors
    case "isNotifying": return isNotifying
    default: return super.value(forKey: key)
    }
  }

  open override var description: String {
    let octets = value.map { "{length = \($0.count)}" } ?? "(null)"
    return "<\(Swift.type(of: self)): \(addressText(of: self)), UUID = \(uuid), properties = "
      + "0x\(String(properties.rawValue, radix: 16, uppercase: true)), value = \(octets), "
      + "notifying = \(isNotifying ? "YES" : "NO")>"
  }
}

/// A characteristic for a `CBMutableService`. What is changed after that was added has no effect on what centrals see.
open class CBMutableCharacteristic: CBCharacteristic {
  /// A characteristic. With a `value` it is static: the system answers reads, and `CBPeripheralManager.add(_:)` stops
  /// the program if more than reading is allowed. Without one the delegate is asked each time.
  public init(
    type UUID: CBUUID, properties: CBCharacteristicProperties, value: Data?, permissions: CBAttributePermissions
  ) {
    super.init(uuid: UUID, content: Content(properties: properties, value: value, permissions: permissions))
  }

  /// Who may read and write the value.
  open var permissions: CBAttributePermissions {
    get { content.withLockedValue { $0.permissions } }
    set { content.withLockedValue { $0.permissions = newValue } }
  }

  /// The centrals that have notifications or indications on.
  open var subscribedCentrals: [CBCentral]? { content.withLockedValue { $0.subscribedCentrals } }

  open override var properties: CBCharacteristicProperties {
    get { super.properties }
    set { content.withLockedValue { $0.properties = newValue } }
  }

  open override var value: Data? {
    get { super.value }
    set { content.withLockedValue { $0.value = newValue } }
  }

  open override var descriptors: [CBDescriptor]? {
    get { super.descriptors }
    set {
      content.withLockedValue { $0.descriptors = newValue }
      for descriptor in newValue ?? [] { descriptor.content.withLockedValue { $0.characteristic = self } }
    }
  }
}
