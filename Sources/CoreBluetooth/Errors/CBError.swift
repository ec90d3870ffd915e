// Apple's names.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

/// The domain of `CBError` as an `NSError`.
public let CBErrorDomain: String = "CBErrorDomain"

/// What went wrong on this side or with the link. What a peer's attribute server answers is a `CBATTError`.
public struct CBError: CustomNSError, Hashable, Sendable {
  /// What went wrong.
  public enum Code: Int, Sendable {
    /// Something without a code of its own.
    case unknown = 0
    /// An argument was refused.
    case invalidParameters = 1
    /// An attribute's handle is not valid.
    case invalidHandle = 2
    /// There is no link.
    case notConnected = 3
    /// There is no room.
    case outOfSpace = 4
    /// The operation was cancelled.
    case operationCancelled = 5
    /// The link was lost: nothing was heard of the peer for the supervision timeout.
    case connectionTimeout = 6
    /// The peer ended the link.
    case peripheralDisconnected = 7
    /// The system keeps this UUID for itself, or the attribute object is not of this link.
    case uuidNotAllowed = 8
    /// Advertising is on already.
    case alreadyAdvertising = 9
    /// The link could not be made.
    case connectionFailed = 10
    /// There are too many links.
    case connectionLimitReached = 11
    /// The peer is not known; Apple's own spelling.
    case unkownDevice = 12
    /// This version, or this adapter, does not have it.
    case operationNotSupported = 13
    /// The peer forgot the bond.
    case peerRemovedPairingInformation = 14
    /// Pairing or encryption took too long.
    case encryptionTimedOut = 15
    /// There is no room for another bond.
    case tooManyLEPairedDevices = 16
    /// Too many notifications arrived in the background (watchOS).
    case leGattExceededBackgroundNotificationLimit = 17
    /// Nearly too many notifications arrived in the background (watchOS).
    case leGattNearBackgroundNotificationLimit = 18

    /// The peer is not known.
    public static var unknownDevice: Code { .unkownDevice }
  }

  /// The raw code; one that has no `Code` can only come from `init(_nsError:)`.
  public let errorCode: Int
  // Never changed after init; the values are the app's or plain strings and numbers.
  private nonisolated(unsafe) let information: [String: Any]

  /// An error of `code`.
  public init(_ code: Code, userInfo: [String: Any] = [:]) {
    errorCode = code.rawValue
    information = userInfo
  }

  /// The error that `error` stands for, whatever its domain.
  public init(_nsError error: NSError) {
    errorCode = error.code
    information = error.userInfo
  }

  /// This error as an `NSError`.
  public var _nsError: NSError { NSError(domain: CBErrorDomain, code: errorCode, userInfo: errorUserInfo) }

  /// `CBErrorDomain`.
  public static var errorDomain: String { CBErrorDomain }

  /// What went wrong; `unknown` for a raw code that has no case.
  public var code: Code { Code(rawValue: errorCode) ?? .unknown }

  /// What was given to `init`.
  public var userInfo: [String: Any] { information }

  /// `userInfo` with the code's text, if it has none of its own.
  public var errorUserInfo: [String: Any] {
    information.merging([NSLocalizedDescriptionKey: code.text]) { own, _ in own }
  }

  /// `userInfo`'s text, else the code's.
  public var localizedDescription: String {
    information[NSLocalizedDescriptionKey] as? String ?? code.text
  }

  // Written out because NSError.hash recurses without end on Linux.

  /// Same code and same `userInfo`.
  public static func == (left: CBError, right: CBError) -> Bool {
    left.errorCode == right.errorCode && sameInformation(left.information, right.information)
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(errorCode) }
}

extension CBError.Code: _CBErrorCode {
  public typealias _ErrorType = CBError

  /// The text that Apple's systems show, where it is known.
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
    }
  }
}

// The codes as members of the error, so that `catch CBError.notConnected` reads as on Apple's systems.
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
  public static var unknownDevice: Code { .unkownDevice }
}
