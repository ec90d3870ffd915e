import BluetoothWire

/// The definition of a service for the local database.
package struct GATTServiceDefinition: Sendable {
  package var uuid: BluetoothUUID
  package var isPrimary: Bool
  /// The declaration handles of the included services, which must already be in the database.
  package var includes: [AttributeHandle]
  package var characteristics: [GATTCharacteristicDefinition]
  /// The handle of the declaration; nil: the first handle after all handles that were ever used.
  package var handle: AttributeHandle?
  package init(
    uuid: BluetoothUUID, isPrimary: Bool, includes: [AttributeHandle], characteristics: [GATTCharacteristicDefinition],
    handle: AttributeHandle? = nil
  ) {
    self.handle = handle
    self.uuid = uuid
    self.isPrimary = isPrimary
    self.includes = includes
    self.characteristics = characteristics
  }
}

package struct GATTCharacteristicDefinition: Hashable, Sendable {
  package var uuid: BluetoothUUID
  /// The characteristic's properties. The database adds the Extended Properties bit if `extendedProperties` is not
  /// empty.
  package var properties: CharacteristicProperties
  package var extendedProperties: GATTExtendedProperties
  package var permissions: AttributePermissions
  /// The minimum length of the encryption key for access to the value, 7 to 16 octets; 0: any.
  package var minimumKeySize: UInt8
  /// The value that the database stores and serves; nil: the host forwards each read and write to the upper layer.
  package var value: ByteSlice?
  /// The permitted lengths of the value in octets; the server rejects a write of another length.
  package var lengths: ClosedRange<Int>
  /// True if subscribing requires an encrypted link.
  package var subscriptionNeedsEncryption: Bool
  /// The characteristic's descriptors, except those that the database adds automatically if required: Client and Server
  /// Characteristic Configuration, and Characteristic Extended Properties.
  package var descriptors: [GATTDescriptorDefinition]
  /// The properties in the declaration, if they differ from the operations that `properties` permits; nil: they are the
  /// same. The specification wants the same; databases for tests of clients have others.
  package var shownProperties: CharacteristicProperties?
  /// The handle of the declaration; nil: the next handle.
  package var handle: AttributeHandle?

  package init(
    uuid: BluetoothUUID, properties: CharacteristicProperties, extendedProperties: GATTExtendedProperties = [],
    permissions: AttributePermissions, minimumKeySize: UInt8 = 0, value: ByteSlice?,
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

/// The definition of a descriptor, except the descriptors that the database adds automatically.
package struct GATTDescriptorDefinition: Hashable, Sendable {
  package enum Content: Hashable, Sendable {
    /// The value that the database stores and serves.
    case stored(ByteSlice)
    /// The host forwards each read and write to the upper layer.
    case dynamic
    /// The value of a Characteristic Aggregate Format: the handles of these Characteristic Presentation Formats of
    /// the same service, in this order · Vol 3, Part G, 3.3.3.6.
    case formats([GATTDescriptorPath])
  }

  package var uuid: BluetoothUUID
  package var content: Content
  /// The access permissions. A Characteristic User Description may be writable only if the characteristic has
  /// Writable Auxiliaries; other descriptors of the specification are never writable · Vol 3, Part G, 3.3.3.
  package var permissions: AttributePermissions
  /// The permitted lengths of the value in octets; the server rejects a write of another length.
  package var lengths: ClosedRange<Int>
  /// The handle; nil: the next one.
  package var handle: AttributeHandle?

  package init(
    uuid: BluetoothUUID, content: Content, permissions: AttributePermissions = .readable,
    lengths: ClosedRange<Int> = 0...ATT.maximumValueLength
  ) {
    self.uuid = uuid
    self.content = content
    self.permissions = permissions
    self.lengths = lengths
  }

  /// Creates a descriptor with a fixed value that every client may read.
  package init(uuid: BluetoothUUID, value: ByteSlice) {
    self.init(uuid: uuid, content: .stored(value))
  }
}

/// The position of a descriptor in the definition of its service.
package struct GATTDescriptorPath: Hashable, Sendable {
  /// The index of its characteristic in the service's definition.
  package var characteristic: Int
  /// The index of the descriptor in the characteristic's definition.
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

/// The handles of a service in the database.
package struct GATTServicePlacement: Hashable, Sendable {
  package var range: ClosedRange<AttributeHandle>
  /// The handles of the characteristics' values, in the order of the definition.
  package var values: [AttributeHandle]
  /// The handles of the descriptors of each characteristic's definition, in the order of the definition.
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
  /// The service UUID of the Service Data.
  package var service: BluetoothUUID
  /// The handle of the characteristic's value.
  package var handle: AttributeHandle
  /// The value, if the database serves it; nil: the upper layer has the value.
  package var value: ByteSlice?
}
