/// An accessory that reports its battery level: Battery (0x180F).
public struct BatteryPack: Accessory {
  /// The advertised name.
  public var name: String
  /// The battery level, 0 to 100 %. Subscribers are notified when it changes.
  public var level: UInt8
  /// The time in which the level falls by 1 %; nil if it never falls.
  public var timePerPercent: Duration?

  /// Creates a battery with this level; a level above 100 is clamped.
  public init(name: String = "Battery", level: UInt8 = 100, timePerPercent: Duration? = nil) {
    self.name = name
    self.level = min(level, 100)
    self.timePerPercent = timePerPercent
  }

  /// Connectable advertising with Flags, the service UUID and the name.
  public var advertising: Advertising {
    Advertising(AdvertisingPayload(fitting: [.flags(), .services16([0x180F]), .name(name)]))
  }

  /// The Battery service.
  public var services: [AccessoryService] { [.battery] }

  /// Returns the battery level in one octet · Battery Service 1.0, 3.1.
  public func value(of path: CharacteristicPath) -> [UInt8] { path == .batteryLevel ? [level] : [] }

  /// Starts discharging.
  public mutating func started(_ session: inout AccessoryContext) { session.wake(after: timePerPercent) }

  /// Lowers the level by 1 % and notifies subscribers.
  public mutating func timeReached(_ session: inout AccessoryContext) {
    guard level > 0 else { return }
    level -= 1
    session.notify(.batteryLevel)
    session.wake(after: timePerPercent)
  }
}
