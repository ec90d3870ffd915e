/// A GATT service of an accessory.
public struct AccessoryService: Hashable, Sendable {
  /// The service's UUID.
  public var uuid: AttributeUUID
  /// The characteristics, in the order of their handles.
  public var characteristics: [AccessoryCharacteristic]
  /// True for a primary service; false for a secondary service, which clients find only through a service that
  /// includes it · Vol 3, Part G, 3.1.
  public var isPrimary = true
  /// The included services · Vol 3, Part G, 3.2. Each must precede this service in `Accessory.services`; otherwise
  /// its include declaration is left out.
  public var includes: [AttributeUUID] = []

  /// Creates a primary service.
  public init(_ uuid: AttributeUUID, _ characteristics: [AccessoryCharacteristic]) {
    self.uuid = uuid
    self.characteristics = characteristics
  }
}

/// A characteristic of an accessory.
public struct AccessoryCharacteristic: Hashable, Sendable {
  /// The Characteristic Properties bit field · Vol 3, Part G, 3.3.1.1.
  public struct Properties: OptionSet, Hashable, Sendable {
    /// The bits as in the characteristic declaration.
    public let rawValue: UInt8
    /// Creates properties from their bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    /// Clients may have the value broadcast as Service Data in advertising packets by writing the Server
    /// Characteristic Configuration descriptor, which is added automatically.
    public static let broadcast = Properties(rawValue: 0x01)
    /// Clients may read the value.
    public static let read = Properties(rawValue: 0x02)
    /// Clients may write the value without a response.
    public static let writeWithoutResponse = Properties(rawValue: 0x04)
    /// Clients may write the value with a response.
    public static let write = Properties(rawValue: 0x08)
    /// Clients may subscribe to notifications.
    public static let notify = Properties(rawValue: 0x10)
    /// Clients may subscribe to indications.
    public static let indicate = Properties(rawValue: 0x20)
  }

  /// The link security that access to a characteristic requires · Vol 3, Part C, 10.2.1.
  public enum Protection: Hashable, Sendable, CaseIterable {
    /// No encryption: security mode 1, level 1.
    case none
    /// Encryption with any key: security mode 1, level 2.
    case encrypted
  }

  /// The characteristic's UUID.
  public var uuid: AttributeUUID
  /// The operations that clients may perform on the value.
  public var properties: Properties
  /// The link security required to read, write or subscribe to the value. A central that lacks it pairs.
  public var protection = Protection.none
  /// True if the Reliable Write extended property is set: clients may write the value together with others, all or
  /// none · Vol 3, Part G, 3.3.3.1.
  public var hasReliableWrite = false
  /// The descriptors, besides the configuration and Extended Properties descriptors, which are added automatically.
  public var descriptors: [AccessoryDescriptor] = []

  /// Creates a characteristic that requires no encryption.
  public init(_ uuid: AttributeUUID, _ properties: Properties) {
    self.uuid = uuid
    self.properties = properties
  }
}

/// A characteristic descriptor of an accessory · Vol 3, Part G, 3.3.3.
public enum AccessoryDescriptor: Hashable, Sendable {
  /// Characteristic User Description; clients may write it if it is writable.
  case userDescription(String, isWritable: Bool = false)
  /// Characteristic Presentation Format: a format type, an exponent of ten, a unit, and a description within a
  /// namespace, each with its assigned number.
  case presentationFormat(
    format: UInt8, exponent: Int8 = 0, unit: UInt16, namespace: UInt8 = 1, description: UInt16 = 0)
  /// Characteristic Aggregate Format: the value is the concatenation of the values that the first presentation
  /// formats of these characteristics of the same service describe, in this order.
  case aggregateFormat([AttributeUUID])
  /// Another, readable descriptor with its UUID and value.
  case other(AttributeUUID, [UInt8])
}

/// A characteristic of an accessory, identified by its UUID and that of its service.
public struct CharacteristicPath: Hashable, Sendable {
  /// The UUID of the service.
  public var service: AttributeUUID
  /// The UUID of the characteristic.
  public var characteristic: AttributeUUID

  /// Creates a path to the characteristic with this UUID in the service with that UUID.
  public init(_ characteristic: AttributeUUID, of service: AttributeUUID) {
    self.service = service
    self.characteristic = characteristic
  }
}

/// An ATT error code with which an accessory rejects a write · Vol 3, Part F, 3.4.1.1.
public struct AttributeError: Error, Hashable, Sendable {
  /// The code in the Error Response PDU.
  public var code: UInt8

  /// Creates an error from its code.
  public init(code: UInt8) { self.code = code }

  /// Write Not Permitted (0x03).
  public static let writeNotPermitted = AttributeError(code: 0x03)
  /// Invalid Attribute Value Length (0x0D).
  public static let invalidLength = AttributeError(code: 0x0D)
  /// Value Not Allowed (0x13).
  public static let valueNotAllowed = AttributeError(code: 0x13)
}
