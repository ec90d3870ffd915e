/// A change of a connection of any app.
public enum CBConnectionEvent: Int, Sendable {
  /// The peer has disconnected.
  case peerDisconnected = 0
  /// The peer has connected.
  case peerConnected = 1
}

/// The options of `CBCentralManager.registerForConnectionEvents(options:)`.
public struct CBConnectionEventMatchingOption: RawRepresentable, Hashable, Sendable {
  /// The text of the key.
  public let rawValue: String
  /// Creates a key from its text.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The key for the services of the peers to report: a `[CBUUID]` with at most four elements.
  public static let serviceUUIDs = CBConnectionEventMatchingOption(
    rawValue: "kCBConnectionEventMatchingOptionServiceUUIDs")
  /// The key for the identifiers of the peers to report: a `[UUID]`.
  public static let peripheralUUIDs = CBConnectionEventMatchingOption(
    rawValue: "kCBConnectionEventMatchingOptionPeripheralUUIDs")
}
