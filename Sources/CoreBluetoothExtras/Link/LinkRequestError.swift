import BluetoothDaemon
import CoreBluetooth

/// The error of a request for other properties of a link.
public enum LinkRequestError: Error, Hashable, Sendable {
  /// A value is out of the range that the specification allows, or the values do not fit together.
  case invalidParameters
  /// The controller has no such procedure; or the peripheral has established the link, so that only the peripheral can
  /// choose the connection parameters.
  case notSupported
  /// The controller of this device or of the peripheral has refused with this error code. The peripheral's is
  /// `unsupportedRemoteFeature` if it lacks the procedure.
  case refused(HCIErrorCode)

  /// Returns the error of a request for an app.
  static func error(_ error: SessionError) -> any Error {
    switch error {
    case .link(.unknownConnectionIdentifier): CBError.isNotConnected
    case .link(.invalidHCICommandParameters), .invalidParameters: LinkRequestError.invalidParameters
    case .link(let code): LinkRequestError.refused(code)
    case .notSupported: LinkRequestError.notSupported
    default: LinkRequestError.refused(.unspecifiedError)
    }
  }
}

extension LinkRequestError: CustomStringConvertible {
  /// The error as a sentence.
  public var description: String {
    switch self {
    case .invalidParameters: "The values are out of range, or do not fit together."
    case .notSupported: "This device can't change this property of the link."
    case .refused(let code): "The request was refused: \(code)."
    }
  }
}
