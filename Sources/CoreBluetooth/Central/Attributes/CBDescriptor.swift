import BluetoothDaemon
import BluetoothWire
import NIOConcurrencyHelpers

/// A descriptor of a remote characteristic, or a local one.
open class CBDescriptor: CBAttribute {
  struct Content {
    weak var characteristic: CBCharacteristic?
    var value: Any?
  }

  let content: NIOLockedValueBox<Content>

  init(uuid: CBUUID, content: Content, remoteID: RemoteAttributeID? = nil) {
    self.content = NIOLockedValueBox(content)
    super.init(uuid: uuid, remoteID: remoteID)
  }

  override var owner: CBPeripheral? { content.withLockedValue { $0.characteristic }?.owner }

  /// The characteristic that contains the descriptor; nil once it has been released.
  open var characteristic: CBCharacteristic? { content.withLockedValue { $0.characteristic } }

  /// The value last read, nil before: an `NSNumber` for 0x2900, 0x2902 and 0x2903, a `String` for 0x2901, otherwise a
  /// `Data`.
  open var value: Any? { content.withLockedValue { $0.value } }

  open override func value(forKey key: String) -> Any? {
    switch key {
    case "characteristic": return characteristic
    case "value": return value
    default: return super.value(forKey: key)
    }
  }

  open override var description: String {
    "<\(Swift.type(of: self)): \(addressText(of: self)), UUID = \(uuid), value = \(value.map { "\($0)" } ?? "(null)")>"
  }

  /// Converts the octets of a descriptor of type `uuid` to the value that apps get.
  static func value(of octets: Data, for uuid: BluetoothUUID) -> Any {
    switch uuid {
    case .extendedProperties, .clientConfiguration, .serverConfiguration:
      return NSNumber(value: octets.prefix(2).reversed().reduce(UInt16(0)) { $0 << 8 | UInt16($1) })
    case .userDescription: return String(received: octets)
    default: return octets
    }
  }
}

/// A local descriptor for a `CBMutableCharacteristic`: a user description or a presentation format. The system
/// provides all other descriptors.
open class CBMutableDescriptor: CBDescriptor {
  /// Creates a descriptor of type 0x2901 with a `String`, or of type 0x2904 with a `Data`. Any other type or value
  /// stops the program.
  public init(type UUID: CBUUID, value: Any?) {
    switch UUID.wire {
    case .userDescription:
      if !(value is String) { raise("Expecting NSString value type for User Description descriptor") }
    case .presentationFormat:
      if !(value is Data) { raise("Expecting NSData value type for Format descriptor") }
    default: raise("Descriptors with UUID \(UUID.uuidString) are not supported")
    }
    super.init(uuid: UUID, content: Content(value: value))
  }

  /// Creates a descriptor of any type, for CoreBluetoothExtras.
  package init(anyType uuid: CBUUID, value: Any) { super.init(uuid: uuid, content: Content(value: value)) }

  /// The value that centrals read.
  var octets: Data {
    switch value {
    case let text as String: return Data(text.utf8)
    case let data as Data: return data
    default: return Data()
    }
  }
}

// The UUIDs used by this module · Assigned Numbers, 3.7.
extension BluetoothUUID {
  static let extendedProperties: BluetoothUUID = 0x2900
  static let userDescription: BluetoothUUID = 0x2901
  static let clientConfiguration: BluetoothUUID = 0x2902
  static let serverConfiguration: BluetoothUUID = 0x2903
  static let presentationFormat: BluetoothUUID = 0x2904
}
