/// A service of an accessory.
public struct AccessoryService: Hashable, Sendable {
  /// What it is.
  public var uuid: AttributeUUID
  /// What it has.
  public var characteristics: [AccessoryCharacteristic]

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

  /// What it is.
  public var uuid: AttributeUUID
  /// What may be done with it.
  public var properties: Properties

  /// A characteristic.
  public init(_ uuid: AttributeUUID, _ properties: Properties) {
    self.uuid = uuid
    self.properties = properties
  }
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
