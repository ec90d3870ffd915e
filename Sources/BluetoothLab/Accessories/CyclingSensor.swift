import BluetoothProfiles

/// A speed and cadence sensor on a bicycle: Cycling Speed and Cadence (0x1816), with Battery and Device Information
/// · Cycling Speed and Cadence Profile 1.0, 3.
public struct CyclingSensor: Accessory {
  /// The UUID of the Cycling Speed and Cadence service.
  public static let service: BluetoothUUID = 0x1816
  /// CSC Measurement, notified every second: the cumulative revolutions and the time of the last complete one.
  public static let measurement = Characteristic<CSCMeasurement>(of: service)
  /// CSC Feature: wheel and crank revolution data and multiple sensor locations supported.
  public static let feature = Characteristic<CSCFeature>(of: service)
  /// Sensor Location: the value of `location`.
  public static let sensorLocation = Characteristic<SensorLocation>(of: service)
  /// SC Control Point: it sets the number of wheel revolutions and the location.
  public static let controlPoint = Characteristic<SCControlPoint>(of: service)

  /// The advertised name.
  public var name: String
  /// The advertising intervals after power-on and after each disconnection.
  public var advertisingSchedule = Advertising.fastThenSlow
  /// The speed in metres per second.
  public var speed: Double
  /// The cadence in crank revolutions per minute.
  public var cadence: Double
  /// The wheel's circumference in metres.
  public var wheelCircumference: Double
  /// The battery level, 0 to 100 %.
  public var batteryLevel: UInt8 = 100
  /// The values of the Device Information service.
  public var information = DeviceInformation(model: "Speed and Cadence Sensor")
  private var motion = BicycleMotion()
  private var placement = SensorPlacement(
    location: .rearWheel, supported: [.rearWheel, .frontWheel, .chainstay, .rearHub])
  private var control = ControlPoint(Self.controlPoint, errors: .application)

  /// Creates a sensor on a bicycle with this speed and cadence.
  public init(
    name: String = "Bicycle", speed: Double = 5, cadence: Double = 70, wheelCircumference: Double = 2.1
  ) {
    self.name = name
    self.speed = speed
    self.cadence = cadence
    self.wheelCircumference = wheelCircumference
  }

  /// The distance since power-on, in metres.
  public var distance: Double { motion.distance }
  /// The number of crank revolutions since power-on.
  public var crankRevolutions: Double { motion.crankRevolutions }
  /// The place of the sensor on the bicycle, which clients may change.
  public var location: SensorLocation { placement.location }

  /// Connectable advertising with Flags, the service UUID and the name.
  public var advertising: Advertising {
    Advertising(
      AdvertisingPayload(fitting: [.flags(), .services([Self.service]), .name(name)]),
      schedule: advertisingSchedule)
  }

  /// Cycling: Speed and Cadence Sensor.
  public var appearance: Appearance { Appearance(rawValue: 0x0485) }

  /// The Cycling Speed and Cadence, Battery and Device Information services.
  public var services: [AccessoryService<Self>] {
    [
      AccessoryService(
        Self.service,
        [
          AccessoryCharacteristic(Self.measurement, .notify, value: \.current),
          AccessoryCharacteristic(
            Self.feature, .read,
            value: { _ in [.wheelRevolutionData, .crankRevolutionData, .multipleSensorLocations] }),
          AccessoryCharacteristic(Self.sensorLocation, .read, value: \.placement.location),
          AccessoryCharacteristic(
            controlPoint: Self.controlPoint, \.control, command: { sensor, octets, _ in sensor.perform(octets) }),
        ]),
      .battery(level: \.batteryLevel),
      .deviceInformation(information),
    ]
  }

  /// Performs a command and returns its response · Cycling Speed and Cadence Service 1.0, 3.4.
  private mutating func perform(_ octets: [UInt8]) -> SCControlPoint {
    let opCode = SCControlPoint.OpCode(rawValue: octets[0])
    switch try? SCControlPoint(octets) {
    case .setCumulativeValue(let number):
      motion.setWheelRevolutions(number)
      return .response(to: opCode, .success, [])
    case .updateSensorLocation(let location): return .response(to: opCode, placement.choose(location), [])
    case .requestSupportedSensorLocations: return .response(to: opCode, .success, placement.supported)
    case nil where opCode != .startSensorCalibration && opCode != .responseCode:
      // The parameter is missing, or too long.
      return .response(to: opCode, .invalidParameter, [])
    default: return .response(to: opCode, .opCodeNotSupported, [])
    }
  }

  /// The measurement that is notified now.
  private var current: CSCMeasurement { CSCMeasurement(wheel: motion.wheel(rate: 1_024), crank: motion.crank) }

  private mutating func advance(to now: Duration) {
    motion.advance(to: now, speed: speed, cadence: cadence, circumference: wheelCircumference)
  }

  /// Starts riding.
  public mutating func started(in context: inout AccessoryContext) {
    motion.start(at: context.now)
    context.wake(after: .seconds(1))
  }

  /// Adds the distance and crank revolutions of the time passed, and notifies subscribers.
  public mutating func timeReached(in context: inout AccessoryContext) {
    advance(to: context.now)
    context.notify(Self.measurement)
    context.wake(after: .seconds(1))
  }
}
