// Apple's names.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

/// The domain of `CBATTError` as an `NSError`.
public let CBATTErrorDomain: String = "CBATTErrorDomain"

/// An error reported by a peer's attribute server · Vol 3, Part F, 3.4.1.1.
public struct CBATTError: CustomNSError, Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
  private let content: ErrorContent

  /// Creates an error with a code.
  public init(_ code: Code, userInfo: [String: Any] = [:]) {
    content = ErrorContent(code: code.rawValue, userInfo: userInfo)
  }

  /// Creates the error from an `NSError` of any domain.
  public init(_nsError error: NSError) { content = ErrorContent(error) }

  /// The ATT error code as a number.
  public var errorCode: Int { content.code }

  /// This error as an `NSError`.
  public var _nsError: NSError { NSError(domain: CBATTErrorDomain, code: errorCode, userInfo: errorUserInfo) }

  /// The error domain, `CBATTErrorDomain`.
  public static var errorDomain: String { CBATTErrorDomain }

  /// The error code; `unlikelyError` if the number is outside 0x00 to 0xFF.
  public var code: Code { Code(rawValue: errorCode) ?? .unlikelyError }

  /// The dictionary passed to `init`.
  public var userInfo: [String: Any] { content.userInfo }

  /// The `userInfo` with the code's text as localized description, unless it contains one.
  public var errorUserInfo: [String: Any] { content.userInfo(describedBy: code.text) }

  /// The localized description in `userInfo`, otherwise the code's text.
  public var localizedDescription: String { content.description(or: code.text) }

  /// Domain, code, localized description and `userInfo`, as Apple's systems print an error of a callback.
  public var description: String { content.text(domain: CBATTErrorDomain, describedBy: code.text) }

  public var debugDescription: String { description }

  // Explicit as in `ErrorContent`.

  /// Returns true if both errors have the same code and the same `userInfo`.
  public static func == (left: CBATTError, right: CBATTError) -> Bool { left.content == right.content }

  public func hash(into hasher: inout Hasher) { content.hash(into: &hasher) }
}

extension CBATTError.Code: _CBErrorCode {
  public typealias _ErrorType = CBATTError

  /// The text shown on Apple's systems, where it is known.
  var text: String {
    switch self {
    case .success: return "Success."
    case .invalidHandle: return "The handle is invalid."
    case .readNotPermitted: return "Reading is not permitted."
    case .writeNotPermitted: return "Writing is not permitted."
    case .invalidPdu: return "The command is invalid."
    case .insufficientAuthentication: return "Authentication is insufficient."
    case .requestNotSupported: return "The request is not supported."
    case .invalidOffset: return "The offset is invalid."
    case .insufficientAuthorization: return "Authorization is insufficient."
    case .prepareQueueFull: return "The prepare queue is full."
    case .attributeNotFound: return "The attribute could not be found."
    case .attributeNotLong: return "The attribute is not long."
    case .insufficientEncryptionKeySize: return "The encryption key size is insufficient."
    case .invalidAttributeValueLength: return "The value's length is invalid."
    case .unlikelyError: return "Unlikely error."
    case .insufficientEncryption: return "Encryption is insufficient."
    case .unsupportedGroupType: return "The group type is unsupported."
    case .insufficientResources: return "Resources are insufficient."
    default: return "Unknown ATT error."
    }
  }
}

// The codes as static members, so that `catch CBATTError.readNotPermitted` compiles as on Apple's systems.
extension CBATTError {
  public static var success: Code { .success }
  public static var invalidHandle: Code { .invalidHandle }
  public static var readNotPermitted: Code { .readNotPermitted }
  public static var writeNotPermitted: Code { .writeNotPermitted }
  public static var invalidPdu: Code { .invalidPdu }
  public static var insufficientAuthentication: Code { .insufficientAuthentication }
  public static var requestNotSupported: Code { .requestNotSupported }
  public static var invalidOffset: Code { .invalidOffset }
  public static var insufficientAuthorization: Code { .insufficientAuthorization }
  public static var prepareQueueFull: Code { .prepareQueueFull }
  public static var attributeNotFound: Code { .attributeNotFound }
  public static var attributeNotLong: Code { .attributeNotLong }
  public static var insufficientEncryptionKeySize: Code { .insufficientEncryptionKeySize }
  public static var invalidAttributeValueLength: Code { .invalidAttributeValueLength }
  public static var unlikelyError: Code { .unlikelyError }
  public static var insufficientEncryption: Code { .insufficientEncryption }
  public static var unsupportedGroupType: Code { .unsupportedGroupType }
  public static var insufficientResources: Code { .insufficientResources }
}
