/// Something that tells how full its battery is: Battery (0x180F).
public struct BatteryPack: Accessory {
  /// What it calls itself.
  public var name: String
  /// 0 to 100 %; whoever listens is told when it changes.
  public var level: UInt8
  /// After how long the level falls by 1 %; nil: never.
  public var timePerPercent: Duration?

  /// A battery that is as full as this.
  public init(name: String = "Battery", level: UInt8 = 100, timePerPercent: Duration? = nil) {
    self.name = name
    self.level = min(level, 100)
    self.timePerPercent = timePerPercent
  }

  /// Connectable, with Flags, the service and the name.
  public var advertising: Advertising {
    Advertising(AdvertisingPayload(fitting: [.flags(), .services16([0x180F]), .name(name)]))
  }

  /// Battery.
  public var services: [AccessoryService] { [.battery] }

  /// Battery Service 1.0, 3.1.
  public func value(of path: CharacteristicPath) -> [UInt8] { path == .batteryLevel ? [level] : [] }

  /// Begins to run down.
  public mutating func started(_ session: inout AccessorySession) { session.wake(after: timePerPercent) }

  /// Runs down.
  public mutating func timeReached(_ session: inout AccessorySession) {
    guard level > 0 else { return }
    level -= 1
    session.notify(.batteryLevel)
    session.wake(after: timePerPercent)
  }
}
