/// A speed and cadence sensor on a bicycle: Cycling Speed and Cadence (0x1816).
public struct CyclingSensor: Accessory {
  /// CSC Measurement, notified every second.
  public static let measurement = CharacteristicPath("2A5B", of: "1816")
  /// CSC Feature: wheel and crank revolution data supported.
  public static let feature = CharacteristicPath("2A5C", of: "1816")

  /// The advertised name.
  public var name: String
  /// The speed in metres per second.
  public var speed: Double
  /// The cadence in crank revolutions per minute.
  public var cadence: Double
  /// The wheel's circumference in metres.
  public var wheelCircumference: Double
  /// The distance since power-on, in metres.
  public private(set) var distance = 0.0
  /// The number of crank revolutions since power-on.
  public private(set) var crankRevolutions = 0.0
  private var lastTime: Duration?
  private var wheelEventTime = 0.0
  private var crankEventTime = 0.0

  /// Creates a sensor on a bicycle with this speed and cadence.
  public init(
    name: String = "Bicycle", speed: Double = 5, cadence: Double = 70, wheelCircumference: Double = 2.1
  ) {
    self.name = name
    self.speed = speed
    self.cadence = cadence
    self.wheelCircumference = wheelCircumference
  }

  /// Connectable advertising with Flags, the service UUID and the name.
  public var advertising: Advertising {
    Advertising(AdvertisingPayload(fitting: [.flags(), .services16([0x1816]), .name(name)]))
  }

  /// Cycling: Speed and Cadence Sensor.
  public var appearance: UInt16 { 0x0485 }

  /// The Cycling Speed and Cadence service.
  public var services: [AccessoryService] {
    [AccessoryService("1816", [AccessoryCharacteristic("2A5B", .notify), AccessoryCharacteristic("2A5C", .read)])]
  }

  /// Returns the cumulative revolutions and the time of the last complete one, in units of 1/1024 s · Cycling Speed
  /// and Cadence Service 1.0, 3.1, 3.2.
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

  /// Starts riding.
  public mutating func started(_ session: inout AccessoryContext) {
    lastTime = session.now
    session.wake(after: .seconds(1))
  }

  /// Adds the distance and crank revolutions of the time passed, and notifies subscribers.
  public mutating func timeReached(_ session: inout AccessoryContext) {
    let seconds = (session.now - (lastTime ?? session.now)).seconds
    lastTime = session.now
    // Implausible values are clamped; beyond these limits the profile's counters would carry no information.
    let speed = speed.isFinite ? min(max(0, speed), 1_000) : 0
    let cadence = cadence.isFinite ? min(max(0, cadence), 10_000) : 0
    distance += speed * seconds
    crankRevolutions += cadence / 60 * seconds
    // The end of the last complete revolution: now, minus the time spent on the current one.
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
