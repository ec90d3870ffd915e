/// An error code of the Attribute Protocol: the Error Code of an Error Response · Vol 3, Part F, 3.4.1.1. Any octet can
/// arrive; application errors are 0x80 to 0x9F, and common profile errors 0xE0 to 0xFF.
@frozen public struct ATTErrorCode: RawRepresentable, Hashable, Sendable, Error {
  /// The code.
  public let rawValue: UInt8

  /// Creates the error with this code. Every octet is valid.
  @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

  // Written out, because the synthesized function can't be inlined in other modules.
  @inlinable public static func == (left: ATTErrorCode, right: ATTErrorCode) -> Bool { left.rawValue == right.rawValue }

  /// The handle is not valid on this server (0x01).
  @inlinable public static var invalidHandle: ATTErrorCode { ATTErrorCode(rawValue: 0x01) }
  /// The attribute can't be read (0x02).
  @inlinable public static var readNotPermitted: ATTErrorCode { ATTErrorCode(rawValue: 0x02) }
  /// The attribute can't be written (0x03).
  @inlinable public static var writeNotPermitted: ATTErrorCode { ATTErrorCode(rawValue: 0x03) }
  /// The PDU is malformed (0x04).
  @inlinable public static var invalidPDU: ATTErrorCode { ATTErrorCode(rawValue: 0x04) }
  /// The access requires an authenticated link (0x05).
  @inlinable public static var insufficientAuthentication: ATTErrorCode { ATTErrorCode(rawValue: 0x05) }
  /// The server does not support the request (0x06).
  @inlinable public static var requestNotSupported: ATTErrorCode { ATTErrorCode(rawValue: 0x06) }
  /// The offset is past the end of the value (0x07).
  @inlinable public static var invalidOffset: ATTErrorCode { ATTErrorCode(rawValue: 0x07) }
  /// The access requires authorization (0x08).
  @inlinable public static var insufficientAuthorization: ATTErrorCode { ATTErrorCode(rawValue: 0x08) }
  /// The server holds too many prepared writes (0x09).
  @inlinable public static var prepareQueueFull: ATTErrorCode { ATTErrorCode(rawValue: 0x09) }
  /// The range of handles has no such attribute (0x0A).
  @inlinable public static var attributeNotFound: ATTErrorCode { ATTErrorCode(rawValue: 0x0A) }
  /// The attribute can't be read with Read Blob (0x0B).
  @inlinable public static var attributeNotLong: ATTErrorCode { ATTErrorCode(rawValue: 0x0B) }
  /// The encryption key of the link is too short (0x0C).
  @inlinable public static var insufficientEncryptionKeySize: ATTErrorCode { ATTErrorCode(rawValue: 0x0C) }
  /// The length of the value is wrong (0x0D).
  @inlinable public static var invalidAttributeValueLength: ATTErrorCode { ATTErrorCode(rawValue: 0x0D) }
  /// The request failed for another reason (0x0E).
  @inlinable public static var unlikelyError: ATTErrorCode { ATTErrorCode(rawValue: 0x0E) }
  /// The access requires an encrypted link (0x0F).
  @inlinable public static var insufficientEncryption: ATTErrorCode { ATTErrorCode(rawValue: 0x0F) }
  /// The attribute type is not a supported grouping attribute (0x10).
  @inlinable public static var unsupportedGroupType: ATTErrorCode { ATTErrorCode(rawValue: 0x10) }
  /// The server has too few resources (0x11).
  @inlinable public static var insufficientResources: ATTErrorCode { ATTErrorCode(rawValue: 0x11) }
  /// The client's knowledge of the database is outdated (0x12).
  @inlinable public static var databaseOutOfSync: ATTErrorCode { ATTErrorCode(rawValue: 0x12) }
  /// The value is not allowed (0x13).
  @inlinable public static var valueNotAllowed: ATTErrorCode { ATTErrorCode(rawValue: 0x13) }
  /// The Client Characteristic Configuration does not fit the request · Core Specification Supplement, Part B, 1.2.
  @inlinable public static var cccdImproperlyConfigured: ATTErrorCode { ATTErrorCode(rawValue: 0xFD) }
}

extension ATTErrorCode: CustomStringConvertible {
  /// The code as `0x` and two hexadecimal digits.
  public var description: String { "0x" + rawValue.hexadecimal }
}
