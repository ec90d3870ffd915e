/// The properties of a characteristic. The low octet is that of the characteristic declaration · Vol 3, Part G,
/// 3.3.1.1.
public struct CBCharacteristicProperties: OptionSet, Sendable {
  public let rawValue: UInt
  public init(rawValue: UInt) { self.rawValue = rawValue }

  /// The value may be broadcast. Not allowed for local characteristics.
  public static let broadcast = CBCharacteristicProperties(rawValue: 0x01)
  /// The value can be read.
  public static let read = CBCharacteristicProperties(rawValue: 0x02)
  /// The value can be written with Write Commands, without a response.
  public static let writeWithoutResponse = CBCharacteristicProperties(rawValue: 0x04)
  /// The value can be written with Write Requests.
  public static let write = CBCharacteristicProperties(rawValue: 0x08)
  /// The value can be notified, without a confirmation.
  public static let notify = CBCharacteristicProperties(rawValue: 0x10)
  /// The value can be indicated; the client confirms each indication.
  public static let indicate = CBCharacteristicProperties(rawValue: 0x20)
  /// The value can be written with Signed Write Commands.
  public static let authenticatedSignedWrites = CBCharacteristicProperties(rawValue: 0x40)
  // swift-format-ignore: DontRepeatTypeInStaticProperties
  /// The characteristic has the Characteristic Extended Properties descriptor. Not allowed for local characteristics.
  public static let extendedProperties = CBCharacteristicProperties(rawValue: 0x80)
  /// Subscribing to notifications requires an encrypted link. Not sent on the air.
  public static let notifyEncryptionRequired = CBCharacteristicProperties(rawValue: 0x100)
  /// Subscribing to indications requires an encrypted link. Not sent on the air.
  public static let indicateEncryptionRequired = CBCharacteristicProperties(rawValue: 0x200)
}

/// The access permissions of a local characteristic's value.
public struct CBAttributePermissions: OptionSet, Sendable {
  public let rawValue: UInt
  public init(rawValue: UInt) { self.rawValue = rawValue }

  /// Any central may read.
  public static let readable = CBAttributePermissions(rawValue: 0x01)
  /// Any central may write.
  public static let writeable = CBAttributePermissions(rawValue: 0x02)
  /// Reading requires an encrypted link.
  public static let readEncryptionRequired = CBAttributePermissions(rawValue: 0x04)
  /// Writing requires an encrypted link.
  public static let writeEncryptionRequired = CBAttributePermissions(rawValue: 0x08)
}

/// The type of a write.
public enum CBCharacteristicWriteType: Int, Sendable {
  /// A write that the peer confirms; long values are sent in parts.
  case withResponse = 0
  /// A write without a confirmation.
  case withoutResponse = 1
}
