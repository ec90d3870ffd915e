/// A service of an accessory.
public struct AccessoryService: Hashable, Sendable {
  /// What it is.
  public var uuid: AttributeUUID
  /// What it has.
  public var characteristics: [AccessoryCharacteristic]
  /// Whether clients find it by itself; else only where another service includes it · Vol 3, Part G, 3.1.
  public var isPrimary = true
  /// Services that this one includes · Vol 3, Part G, 3.2. They stand before it in `Accessory.services`; others are left
  /// out.
  public var includes: [AttributeUUID] = []

  /// A primary service.
  public init(_ uuid: AttributeUUID, _ characteristics: [AccessoryCharacteristic]) {
    self.uuid = uuid
    self.characteristics = characteristics
  }
}

/// A characteristic of an accessory.
public struct AccessoryCharacteristic: Hashable, Sendable {
  /// What may be done with it · Vol 3, Part G, 3.3.1.1.
  public struct Properties: OptionSet, Hashable, Sendable {
    /// As on the air.
    public let rawValue: UInt8
    /// The properties of these bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    /// A client can have its value advertised to everybody, as Service Data: by the Server Characteristic Configuration,
    /// which is there by itself.
    public static let broadcast = Properties(rawValue: 0x01)
    /// It can be read.
    public static let read = Properties(rawValue: 0x02)
    /// It can be written without an answer.
    public static let writeWithoutResponse = Properties(rawValue: 0x04)
    /// It can be written with an answer.
    public static let write = Properties(rawValue: 0x08)
    /// It can be notified.
    public static let notify = Properties(rawValue: 0x10)
    /// It can be indicated.
    public static let indicate = Properties(rawValue: 0x20)
  }

  /// How well a link has to be protected · Vol 3, Part C, 10.2.1.
  public enum Protection: Hashable, Sendable, CaseIterable {
    /// Not at all.
    case none
    /// Encrypted, with any key: mode 1, level 2.
    case encrypted
  }

  /// What it is.
  public var uuid: AttributeUUID
  /// What may be done with it.
  public var properties: Properties
  /// How well a link has to be protected before its value is read, written or subscribed to. A central that finds it is
  /// not pairs.
  public var protection = Protection.none
  /// It says that it can be written together with others, all or none · Vol 3, Part G, 3.3.3.1.
  public var hasReliableWrite = false
  /// What describes it, besides the descriptors that are there by themselves: configurations and extended properties.
  public var descriptors: [AccessoryDescriptor] = []

  /// A characteristic.
  public init(_ uuid: AttributeUUID, _ properties: Properties) {
    self.uuid = uuid
    self.properties = properties
  }
}

/// What describes a characteristic of an accessory · Vol 3, Part G, 3.3.3.
public enum AccessoryDescriptor: Hashable, Sendable {
  /// Characteristic User Description, which clients may change where it is writable.
  case userDescription(String, isWritable: Bool = false)
  /// Characteristic Presentation Format: a format type, a power of ten, a unit, and a description in a namespace, all of
  /// the assigned numbers.
  case presentationFormat(
    format: UInt8, exponent: Int8 = 0, unit: UInt16, namespace: UInt8 = 1, description: UInt16 = 0)
  /// Characteristic Aggregate Format: the value has the parts that the first presentation formats of these characteristics
  /// of the same service describe, in this order.
  case aggregateFormat([AttributeUUID])
  /// Another descriptor, which can be read.
  case other(AttributeUUID, [UInt8])
}

/// Names a characteristic of an accessory by the service that it stands in.
public struct CharacteristicPath: Hashable, Sendable {
  /// The service.
  public var service: AttributeUUID
  /// The characteristic.
  public var characteristic: AttributeUUID

  /// The characteristic of this UUID in that service.
  public init(_ characteristic: AttributeUUID, of service: AttributeUUID) {
    self.service = service
    self.characteristic = characteristic
  }
}

/// What a central is answered when it may not do what it does: an ATT error code · Vol 3, Part F, 3.4.1.1.
public struct AttributeError: Error, Hashable, Sendable {
  /// The code on the air.
  public var code: UInt8

  /// The error with this code.
  public init(code: UInt8) { self.code = code }

  /// 0x03
  public static let writeNotPermitted = AttributeError(code: 0x03)
  /// 0x0D
  public static let invalidLength = AttributeError(code: 0x0D)
  /// 0x13
  public static let valueNotAllowed = AttributeError(code: 0x13)
}
