import BluetoothProfiles

/// An accessory that reports its battery level: Battery (0x180F).
public struct BatteryPack: Accessory {
  /// The UUID of the Battery service.
  public static let service: BluetoothUUID = 0x180F
  /// Battery Level: 0 to 100 %.
  public static let batteryLevel = Characteristic<BatteryLevel>(of: service)

  /// The advertised name.
  public var name: String
  /// The advertising intervals after power-on and after each disconnection.
  public var advertisingSchedule = Advertising.fastThenSlow
  /// The battery level, 0 to 100 %. Subscribers are notified when it changes.
  public var level: UInt8
  /// The time in which the level falls by 1 %; nil if it never falls.
  public var timePerPercent: Duration?
  /// The time after which the level falls next; nil if nothing is scheduled.
  private var scheduledTime: Duration?

  /// Creates a battery with this level; a level above 100 is clamped.
  public init(name: String = "Battery", level: UInt8 = 100, timePerPercent: Duration? = nil) {
    self.name = name
    self.level = min(level, 100)
    self.timePerPercent = timePerPercent
  }

  /// Connectable advertising with Flags, the service UUID and the name.
  public var advertising: Advertising {
    Advertising(
      AdvertisingPayload(fitting: [.flags(), .services([Self.service]), .name(name)]),
      schedule: advertisingSchedule)
  }

  /// The Battery service.
  public var services: [AccessoryService<Self>] { [.battery(level: \.level)] }

  /// Starts discharging.
  public mutating func started(in context: inout AccessoryContext) { schedule(in: &context) }

  /// Applies a changed `timePerPercent`, which begins now.
  public mutating func updated(in context: inout AccessoryContext) {
    if timePerPercent != scheduledTime { schedule(in: &context) }
  }

  /// Lowers the level by 1 % and notifies subscribers.
  public mutating func timeReached(in context: inout AccessoryContext) {
    scheduledTime = nil
    guard level > 0 else { return }
    level -= 1
    context.notify(Self.batteryLevel)
    schedule(in: &context)
  }

  private mutating func schedule(in context: inout AccessoryContext) {
    scheduledTime = timePerPercent
    context.wake(after: timePerPercent)
  }
}

extension AccessoryService {
  /// Returns the Battery service with a level that clients can read and subscribe to.
  ///
  /// - Parameter level: returns the level, 0 to 100 %; a level above 100 is clamped.
  public static func battery(level: @escaping @Sendable (Owner) -> UInt8) -> AccessoryService {
    AccessoryService(
      BatteryPack.service,
      [
        AccessoryCharacteristic(
          BatteryPack.batteryLevel, [.read, .notify], value: { BatteryLevel(clamping: Int(level($0))) })
      ])
  }
}
