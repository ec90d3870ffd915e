import BluetoothWire

/// A service for the local database, as it is to be.
package struct GATTServiceDefinition: Sendable {
  package var uuid: BluetoothUUID
  package var isPrimary: Bool
  /// Declarations of services that are in the database already.
  package var includes: [AttributeHandle]
  package var characteristics: [GATTCharacteristicDefinition]
  package init(
    uuid: BluetoothUUID, isPrimary: Bool, includes: [AttributeHandle], characteristics: [GATTCharacteristicDefinition]
  ) {
    self.uuid = uuid
    self.isPrimary = isPrimary
    self.includes = includes
    self.characteristics = characteristics
  }
}

package struct GATTCharacteristicDefinition: Sendable {
  package var uuid: BluetoothUUID
  /// The database sets `extendedProperties` itself where there are some.
  package var properties: GATTProperties
  package var extendedProperties: GATTExtendedProperties
  package var permissions: GATTPermissions
  /// The shortest encryption key, 7 to 16 octets, with which the value may be accessed; 0: no matter.
  package var minimumKeySize: UInt8
  /// The value that the database serves itself; nil: the service above is asked for each read and write.
  package var value: ByteSlice?
  /// How many octets the value may have; a write of another length is refused.
  package var lengths: ClosedRange<Int>
  /// Subscribing needs an encrypted link.
  package var subscriptionNeedsEncryption: Bool
  /// Besides those that the database adds itself where they are due: Client and Server Characteristic Configuration, and
  /// Characteristic Extended Properties.
  package var descriptors: [GATTDescriptorDefinition]

  package init(
    uuid: BluetoothUUID, properties: GATTProperties, extendedProperties: GATTExtendedProperties = [],
    permissions: GATTPermissions, minimumKeySize: UInt8 = 0, value: ByteSlice?,
    lengths: ClosedRange<Int> = 0...ATT.maximumValueLength, subscriptionNeedsEncryption: Bool = false,
    descriptors: [GATTDescriptorDefinition] = []
  ) {
    self.uuid = uuid
    self.properties = properties
    self.extendedProperties = extendedProperties
    self.permissions = permissions
    self.minimumKeySize = minimumKeySize
    self.value = value
    self.lengths = lengths
    self.subscriptionNeedsEncryption = subscriptionNeedsEncryption
    self.descriptors = descriptors
  }
}

/// A descriptor that the database does not add by itself.
package struct GATTDescriptorDefinition: Sendable {
  package enum Content: Sendable {
    /// The value that the database serves itself.
    case stored(ByteSlice)
    /// The service above is asked for each read and write.
    case dynamic
    /// The handles of these Characteristic Presentation Formats of the same service, in this order: the value of a
    /// Characteristic Aggregate Format · Vol 3, Part G, 3.3.3.6.
    case formats([GATTDescriptorPath])
  }

  package var uuid: BluetoothUUID
  package var content: Content
  /// A Characteristic User Description may be writable only where the characteristic has Writable Auxiliaries; other
  /// descriptors of the specification are never · Vol 3, Part G, 3.3.3.
  package var permissions: GATTPermissions
  /// How many octets the value may have; a write of another length is refused.
  package var lengths: ClosedRange<Int>

  package init(
    uuid: BluetoothUUID, content: Content, permissions: GATTPermissions = .readable,
    lengths: ClosedRange<Int> = 0...ATT.maximumValueLength
  ) {
    self.uuid = uuid
    self.content = content
    self.permissions = permissions
    self.lengths = lengths
  }

  /// One with a fixed value that anybody may read.
  package init(uuid: BluetoothUUID, value: ByteSlice) {
    self.init(uuid: uuid, content: .stored(value))
  }
}

/// Where a descriptor stands in the definition of its service.
package struct GATTDescriptorPath: Hashable, Sendable {
  /// Its characteristic's place among those of the service.
  package var characteristic: Int
  /// Its own place among the descriptors of the characteristic's definition.
  package var descriptor: Int
  package init(characteristic: Int, descriptor: Int) {
    self.characteristic = characteristic
    self.descriptor = descriptor
  }
}

/// Characteristic Extended Properties · Vol 3, Part G, 3.3.3.1.
package struct GATTExtendedProperties: OptionSet, Hashable, Sendable {
  package let rawValue: UInt16
  package init(rawValue: UInt16) { self.rawValue = rawValue }
  package static let reliableWrite = GATTExtendedProperties(rawValue: 0x0001)
  package static let writableAuxiliaries = GATTExtendedProperties(rawValue: 0x0002)
}

/// Who may access an attribute · Vol 3, Part F, 3.2.5. What a link must have besides is said once for each direction; an
/// authenticated key is one for an encrypted link.
package struct GATTPermissions: OptionSet, Hashable, Sendable {
  package let rawValue: UInt8
  package init(rawValue: UInt8) { self.rawValue = rawValue }
  package static let readable = GATTPermissions(rawValue: 0x01)
  package static let writeable = GATTPermissions(rawValue: 0x02)
  package static let readEncryptionRequired = GATTPermissions(rawValue: 0x04)
  package static let writeEncryptionRequired = GATTPermissions(rawValue: 0x08)
  package static let readAuthenticationRequired = GATTPermissions(rawValue: 0x10)
  package static let writeAuthenticationRequired = GATTPermissions(rawValue: 0x20)
  package static let readAuthorizationRequired = GATTPermissions(rawValue: 0x40)
  package static let writeAuthorizationRequired = GATTPermissions(rawValue: 0x80)
}

/// Where a service that was added stands.
package struct GATTServicePlacement: Hashable, Sendable {
  package var range: ClosedRange<AttributeHandle>
  /// The handles of the characteristics' values, in the order of the definition.
  package var values: [AttributeHandle]
  /// For each characteristic the handles of the descriptors of its definition, in their order.
  package var descriptors: [[AttributeHandle]]
  package init(
    range: ClosedRange<AttributeHandle>, values: [AttributeHandle], descriptors: [[AttributeHandle]] = []
  ) {
    self.range = range
    self.values = values
    self.descriptors = descriptors
  }
}

/// A characteristic that a client has configured to be broadcast · Vol 3, Part G, 2.7.
package struct GATTBroadcast: Hashable, Sendable {
  /// What stands before the value in the Service Data.
  package var service: BluetoothUUID
  /// The value's handle.
  package var handle: AttributeHandle
  /// The value, if the database has it; nil: it is the service above that has it.
  package var value: ByteSlice?
  package init(service: BluetoothUUID, handle: AttributeHandle, value: ByteSlice?) {
    self.service = service
    self.handle = handle
    self.value = value
  }
}
