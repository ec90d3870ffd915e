import BluetoothHost
import BluetoothWire

/// The reason why a request of an app failed.
package enum SessionError: Error, Hashable, Sendable {
  /// The peer answered with this ATT error code.
  case att(ATT.ErrorCode)
  /// The link ended, or could not be established, for this reason.
  case link(HCI.ErrorCode)
  /// The peer did not answer in time.
  case timeout
  /// The peer violated the protocol.
  case invalidResponse
  /// The peer sent a handle of an attribute that can't be, such as the end of a service before its start, or it has no
  /// such attribute any more, so that this device has not asked it.
  case invalidHandle
  /// A service can't have this handle: it is 0, taken, out of order, or behind the last handle.
  case unusableHandle(AttributeHandle)
  /// This version or this adapter does not support the request.
  case notSupported
  /// The arguments are invalid.
  case invalidParameters
  /// The UUID is reserved for the system.
  case uuidNotAllowed
  /// Advertising has started already.
  case alreadyAdvertising
  /// There is no room for the object.
  case outOfSpace
  /// The limit of simultaneous links is reached.
  case connectionLimitReached
  /// The link could not be encrypted in time.
  case encryptionTimedOut
  /// There is no room for another bond.
  case tooManyPairedDevices
  /// The peer refuses, for a reason without an error code in the apps' API.
  case refused
  /// The peer has another identifier since its identity became known.
  case unknownPeer
}
