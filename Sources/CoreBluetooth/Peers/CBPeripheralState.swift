/// How an app stands to a peripheral.
public enum CBPeripheralState: Int, Sendable {
  /// There is no link.
  case disconnected = 0
  /// The link is wanted and waited for.
  case connecting = 1
  /// The link can be used.
  case connected = 2
  /// The link was cancelled and is about to end.
  case disconnecting = 3
}
