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

/// The faults that have struck last, and how many there were: a plan can strike for hours.
struct FaultLog {
  /// What is kept at least, if there were as many.
  static let capacity = 10_000

  private var strikes: [FaultStrike] = []
  private(set) var count = 0

  mutating func add(_ strike: FaultStrike) {
    count += 1
    if strikes.count == 2 * Self.capacity { strikes.removeFirst(Self.capacity) }
    strikes.append(strike)
  }

  var latest: [FaultStrike] { strikes.suffix(Self.capacity) }
}
