/// A GATT service of an accessory.
public struct AccessoryService: Hashable, Sendable {
  /// The service's UUID.
  public var uuid: BluetoothUUID
  /// The characteristics, in the order of their handles.
  public var characteristics: [AccessoryCharacteristic]
  /// True for a primary service; false for a secondary service, which clients find only through a service that
  /// includes it · Vol 3, Part G, 3.1.
  public var isPrimary = true
  /// The included services · Vol 3, Part G, 3.2. Each must precede this service in `Accessory.services`; otherwise
  /// its include declaration is left out.
  public var includes: [BluetoothUUID] = []

  /// Creates a primary service.
  public init(_ uuid: BluetoothUUID, _ characteristics: [AccessoryCharacteristic]) {
    self.uuid = uuid
    self.characteristics = characteristics
  }
}

/// A characteristic of an accessory.
public struct AccessoryCharacteristic: Hashable, Sendable {
  /// The link security that access to a characteristic requires · Vol 3, Part C, 10.2.1.
  public enum Protection: Hashable, Sendable, CaseIterable {
    /// No encryption: security mode 1, level 1.
    case none
    /// Encryption with any key: security mode 1, level 2.
    case encrypted
  }

  /// The characteristic's UUID.
  public var uuid: BluetoothUUID
  /// The operations that clients may perform on the value.
  public var properties: CharacteristicProperties
  /// The link security required to read, write or subscribe to the value. A central that lacks it pairs.
  public var protection = Protection.none
  /// True if the Reliable Write extended property is set: clients may write the value together with others, all or
  /// none · Vol 3, Part G, 3.3.3.1.
  public var hasReliableWrite = false
  /// The descriptors, besides the configuration and Extended Properties descriptors, which are added automatically.
  public var descriptors: [AccessoryDescriptor] = []

  /// Creates a characteristic that requires no encryption.
  public init(_ uuid: BluetoothUUID, _ properties: CharacteristicProperties) {
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
  case aggregateFormat([BluetoothUUID])
  /// Another, readable descriptor with its UUID and value.
  case other(BluetoothUUID, [UInt8])
}

/// A characteristic of an accessory, identified by its UUID and that of its service.
public struct CharacteristicPath: Hashable, Sendable {
  /// The UUID of the service.
  public var service: BluetoothUUID
  /// The UUID of the characteristic.
  public var characteristic: BluetoothUUID

  /// Creates a path to the characteristic with this UUID in the service with that UUID.
  public init(_ characteristic: BluetoothUUID, of service: BluetoothUUID) {
    self.service = service
    self.characteristic = characteristic
  }
}
