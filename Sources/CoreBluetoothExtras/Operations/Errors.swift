import CoreBluetooth

extension CBError {
  /// The error of operations that need Bluetooth to be on, in another state.
  static func unavailable(_ state: CBManagerState) -> CBError {
    switch state {
    case .unsupported, .unauthorized:
      CBError(
        .operationNotSupported, userInfo: [NSLocalizedDescriptionKey: "Bluetooth can't be used: it is \(state)."])
    default:
      CBError(
        .operationCancelled, userInfo: [NSLocalizedDescriptionKey: "Bluetooth is not powered on: it is \(state)."])
    }
  }

  /// The error of operations that this app has ended itself.
  static func cancelled(_ reason: String) -> CBError {
    CBError(.operationCancelled, userInfo: [NSLocalizedDescriptionKey: reason])
  }

  static var isNotConnected: CBError {
    CBError(.notConnected, userInfo: [NSLocalizedDescriptionKey: "The peripheral is not connected."])
  }

  /// The error of attributes that were discovered on another link, or have become invalid.
  static var isInvalidAttribute: CBError {
    CBError(
      .uuidNotAllowed,
      userInfo: [NSLocalizedDescriptionKey: "The attribute does not belong to this link, or is no longer valid."])
  }
}
