/// The state of an app's connection to a peripheral.
public enum CBPeripheralState: Int, Sendable {
  /// There is no link.
  case disconnected = 0
  /// The app has called `connect`, and the link is not established yet.
  case connecting = 1
  /// The link is established and can be used.
  case connected = 2
  /// The connection was cancelled, and the link has not ended yet.
  case disconnecting = 3
}
