import BluetoothDaemon
import BluetoothWire
import Foundation

extension SessionError {
  /// Returns the error for apps: a `CBATTError` for an error of a peer's attribute server, otherwise a `CBError`,
  /// with the underlying code in `userInfo`. `linkError` is the code for reasons that have no specific one, and
  /// `service` the service that the request was about, for the text.
  func appError(linkError: CBError.Code = .unknown, service: BluetoothUUID? = nil) -> any Error {
    switch self {
    case .att(let code):
      return CBATTError(
        CBATTError.Code(rawValue: Int(code.rawValue)) ?? .unlikelyError,
        userInfo: [
          CBErrorATTErrorCodeKey: NSNumber(value: code.rawValue),
          NSLocalizedDescriptionKey: (CBATTError.Code(rawValue: Int(code.rawValue)) ?? .unlikelyError).text,
        ])
    case .link(let reason):
      let code = Self.code(for: reason) ?? linkError
      return CBError(
        code,
        userInfo: [
          CBErrorHCIErrorCodeKey: NSNumber(value: reason.rawValue), NSLocalizedDescriptionKey: code.text,
        ])
    case .timeout: return Self.plain(.connectionTimeout)
    case .invalidResponse, .refused: return Self.plain(.unknown)
    case .invalidHandle: return Self.plain(.invalidHandle)
    case .unusableHandle(let handle):
      let owner = service.map { " of the service \($0)" } ?? ""
      let text = "The attribute handle \(handle)\(owner) is taken, out of order or outside the range."
      return CBError(.invalidHandle, userInfo: [NSLocalizedDescriptionKey: text])
    case .notSupported: return Self.plain(.operationNotSupported)
    case .invalidParameters: return Self.plain(.invalidParameters)
    case .uuidNotAllowed: return Self.plain(.uuidNotAllowed)
    case .alreadyAdvertising: return Self.plain(.alreadyAdvertising)
    case .outOfSpace: return Self.plain(.outOfSpace)
    case .connectionLimitReached: return Self.plain(.connectionLimitReached)
    case .encryptionTimedOut: return Self.plain(.encryptionTimedOut)
    case .tooManyPairedDevices: return Self.plain(.tooManyLEPairedDevices)
    case .unknownPeer: return Self.plain(.unknownDevice)
    }
  }

  private static func plain(_ code: CBError.Code) -> CBError {
    CBError(code, userInfo: [NSLocalizedDescriptionKey: code.text])
  }

  /// Returns the code of a reason that has a specific `CBError`; nil for others.
  private static func code(for reason: HCI.ErrorCode) -> CBError.Code? {
    switch reason {
    case .connectionTimeout, .llResponseTimeout: return .connectionTimeout
    case .remoteUserTerminatedConnection, .remoteDeviceTerminatedLowResources, .remoteDeviceTerminatedPowerOff:
      return .peripheralDisconnected
    case .connectionTerminatedByLocalHost: return .operationCancelled
    case .unknownConnectionIdentifier: return .notConnected
    case .connectionFailedToBeEstablished: return .connectionFailed
    case .connectionLimitExceeded, .connectionRejectedLimitedResources: return .connectionLimitReached
    case .pinOrKeyMissing: return .peerRemovedPairingInformation
    default: return nil
    }
  }
}
