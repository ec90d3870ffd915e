import BluetoothProfiles

/// A foot pod of a runner: Running Speed and Cadence (0x1814), with Battery and Device Information · Running Speed and
/// Cadence Profile 1.0, 3.
public struct RunningSensor: Accessory {
  /// The UUID of the Running Speed and Cadence service.
  public static let service: BluetoothUUID = 0x1814
  /// RSC Measurement, notified every second.
  public static let measurement = Characteristic<RSCMeasurement>(of: service)
  /// RSC Feature: all features supported.
  public static let feature = Characteristic<RSCFeature>(of: service)
  /// Sensor Location: the value of `location`.
  public static let sensorLocation = Characteristic<SensorLocation>(of: service)
  /// SC Control Point: it sets the total distance and the location, and calibrates the sensor.
  public static let controlPoint = Characteristic<SCControlPoint>(of: service)

  /// The advertised name.
  public var name: String
  /// The advertising intervals after power-on and after each disconnection.
  public var advertisingSchedule = Advertising.fastThenSlow
  /// The speed in metres per second.
  public var speed: Double
  /// The cadence in steps per minute, 0 to 255.
  public var cadence: UInt8
  /// The lowest speed at which the sensor reports running instead of walking, in metres per second.
  public var runningSpeed = 2.0
  /// The duration of a calibration.
  public var calibrationTime = Duration.seconds(5)
  /// True if calibrations succeed; false if they end with Operation Failed.
  public var canCalibrate = true
  /// The battery level, 0 to 100 %.
  public var batteryLevel: UInt8 = 100
  /// The values of the Device Information service.
  public var information = DeviceInformation(model: "Foot Pod")
  /// The total distance in metres, which clients may set.
  public private(set) var totalDistance = 0.0
  private var lastTime: Duration?
  private var placement = SensorPlacement(location: .inShoe, supported: [.inShoe, .topOfShoe, .hip])
  private var control = ControlPoint(Self.controlPoint, errors: .application)
  private var timers = AccessoryTimers<Purpose>()

  private enum Purpose { case measurement, calibration }

  /// Creates a sensor of a runner with this speed and cadence.
  public init(name: String = "Foot Pod", speed: Double = 3, cadence: UInt8 = 160) {
    self.name = name
    self.speed = speed
    self.cadence = cadence
  }

  /// The place of the sensor on the body, which clients may change.
  public var location: SensorLocation { placement.location }

  /// Connectable advertising with Flags, the service UUID and the name.
  public var advertising: Advertising {
    Advertising(
      AdvertisingPayload(fitting: [.flags(), .services([Self.service]), .name(name)]),
      schedule: advertisingSchedule)
  }

  /// Running Walking Sensor: In-Shoe.
  public var appearance: Appearance { Appearance(rawValue: 0x0441) }

  /// The Running Speed and Cadence, Battery and Device Information services.
  public var services: [AccessoryService<Self>] {
    [
      AccessoryService(
        Self.service,
        [
          AccessoryCharacteristic(Self.measurement, .notify, value: \.current),
          AccessoryCharacteristic(
            Self.feature, .read,
            value: { _ in
              [
                .instantaneousStrideLength, .totalDistance, .walkingOrRunningStatus, .calibrationProcedure,
                .multipleSensorLocations,
              ]
            }),
          AccessoryCharacteristic(Self.sensorLocation, .read, value: \.placement.location),
          AccessoryCharacteristic(
            controlPoint: Self.controlPoint, \.control,
            command: { sensor, octets, context in sensor.perform(octets, in: &context) },
            cancelled: { sensor, context in sensor.timers.set(.calibration, after: nil, in: &context) }),
        ]),
      .battery(level: \.batteryLevel),
      .deviceInformation(information),
    ]
  }

  /// Performs a command. Returns its response, or nil while a calibration is in progress · Running Speed and Cadence
  /// Service 1.0, 3.4.
  private mutating func perform(_ octets: [UInt8], in context: inout AccessoryContext) -> SCControlPoint? {
    let opCode = SCControlPoint.OpCode(rawValue: octets[0])
    switch try? SCControlPoint(octets) {
    case .setCumulativeValue(let decimetres):
      totalDistance = Double(decimetres) / 10
      return .response(to: opCode, .success, [])
    case .updateSensorLocation(let location): return .response(to: opCode, placement.choose(location), [])
    case .requestSupportedSensorLocations: return .response(to: opCode, .success, placement.supported)
    case .startSensorCalibration:
      timers.set(.calibration, after: calibrationTime, in: &context)
      return nil
    case nil where opCode != .responseCode:
      // The parameter is missing, or too long.
      return .response(to: opCode, .invalidParameter, [])
    default: return .response(to: opCode, .opCodeNotSupported, [])
    }
  }

  private var plausibleSpeed: Double { speed.isFinite ? min(max(0, speed), 255) : 0 }

  /// The measurement that is notified now. The stride length is the distance of one count of the cadence.
  private var current: RSCMeasurement {
    let stride = cadence == 0 ? 0 : plausibleSpeed * 60 / Double(cadence)
    return RSCMeasurement(
      speed: Scalar(clamping: Int((plausibleSpeed * 256).rounded())), cadence: cadence,
      strideLength: Scalar(clamping: Int((stride * 100).rounded())),
      totalDistance: Scalar(clamping: Int((totalDistance.limited(to: 0...1e12) * 10).rounded())),
      isRunning: plausibleSpeed >= runningSpeed)
  }

  /// Starts running.
  public mutating func started(in context: inout AccessoryContext) {
    lastTime = context.now
    timers.set(.measurement, after: .seconds(1), in: &context)
  }

  /// Adds the distance of the time passed and notifies subscribers, or ends a calibration.
  public mutating func timeReached(in context: inout AccessoryContext) {
    totalDistance += plausibleSpeed * (context.now - (lastTime ?? context.now)).seconds
    lastTime = context.now
    for purpose in timers.takeDue(in: &context) {
      switch purpose {
      case .measurement:
        context.notify(Self.measurement)
        timers.set(.measurement, after: .seconds(1), in: &context)
      case .calibration:
        control.respond(
          .response(to: .startSensorCalibration, canCalibrate ? .success : .operationFailed, []), in: &context)
      }
    }
  }
}
