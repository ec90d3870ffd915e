/// The Attribute Protocol · Vol 3, Part F.
package enum ATT {
  /// The ATT_MTU of a bearer before the MTU exchange, in octets · Vol 3, Part G, 5.2.1.
  package static let defaultMTU = 23
  /// The maximum length of an attribute value, in octets · Vol 3, Part F, 3.2.9.
  package static let maximumValueLength = 512

  /// The Error Code of an Error Response · 3.4.1.1. Any octet can arrive; application errors are 0x80 to 0x9F.
  package struct ErrorCode: RawRepresentable, Hashable, Sendable, Error {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let invalidHandle = ErrorCode(rawValue: 0x01)
    package static let readNotPermitted = ErrorCode(rawValue: 0x02)
    package static let writeNotPermitted = ErrorCode(rawValue: 0x03)
    package static let invalidPDU = ErrorCode(rawValue: 0x04)
    package static let insufficientAuthentication = ErrorCode(rawValue: 0x05)
    package static let requestNotSupported = ErrorCode(rawValue: 0x06)
    package static let invalidOffset = ErrorCode(rawValue: 0x07)
    package static let insufficientAuthorization = ErrorCode(rawValue: 0x08)
    package static let prepareQueueFull = ErrorCode(rawValue: 0x09)
    package static let attributeNotFound = ErrorCode(rawValue: 0x0A)
    package static let attributeNotLong = ErrorCode(rawValue: 0x0B)
    package static let insufficientEncryptionKeySize = ErrorCode(rawValue: 0x0C)
    package static let invalidAttributeValueLength = ErrorCode(rawValue: 0x0D)
    package static let unlikelyError = ErrorCode(rawValue: 0x0E)
    package static let insufficientEncryption = ErrorCode(rawValue: 0x0F)
    package static let unsupportedGroupType = ErrorCode(rawValue: 0x10)
    package static let insufficientResources = ErrorCode(rawValue: 0x11)
    package static let databaseOutOfSync = ErrorCode(rawValue: 0x12)
    package static let valueNotAllowed = ErrorCode(rawValue: 0x13)
    /// A common profile error · Core Specification Supplement, Part B, 1.2.
    package static let cccdImproperlyConfigured = ErrorCode(rawValue: 0xFD)
  }
}

extension ATT.ErrorCode: CustomStringConvertible {
  package var description: String { "0x" + rawValue.hexadecimal }
}
