import BluetoothProfiles

/// A speed and cadence sensor on a bicycle: Cycling Speed and Cadence (0x1816).
public struct CyclingSensor: Accessory {
  /// The UUID of the Cycling Speed and Cadence service.
  public static let service: BluetoothUUID = 0x1816
  /// CSC Measurement, notified every second: the cumulative revolutions and the time of the last complete one.
  public static let measurement = Characteristic<CSCMeasurement>(of: service)
  /// CSC Feature: wheel and crank revolution data supported.
  public static let feature = Characteristic<CSCFeature>(of: service)

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
  public var appearance: Appearance { Appearance(rawValue: 0x0485) }

  /// The Cycling Speed and Cadence service.
  public var services: [AccessoryService<Self>] {
    [
      AccessoryService(
        Self.service,
        [
          AccessoryCharacteristic(Self.measurement, .notify, value: \.current),
          AccessoryCharacteristic(Self.feature, .read, value: { _ in [.wheelRevolutionData, .crankRevolutionData] }),
        ])
    ]
  }

  /// The measurement that is notified now.
  private var current: CSCMeasurement {
    CSCMeasurement(
      wheel: WheelRevolutions(
        cumulative: UInt32(clamping: Int64(wheelRevolutions)), lastEventTime: Self.ticks(wheelEventTime)),
      crank: CrankRevolutions(
        cumulative: UInt16(truncatingIfNeeded: Int64(crankRevolutions)), lastEventTime: Self.ticks(crankEventTime)))
  }

  private var wheelRevolutions: Double { wheelCircumference >= 0.01 ? distance / wheelCircumference : 0 }

  /// Returns a time in units of 1/1024 s, which wraps around every 64 s.
  private static func ticks(_ seconds: Double) -> Scalar<Seconds1024> {
    Scalar(clamping: Int(UInt16(truncatingIfNeeded: Int64(min(max(seconds, 0), 1e12) * 1_024))))
  }

  /// Starts riding.
  public mutating func started(in context: inout AccessoryContext) {
    lastTime = context.now
    context.wake(after: .seconds(1))
  }

  /// Adds the distance and crank revolutions of the time passed, and notifies subscribers.
  public mutating func timeReached(in context: inout AccessoryContext) {
    let seconds = (context.now - (lastTime ?? context.now)).seconds
    lastTime = context.now
    // Implausible values are clamped; beyond these limits the profile's counters would carry no information.
    let speed = speed.isFinite ? min(max(0, speed), 1_000) : 0
    let cadence = cadence.isFinite ? min(max(0, cadence), 10_000) : 0
    distance += speed * seconds
    crankRevolutions += cadence / 60 * seconds
    // The end of the last complete revolution: now, minus the time spent on the current one.
    if speed > 0 {
      wheelEventTime =
        context.now.seconds - wheelRevolutions.truncatingRemainder(dividingBy: 1) * wheelCircumference / speed
    }
    if cadence > 0 {
      crankEventTime = context.now.seconds - crankRevolutions.truncatingRemainder(dividingBy: 1) * 60 / cadence
    }
    context.notify(Self.measurement)
    context.wake(after: .seconds(1))
  }
}
