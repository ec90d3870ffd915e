// Apple's names.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

/// The domain of `CBError` as an `NSError`.
public let CBErrorDomain: String = "CBErrorDomain"

/// An error of this device or of the link. Errors that a peer's attribute server reports are `CBATTError`s.
public struct CBError: CustomNSError, Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
  /// The code of an error.
  public enum Code: Int, Sendable {
    /// An error without a specific code.
    case unknown = 0
    /// An invalid argument.
    case invalidParameters = 1
    /// The peer has removed the attribute, which the app has not been told of yet.
    case invalidHandle = 2
    /// The link has ended, which the app has not been told of yet. A call after that is logged and dropped; in
    /// `CoreBluetoothExtras`, it throws this error.
    case notConnected = 3
    /// There is not enough space for the operation.
    case outOfSpace = 4
    /// The operation was cancelled.
    case operationCancelled = 5
    /// The link was lost because no packet was received within the supervision timeout, or the peer did not answer in
    /// time.
    case connectionTimeout = 6
    /// The peer terminated the link.
    case peripheralDisconnected = 7
    /// The UUID is reserved for the system, or the attribute object does not belong to this link.
    case uuidNotAllowed = 8
    /// Advertising has already been started.
    case alreadyAdvertising = 9
    /// The link could not be established.
    case connectionFailed = 10
    /// The maximum number of links is reached.
    case connectionLimitReached = 11
    /// The peer is unknown. The misspelling is Apple's.
    case unkownDevice = 12
    /// This version or this adapter does not support the operation.
    case operationNotSupported = 13
    /// The peer has deleted the bond.
    case peerRemovedPairingInformation = 14
    /// Pairing or encryption timed out.
    case encryptionTimedOut = 15
    /// The maximum number of bonds is reached.
    case tooManyLEPairedDevices = 16
    /// Too many notifications were received in the background (watchOS).
    case leGattExceededBackgroundNotificationLimit = 17
    /// Nearly too many notifications were received in the background (watchOS).
    case leGattNearBackgroundNotificationLimit = 18
    /// A channel sounding session could not be configured (iOS 27). Apple's number is not known; 19 is the next one.
    case channelSoundingConfigurationFailed = 19
    /// A channel sounding procedure failed (iOS 27). Apple's number is not known; 20 is the next one.
    case channelSoundingProcedureFailed = 20

    /// The peer is unknown: `unkownDevice` with the correct spelling.
    public static var unknownDevice: Code { .unkownDevice }
  }

  private let content: ErrorContent

  /// Creates an error with a code.
  public init(_ code: Code, userInfo: [String: Any] = [:]) {
    content = ErrorContent(code: code.rawValue, userInfo: userInfo)
  }

  /// Creates the error from an `NSError` of any domain.
  public init(_nsError error: NSError) { content = ErrorContent(error) }

  /// The error code as a number; one without a `Code` can only come from `init(_nsError:)`.
  public var errorCode: Int { content.code }

  /// This error as an `NSError`.
  public var _nsError: NSError { NSError(domain: CBErrorDomain, code: errorCode, userInfo: errorUserInfo) }

  /// The error domain, `CBErrorDomain`.
  public static var errorDomain: String { CBErrorDomain }

  /// The error code; `unknown` for a number without a case.
  public var code: Code { Code(rawValue: errorCode) ?? .unknown }

  /// The dictionary passed to `init`.
  public var userInfo: [String: Any] { content.userInfo }

  /// The `userInfo` with the code's text as localized description, unless it contains one.
  public var errorUserInfo: [String: Any] { content.userInfo(describedBy: code.text) }

  /// The localized description in `userInfo`, otherwise the code's text.
  public var localizedDescription: String { content.description(or: code.text) }

  /// Domain, code, localized description and `userInfo`, as Apple's systems print an error of a callback.
  public var description: String { content.text(domain: CBErrorDomain, describedBy: code.text) }

  public var debugDescription: String { description }

  // Explicit as in `ErrorContent`.

  /// Returns true if both errors have the same code and the same `userInfo`.
  public static func == (left: CBError, right: CBError) -> Bool { left.content == right.content }

  public func hash(into hasher: inout Hasher) { content.hash(into: &hasher) }
}

extension CBError.Code: _CBErrorCode {
  public typealias _ErrorType = CBError

  /// The text shown on Apple's systems, where it is known.
  var text: String {
    switch self {
    case .unknown: return "Unknown error."
    case .invalidParameters: return "One or more parameters were invalid."
    case .invalidHandle: return "The specified attribute handle is invalid."
    case .notConnected: return "The specified device is not connected."
    case .outOfSpace: return "The device has run out of space to complete the intended operation."
    case .operationCancelled: return "The operation was cancelled."
    case .connectionTimeout: return "The connection has timed out unexpectedly."
    case .peripheralDisconnected: return "The specified device has disconnected from us."
    case .uuidNotAllowed: return "The specified UUID is not allowed for this operation."
    case .alreadyAdvertising: return "Advertising has already started."
    case .connectionFailed: return "The connection has failed unexpectedly."
    case .connectionLimitReached: return "The maximum number of connections has been reached."
    case .unkownDevice: return "The specified device is unknown."
    case .operationNotSupported: return "The operation is not supported."
    case .peerRemovedPairingInformation: return "Peer removed pairing information"
    case .encryptionTimedOut: return "Encryption has timed out unexpectedly."
    case .tooManyLEPairedDevices: return "There are too many paired devices."
    case .leGattExceededBackgroundNotificationLimit: return "Too many notifications were received in the background."
    case .leGattNearBackgroundNotificationLimit: return "Nearly too many notifications were received in the background."
    case .channelSoundingConfigurationFailed: return "The channel sounding session could not be configured."
    case .channelSoundingProcedureFailed: return "The channel sounding procedure failed."
    }
  }
}

// The codes as static members, so that `catch CBError.notConnected` compiles as on Apple's systems.
extension CBError {
  public static var unknown: Code { .unknown }
  public static var invalidParameters: Code { .invalidParameters }
  public static var invalidHandle: Code { .invalidHandle }
  public static var notConnected: Code { .notConnected }
  public static var outOfSpace: Code { .outOfSpace }
  public static var operationCancelled: Code { .operationCancelled }
  public static var connectionTimeout: Code { .connectionTimeout }
  public static var peripheralDisconnected: Code { .peripheralDisconnected }
  public static var uuidNotAllowed: Code { .uuidNotAllowed }
  public static var alreadyAdvertising: Code { .alreadyAdvertising }
  public static var connectionFailed: Code { .connectionFailed }
  public static var connectionLimitReached: Code { .connectionLimitReached }
  public static var unkownDevice: Code { .unkownDevice }
  public static var operationNotSupported: Code { .operationNotSupported }
  public static var peerRemovedPairingInformation: Code { .peerRemovedPairingInformation }
  public static var encryptionTimedOut: Code { .encryptionTimedOut }
  public static var tooManyLEPairedDevices: Code { .tooManyLEPairedDevices }
  public static var leGattExceededBackgroundNotificationLimit: Code { .leGattExceededBackgroundNotificationLimit }
  public static var leGattNearBackgroundNotificationLimit: Code { .leGattNearBackgroundNotificationLimit }
  public static var channelSoundingConfigurationFailed: Code { .channelSoundingConfigurationFailed }
  public static var channelSoundingProcedureFailed: Code { .channelSoundingProcedureFailed }
  public static var unknownDevice: Code { .unkownDevice }
}
