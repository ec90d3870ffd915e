/// A sensor at a bicycle's wheel and crank: Cycling Speed and Cadence (0x1816).
public struct CyclingSensor: Accessory {
  /// CSC Measurement: notified each second.
  public static let measurement = CharacteristicPath("2A5B", of: "1816")
  /// CSC Feature: wheel and crank.
  public static let feature = CharacteristicPath("2A5C", of: "1816")

  /// What it calls itself.
  public var name: String
  /// Metres per second.
  public var speed: Double
  /// Revolutions of the crank per minute.
  public var cadence: Double
  /// Metres.
  public var wheelCircumference: Double
  /// Metres since the beginning.
  public private(set) var distance = 0.0
  /// Revolutions of the crank since the beginning.
  public private(set) var crankRevolutions = 0.0
  private var lastTime: Duration?
  private var wheelEventTime = 0.0
  private var crankEventTime = 0.0

  /// A bicycle that is ridden like this.
  public init(
    name: String = "Bicycle", speed: Double = 5, cadence: Double = 70, wheelCircumference: Double = 2.1
  ) {
    self.name = name
    self.speed = speed
    self.cadence = cadence
    self.wheelCircumference = wheelCircumference
  }

  /// Connectable, with Flags, the service and the name.
  public var advertising: Advertising {
    Advertising(AdvertisingPayload(fitting: [.flags(), .services16([0x1816]), .name(name)]))
  }

  /// Speed and Cadence Sensor.
  public var appearance: UInt16 { 0x0485 }

  /// Cycling Speed and Cadence.
  public var services: [AccessoryService] {
    [AccessoryService("1816", [AccessoryCharacteristic("2A5B", .notify), AccessoryCharacteristic("2A5C", .read)])]
  }

  /// Cycling Speed and Cadence Service 1.0, 3.1, 3.2: whole revolutions, and when the last one was complete, in 1/1024 s.
  public func value(of path: CharacteristicPath) -> [UInt8] {
    switch path {
    case Self.measurement:
      return [0x03] + UInt32(clamping: Int64(wheelRevolutions)).octets + Self.ticks(wheelEventTime)
        + UInt16(truncatingIfNeeded: Int64(crankRevolutions)).octets + Self.ticks(crankEventTime)
    case Self.feature: return [0x03, 0x00]
    default: return []
    }
  }

  private var wheelRevolutions: Double { wheelCircumference >= 0.01 ? distance / wheelCircumference : 0 }

  private static func ticks(_ seconds: Double) -> [UInt8] {
    UInt16(truncatingIfNeeded: Int64(min(max(seconds, 0), 1e12) * 1_024)).octets
  }

  /// Begins to ride.
  public mutating func started(_ session: inout AccessorySession) {
    lastTime = session.now
    session.wake(after: .seconds(1))
  }

  /// Rides on.
  public mutating func timeReached(_ session: inout AccessorySession) {
    let seconds = (session.now - (lastTime ?? session.now)).seconds
    lastTime = session.now
    // Beyond these it is no bicycle, and beyond those the counters of the profile say nothing.
    let speed = speed.isFinite ? min(max(0, speed), 1_000) : 0
    let cadence = cadence.isFinite ? min(max(0, cadence), 10_000) : 0
    distance += speed * seconds
    crankRevolutions += cadence / 60 * seconds
    // When the last whole revolution was complete: as long ago as what is begun has taken.
    if speed > 0 {
      wheelEventTime =
        session.now.seconds - wheelRevolutions.truncatingRemainder(dividingBy: 1) * wheelCircumference / speed
    }
    if cadence > 0 {
      crankEventTime = session.now.seconds - crankRevolutions.truncatingRemainder(dividingBy: 1) * 60 / cadence
    }
    session.notify(Self.measurement)
    session.wake(after: .seconds(1))
  }
}
