import BluetoothProfiles

/// A power meter in the crank of a bicycle: Cycling Power (0x1818), with Battery and Device Information · Cycling Power
/// Profile 1.1, 3.
public struct CyclingPowerMeter: Accessory {
  /// The UUID of the Cycling Power service.
  public static let service: BluetoothUUID = 0x1818
  /// Cycling Power Measurement, notified every second.
  public static let measurement = Characteristic<CyclingPowerMeasurement>(of: service)
  /// Cycling Power Vector, notified every second: the force on the pedal at six angles.
  public static let vector = Characteristic<CyclingPowerVector>(of: service)
  /// Cycling Power Feature: the value of `features`.
  public static let feature = Characteristic<CyclingPowerFeature>(of: service)
  /// Sensor Location: the value of `location`.
  public static let sensorLocation = Characteristic<SensorLocation>(of: service)
  /// Cycling Power Control Point.
  public static let controlPoint = Characteristic<CyclingPowerControlPoint>(of: service)

  /// The advertised name.
  public var name: String
  /// The advertising intervals after power-on and after each disconnection.
  public var advertisingSchedule = Advertising.fastThenSlow
  /// The power in watts.
  public var power: Double
  /// The cadence in crank revolutions per minute.
  public var cadence: Double
  /// The speed in metres per second.
  public var speed: Double
  /// The wheel's circumference in metres.
  public var wheelCircumference = 2.1
  /// The share of the left pedal in the power, in percent, with a resolution of 0.5.
  public var leftShare = 50.0
  /// The crank length in millimetres, with a resolution of 0.5.
  public var crankLength = 172.5
  /// The length of the chain in millimetres.
  public var chainLength: UInt16 = 1_400
  /// The weight of the chain in grams.
  public var chainWeight: UInt16 = 250
  /// The length of the span between the bearings in millimetres.
  public var spanLength: UInt16 = 50
  /// The raw force that an offset compensation measures, in newtons; nil if the compensation fails.
  public var offset: Int16? = 12
  /// True if the meter supports the enhanced offset compensation, whose result has data of the manufacturer.
  public var supportsEnhancedCompensation = false
  /// The data of the manufacturer in the result of an enhanced offset compensation, with the company identifier 0xFFFF.
  /// Of these octets, the first 12 are sent, which fit in the smallest ATT_MTU.
  public var compensationData: [UInt8] = []
  /// The duration of an offset compensation.
  public var compensationTime = Duration.seconds(3)
  /// The rate at which the meter measures the force, in hertz.
  public var samplingRate: UInt8 = 50
  /// The date of the calibration in the factory; nil if the meter does not know it.
  public var factoryCalibration = DateTime(year: 2024, month: 1, day: 15)
  /// The battery level, 0 to 100 %.
  public var batteryLevel: UInt8 = 100
  /// The values of the Device Information service.
  public var information = DeviceInformation(model: "Power Meter")
  private var motion = BicycleMotion()
  /// The accumulated torque in newton metres, and the accumulated energy in joules.
  private var torque = 0.0
  private var energy = 0.0
  private var mask = ContentMask()
  private var placement = SensorPlacement(location: .leftCrank, supported: [.leftCrank, .rightCrank, .spider])
  private var control = ControlPoint(Self.controlPoint)
  private var timers = AccessoryTimers<Purpose>()
  /// The request that has started the latest offset compensation.
  private var compensation = CyclingPowerControlPoint.Request.startOffsetCompensation

  private enum Purpose { case measurement, compensation }

  /// Creates a meter of a cyclist with this power, cadence and speed.
  public init(name: String = "Power Meter", power: Double = 200, cadence: Double = 85, speed: Double = 8) {
    self.name = name
    self.power = power
    self.cadence = cadence
    self.speed = speed
  }

  /// The place of the sensor on the bicycle, which clients may change.
  public var location: SensorLocation { placement.location }

  /// The features: all commands except for the enhanced offset compensation if it is not supported, and except for the
  /// date of the calibration if it is nil.
  public var features: CyclingPowerFeature {
    var features: CyclingPowerFeature = [
      .pedalPowerBalance, .accumulatedTorque, .wheelRevolutionData, .crankRevolutionData, .accumulatedEnergy,
      .offsetCompensation, .contentMasking, .multipleSensorLocations, .crankLengthAdjustment, .chainLengthAdjustment,
      .chainWeightAdjustment, .spanLengthAdjustment, .instantaneousMeasurementDirection,
    ]
    if factoryCalibration != nil { features.insert(.factoryCalibrationDate) }
    if supportsEnhancedCompensation { features.insert(.enhancedOffsetCompensation) }
    return features
  }

  /// Connectable advertising with Flags, the service UUID and the name.
  public var advertising: Advertising {
    Advertising(
      AdvertisingPayload(fitting: [.flags(), .services([Self.service]), .name(name)]),
      schedule: advertisingSchedule)
  }

  /// Cycling: Power Sensor.
  public var appearance: Appearance { Appearance(rawValue: 0x0484) }

  /// The Cycling Power, Battery and Device Information services.
  public var services: [AccessoryService<Self>] {
    [
      AccessoryService(
        Self.service,
        [
          AccessoryCharacteristic(Self.measurement, .notify, value: \.current),
          AccessoryCharacteristic(Self.vector, .notify, value: \.currentVector),
          AccessoryCharacteristic(Self.feature, .read, value: \.features),
          AccessoryCharacteristic(Self.sensorLocation, .read, value: \.placement.location),
          AccessoryCharacteristic(
            controlPoint: Self.controlPoint, \.control,
            command: { meter, octets, context in meter.perform(octets, in: &context) },
            cancelled: { meter, context in meter.timers.set(.compensation, after: nil, in: &context) }),
        ]),
      .battery(level: \.batteryLevel),
      .deviceInformation(information),
    ]
  }

  // MARK: Control point

  /// The bits of the mask: the fields of the measurement, up to the accumulated energy.
  private static let maskable: UInt16 = 0x01FF

  /// Performs a command. Returns its response, or nil while an offset compensation is in progress · Cycling Power
  /// Service 1.1, 3.4.
  private mutating func perform(_ octets: [UInt8], in context: inout AccessoryContext) -> CyclingPowerControlPoint? {
    let opCode = CyclingPowerControlPoint.OpCode(rawValue: octets[0])
    func respond(_ response: ControlPointResponse, _ parameter: [UInt8] = []) -> CyclingPowerControlPoint {
      .response(to: opCode, response, parameter)
    }
    switch try? CyclingPowerControlPoint(octets) {
    case .setCumulativeValue(let number): motion.setWheelRevolutions(number)
    case .updateSensorLocation(let location): return respond(placement.choose(location))
    case .setCrankLength(let length): crankLength = Double(length.rawValue) / 2
    case .setChainLength(let length): chainLength = length
    case .setChainWeight(let weight): chainWeight = weight
    case .setSpanLength(let length): spanLength = length
    case .maskMeasurementContent(let mask):
      guard mask & ~Self.maskable == 0 else { return respond(.invalidParameter) }
      self.mask.set(mask, by: context.client)
    case .request(.startOffsetCompensation):
      compensate(.startOffsetCompensation, in: &context)
      return nil
    case .request(.startEnhancedOffsetCompensation) where supportsEnhancedCompensation:
      compensate(.startEnhancedOffsetCompensation, in: &context)
      return nil
    case .request(let request):
      guard let parameter = parameter(of: request) else { return respond(.opCodeNotSupported) }
      return respond(.success, parameter)
    case nil where opCode != .responseCode:
      // The parameter is missing, or too long.
      return respond(.invalidParameter)
    case .response, .other, nil: return respond(.opCodeNotSupported)
    }
    return respond(.success)
  }

  /// Starts an offset compensation.
  private mutating func compensate(
    _ request: CyclingPowerControlPoint.Request, in context: inout AccessoryContext
  ) {
    compensation = request
    timers.set(.compensation, after: compensationTime, in: &context)
  }

  /// The response to the offset compensation that ends now. A failed enhanced compensation has the reason Incorrect
  /// Calibration Position (1).
  private var compensationResponse: CyclingPowerControlPoint {
    let opCode = CyclingPowerControlPoint.OpCode(rawValue: compensation.rawValue)
    let isEnhanced = compensation == .startEnhancedOffsetCompensation
    guard let offset else { return .response(to: opCode, .operationFailed, isEnhanced ? [1] : []) }
    guard isEnhanced else { return .response(to: opCode, .success, offset.octets(2)) }
    let result = EnhancedOffsetCompensation(
      offset: offset, companyIdentifier: 0xFFFF, manufacturerData: Array(compensationData.prefix(12)))
    return .response(to: opCode, .success, result.octets)
  }

  /// Returns the parameter of the response to a request; nil if the request is not supported.
  private func parameter(of request: CyclingPowerControlPoint.Request) -> [UInt8]? {
    switch request {
    case .supportedSensorLocations: placement.supported.map(\.rawValue)
    case .crankLength: crankLengthValue.octets
    case .chainLength: chainLength.octets(2)
    case .chainWeight: chainWeight.octets(2)
    case .spanLength: spanLength.octets(2)
    case .samplingRate: [samplingRate]
    case .factoryCalibrationDate: factoryCalibration?.octets
    case .startOffsetCompensation, .startEnhancedOffsetCompensation: nil
    }
  }

  private var crankLengthValue: Scalar<HalfMillimetres> {
    Scalar(clamping: crankLength.isFinite ? Int((min(max(0, crankLength), 32_767) * 2).rounded()) : 0)
  }

  // MARK: Measurements

  private var plausiblePower: Double { power.isFinite ? min(max(-32_768, power), 32_767) : 0 }

  /// The average torque at the crank in newton metres. A cadence below 0.01 counts as 0: a lower one would make the
  /// torque infinite.
  private var averageTorque: Double {
    cadence.isFinite && cadence >= 0.01 ? plausiblePower * 60 / cadence / (2 * .pi) : 0
  }

  /// The measurement that is notified now. It fits in a notification with the smallest ATT_MTU.
  private var current: CyclingPowerMeasurement {
    func has(_ bit: Int) -> Bool { mask.keeps(bit) }
    var result = CyclingPowerMeasurement(instantaneousPower: Int16(plausiblePower.rounded()))
    if has(0) {
      let share = leftShare.isFinite ? Int((min(max(0, leftShare), 100) * 2).rounded()) : 100
      result.pedalPowerBalance = .init(share: Scalar(clamping: share), isOfLeftPedal: true)
    }
    if has(1) {
      // The sum wraps around after 65,536 units of 1/32 N·m.
      let units = UInt16(truncatingIfNeeded: Int64(torque.limited(to: -1e12...1e12) * 32))
      result.accumulatedTorque = .init(Scalar(clamping: Int(units)), isOfCrank: true)
    }
    if has(2) { result.wheel = motion.wheel(rate: 2_048) }
    if has(3) { result.crank = motion.crank }
    if has(8) { result.accumulatedEnergy = UInt16(clamping: Int64(energy.limited(to: 0...1e12) / 1_000)) }
    return result
  }

  /// The tangential forces relative to their average, every 60° from the top on: each leg pushes once in a revolution.
  private static let forces = [0.4, 1.2, 1.4, 0.4, 1.2, 1.4]

  /// The vector that is notified now.
  private var currentVector: CyclingPowerVector {
    let metres = crankLength.isFinite ? max(0.001, crankLength / 1_000) : 0.17
    let average = averageTorque / metres
    return CyclingPowerVector(
      crank: motion.crank, firstCrankMeasurementAngle: 0,
      magnitudes: .forces(Self.forces.map { Int16(clamping: Int(($0 * average).limited(to: -1e6...1e6).rounded())) }),
      direction: .tangential)
  }

  private mutating func advance(to now: Duration) {
    let before = motion.crankRevolutions
    let seconds = motion.advance(to: now, speed: speed, cadence: cadence, circumference: wheelCircumference)
    torque += averageTorque * (motion.crankRevolutions - before)
    energy += plausiblePower * seconds
  }

  /// Starts riding.
  public mutating func started(in context: inout AccessoryContext) {
    motion.start(at: context.now)
    timers.set(.measurement, after: .seconds(1), in: &context)
  }

  /// Ends the content mask of the client.
  public mutating func disconnected(because reason: HCIErrorCode, in context: inout AccessoryContext) {
    mask.disconnected(in: context)
  }

  /// Adds the work of the time passed and notifies subscribers, or ends an offset compensation.
  public mutating func timeReached(in context: inout AccessoryContext) {
    advance(to: context.now)
    for purpose in timers.takeDue(in: &context) {
      switch purpose {
      case .measurement:
        context.notify(Self.measurement)
        context.notify(Self.vector)
        timers.set(.measurement, after: .seconds(1), in: &context)
      case .compensation:
        let response = compensationResponse
        control.respond(response, in: &context)
      }
    }
  }
}
