/// A fault that has struck.
public struct FaultStrike: Hashable, Sendable, Codable {
  /// Where it struck.
  public enum Layer: String, Hashable, Sendable, Codable { case air, hci, device }

  /// The world's radio time.
  public var time: Duration
  public var layer: Layer
  /// The device that sent the packet, or to which it happened; `injected` for a packet that comes from no device.
  public var device: String
  /// What happened, in words: `lost: ATT handleValueNotification of attribute 0x000C`.
  public var description: String
}

extension FaultStrike: CustomStringConvertible {}
