import BluetoothProfiles

/// A characteristic of an accessory, identified by its UUID and that of its service. The instance number distinguishes
/// characteristics of one service with the same UUID, such as the reports of a keyboard.
public struct CharacteristicPath: Hashable, Sendable {
  /// The UUID of the service.
  public var service: BluetoothUUID
  /// The UUID of the characteristic.
  public var characteristic: BluetoothUUID
  /// The number of this characteristic among those of the service with the same UUID, from 0.
  public var instance: Int

  /// Creates a path to the characteristic with this UUID in the service with that UUID.
  public init(_ characteristic: BluetoothUUID, of service: BluetoothUUID, instance: Int = 0) {
    self.service = service
    self.characteristic = characteristic
    self.instance = instance
  }
}

/// A characteristic of an accessory whose values have this type. A value of another type does not compile, where the
/// characteristic is read, written or notified.
///
/// ```swift
/// static let measurement = Characteristic<HeartRateMeasurement>(of: 0x180D)
/// ```
public struct Characteristic<Value: AttributeValue>: Hashable, Sendable {
  /// The UUIDs of the service and of the characteristic.
  public let path: CharacteristicPath

  /// Creates a characteristic with a custom UUID.
  public init(_ uuid: BluetoothUUID, of service: BluetoothUUID, instance: Int = 0) {
    path = CharacteristicPath(uuid, of: service, instance: instance)
  }

  /// Decodes the octets that a client has written.
  ///
  /// - Throws: Invalid Attribute Value Length (0x0D), or Value Not Allowed (0x13) if a field is out of range.
  func value(of octets: [UInt8]) throws(ATTErrorCode) -> Value {
    do throws(ValueError) {
      return try Value(octets)
    } catch {
      switch error {
      case .tooShort, .tooLong: throw .invalidAttributeValueLength
      case .outOfRange: throw .valueNotAllowed
      }
    }
  }
}

extension Characteristic where Value: CharacteristicValue {
  /// Creates a characteristic with the assigned UUID of its values' type.
  public init(of service: BluetoothUUID, instance: Int = 0) {
    self.init(BluetoothUUID(Value.uuid), of: service, instance: instance)
  }
}
