import BluetoothDaemon
import NIOConcurrencyHelpers

/// A characteristic of a remote peripheral, or a local one.
open class CBCharacteristic: CBAttribute {
  struct Content {
    weak var service: CBService?
    var properties: CBCharacteristicProperties
    var value: Data?
    /// True if `value` came with the response to a read, false if with a notification or an indication.
    var isValueOfRead = false
    var descriptors: [CBDescriptor]?
    var isNotifying = false
    // Local characteristics only.
    var permissions: CBAttributePermissions = []
    var subscribedCentrals: [CBCentral] = []
    /// The manager that has published the characteristic.
    var publisher: ManagerIdentity?
  }

  let content: NIOLockedValueBox<Content>

  init(uuid: CBUUID, content: Content, remoteID: RemoteAttributeID? = nil) {
    self.content = NIOLockedValueBox(content)
    super.init(uuid: uuid, remoteID: remoteID)
  }

  override var owner: CBPeripheral? { content.withLockedValue { $0.service }?.owner }

  /// The service that contains the characteristic; nil once it has been released.
  open var service: CBService? { content.withLockedValue { $0.service } }

  /// The operations that the characteristic declares. The peer may still reject them.
  open var properties: CBCharacteristicProperties { content.withLockedValue { $0.properties } }

  /// The value last read or notified; nil before. Writing does not change it.
  open var value: Data? { content.withLockedValue { $0.value } }

  /// True if `value` came with the response to a read, false if with a notification or an indication. Apple's API does
  /// not tell them apart.
  package var isValueOfRead: Bool { content.withLockedValue { $0.isValueOfRead } }

  /// The descriptors discovered so far; nil before the first discovery.
  open var descriptors: [CBDescriptor]? { content.withLockedValue { $0.descriptors } }

  /// Always false: apps can't configure broadcasts.
  @available(*, deprecated)
  open var isBroadcasted: Bool { false }

  /// True while notifications or indications are enabled.
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

/// A local characteristic for a `CBMutableService`. Changes after the service has been added do not affect what
/// centrals see.
open class CBMutableCharacteristic: CBCharacteristic {
  /// Creates a characteristic. With a `value` it is static: the system answers reads, and
  /// `CBPeripheralManager.add(_:)` stops the program if other operations than reading are allowed. Without a `value`
  /// the delegate answers each request.
  public init(
    type UUID: CBUUID, properties: CBCharacteristicProperties, value: Data?, permissions: CBAttributePermissions
  ) {
    super.init(uuid: UUID, content: Content(properties: properties, value: value, permissions: permissions))
  }

  /// The access permissions of the value.
  open var permissions: CBAttributePermissions {
    get { content.withLockedValue { $0.permissions } }
    set { content.withLockedValue { $0.permissions = newValue } }
  }

  /// The centrals that have enabled notifications or indications.
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
