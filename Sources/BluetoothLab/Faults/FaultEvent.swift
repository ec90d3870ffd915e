/// A record of a fault that has struck.
public struct FaultEvent: Hashable, Sendable, Codable {
  /// The layer of a fault.
  public enum Layer: String, Hashable, Sendable, Codable { case air, hci, device }

  /// The world's radio time at which the fault struck.
  public var time: Duration
  /// The layer of the fault.
  public var layer: Layer
  /// The name of the device that sent the packet or was affected; `injected` for a packet that comes from no device.
  public var device: String
  /// The effect in words, such as `lost: ATT handleValueNotification of attribute 0x000C`.
  public var description: String
}

extension FaultEvent: CustomStringConvertible {}

/// The latest fault events and the count of all. A plan can cause events for hours, so older events are dropped.
struct FaultLog {
  /// The number of latest events kept.
  static let capacity = 10_000

  private var events: [FaultEvent] = []
  private(set) var count = 0

  mutating func add(_ event: FaultEvent) {
    count += 1
    if events.count == 2 * Self.capacity { events.removeFirst(Self.capacity) }
    events.append(event)
  }

  var latest: [FaultEvent] { events.suffix(Self.capacity) }
}
