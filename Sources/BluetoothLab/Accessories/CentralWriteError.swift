import BluetoothProfiles

/// The reason why a value of an accessory was not written to the GATT server of a central, with
/// `AccessoryContext.writeToCentrals(_:of:)`.
public enum CentralWriteError: Error, Hashable, Sendable {
  /// The server has no such characteristic that clients may write.
  case notFound
  /// The server has rejected a request with this error.
  case rejected(ATTErrorCode)
  /// The server has not answered within 30 s, or has violated the protocol.
  case noResponse
  /// The link has ended before the write.
  case disconnected
  /// The accessory can't be a GATT client: its services are those of the system of a device (`Device.serve`), or a
  /// `PlayedAccessory` without a `Central` plays it.
  case notSupported
}

extension CentralWriteError: CustomStringConvertible {
  /// The reason in words.
  public var description: String {
    switch self {
    case .notFound: "the central has no such characteristic that may be written"
    case .rejected(let code): "the central has rejected the request with the error \(code)"
    case .noResponse: "the central has given no valid response"
    case .disconnected: "the link has ended"
    case .notSupported: "the accessory can't be a GATT client here"
    }
  }
}
