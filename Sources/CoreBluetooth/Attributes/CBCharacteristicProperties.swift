/// What can be done with a characteristic. The low octet is that of the declaration · Vol 3, Part G, 3.3.1.1.
public struct CBCharacteristicProperties: OptionSet, Sendable {
  public let rawValue: UInt
  public init(rawValue: UInt) { self.rawValue = rawValue }

  /// Its value may be broadcast. Not for local characteristics.
  public static let broadcast = CBCharacteristicProperties(rawValue: 0x01)
  /// It can be read.
  public static let read = CBCharacteristicProperties(rawValue: 0x02)
  /// It takes Write Commands.
  public static let writeWithoutResponse = CBCharacteristicProperties(rawValue: 0x04)
  /// It takes Write Requests.
  public static let write = CBCharacteristicProperties(rawValue: 0x08)
  /// It sends updates that nobody confirms.
  public static let notify = CBCharacteristicProperties(rawValue: 0x10)
  /// It sends updates that the client confirms.
  public static let indicate = CBCharacteristicProperties(rawValue: 0x20)
  /// It takes Signed Write Commands.
  public static let authenticatedSignedWrites = CBCharacteristicProperties(rawValue: 0x40)
  // swift-format-ignore: DontRepeatTypeInStaticProperties
  /// It has the Characteristic Extended Properties descriptor. Not for local characteristics.
  public static let extendedProperties = CBCharacteristicProperties(rawValue: 0x80)
  /// Subscribing to its notifications needs an encrypted link; never on the air.
  public static let notifyEncryptionRequired = CBCharacteristicProperties(rawValue: 0x100)
  /// Subscribing to its indications needs an encrypted link; never on the air.
  public static let indicateEncryptionRequired = CBCharacteristicProperties(rawValue: 0x200)
}

/// Who may read and write the value of a local characteristic.
public struct CBAttributePermissions: OptionSet, Sendable {
  public let rawValue: UInt
  public init(rawValue: UInt) { self.rawValue = rawValue }

  /// Everybody may read.
  public static let readable = CBAttributePermissions(rawValue: 0x01)
  /// Everybody may write.
  public static let writeable = CBAttributePermissions(rawValue: 0x02)
  /// Reading needs an encrypted link.
  public static let readEncryptionRequired = CBAttributePermissions(rawValue: 0x04)
  /// Writing needs an encrypted link.
  public static let writeEncryptionRequired = CBAttributePermissions(rawValue: 0x08)
}

/// How a value is written.
public enum CBCharacteristicWriteType: Int, Sendable {
  /// The peer confirms it; long values go in parts.
  case withResponse = 0
  /// The peer confirms nothing.
  case withoutResponse = 1
}
