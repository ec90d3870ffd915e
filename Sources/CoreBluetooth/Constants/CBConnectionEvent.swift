/// What happened to a connection of any app.
public enum CBConnectionEvent: Int, Sendable {
  /// The peer is gone.
  case peerDisconnected = 0
  /// The peer is there.
  case peerConnected = 1
}

/// What `CBCentralManager.registerForConnectionEvents(options:)` may ask for.
public struct CBConnectionEventMatchingOption: RawRepresentable, Hashable, Sendable {
  /// The key's text.
  public let rawValue: String
  /// A key of this text.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Peers with one of these services: a `[CBUUID]` of at most four.
  public static let serviceUUIDs = CBConnectionEventMatchingOption(
    rawValue: "kCBConnectionEventMatchingOptionServiceUUIDs")
  /// Peers with one of these identifiers: a `[UUID]`.
  public static let peripheralUUIDs = CBConnectionEventMatchingOption(
    rawValue: "kCBConnectionEventMatchingOptionPeripheralUUIDs")
}
