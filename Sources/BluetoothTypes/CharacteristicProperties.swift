/// The operations that a characteristic permits: Characteristic Properties · Vol 3, Part G, 3.3.1.1.
@frozen public struct CharacteristicProperties: OptionSet, Hashable, Sendable {
  /// The bits as in the characteristic declaration.
  public let rawValue: UInt8

  /// Creates properties from their bits.
  @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Clients may have the value broadcast as Service Data in advertising packets, by writing the Server Characteristic
  /// Configuration descriptor.
  @inlinable public static var broadcast: CharacteristicProperties { Self(rawValue: 0x01) }
  /// Clients may read the value.
  @inlinable public static var read: CharacteristicProperties { Self(rawValue: 0x02) }
  /// Clients may write the value without a response.
  @inlinable public static var writeWithoutResponse: CharacteristicProperties { Self(rawValue: 0x04) }
  /// Clients may write the value with a response.
  @inlinable public static var write: CharacteristicProperties { Self(rawValue: 0x08) }
  /// Clients may subscribe to notifications, which they don't confirm.
  @inlinable public static var notify: CharacteristicProperties { Self(rawValue: 0x10) }
  /// Clients may subscribe to indications, which they confirm.
  @inlinable public static var indicate: CharacteristicProperties { Self(rawValue: 0x20) }
  /// Clients may write the value with a signature and without a response.
  @inlinable public static var authenticatedSignedWrites: CharacteristicProperties { Self(rawValue: 0x40) }
  // swift-format-ignore: DontRepeatTypeInStaticProperties
  /// The characteristic has the Characteristic Extended Properties descriptor.
  @inlinable public static var extendedProperties: CharacteristicProperties { Self(rawValue: 0x80) }
}

/// The access permissions of an attribute · Vol 3, Part F, 3.2.5. The security requirements are separate for reading
/// and writing; authentication refers to the key of an encrypted link.
@frozen public struct AttributePermissions: OptionSet, Hashable, Sendable {
  /// The bits, which ATT does not transmit.
  public let rawValue: UInt8

  /// Creates permissions from their bits.
  @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Clients may read the value.
  @inlinable public static var readable: AttributePermissions { Self(rawValue: 0x01) }
  /// Clients may write the value.
  @inlinable public static var writeable: AttributePermissions { Self(rawValue: 0x02) }
  /// Reading requires an encrypted link.
  @inlinable public static var readEncryptionRequired: AttributePermissions { Self(rawValue: 0x04) }
  /// Writing requires an encrypted link.
  @inlinable public static var writeEncryptionRequired: AttributePermissions { Self(rawValue: 0x08) }
  /// Reading requires a link that is encrypted with an authenticated key.
  @inlinable public static var readAuthenticationRequired: AttributePermissions { Self(rawValue: 0x10) }
  /// Writing requires a link that is encrypted with an authenticated key.
  @inlinable public static var writeAuthenticationRequired: AttributePermissions { Self(rawValue: 0x20) }
  /// Reading requires the user's consent.
  @inlinable public static var readAuthorizationRequired: AttributePermissions { Self(rawValue: 0x40) }
  /// Writing requires the user's consent.
  @inlinable public static var writeAuthorizationRequired: AttributePermissions { Self(rawValue: 0x80) }
}
