import BluetoothProfiles

/// A clinical thermometer: Health Thermometer (0x1809), with Battery and Device Information · Health Thermometer
/// Profile 1.0, 3.
public struct Thermometer: Accessory {
  /// The UUID of the Health Thermometer service.
  public static let service: BluetoothUUID = 0x1809
  /// Temperature Measurement, indicated every `interval`, but not before the client has confirmed the previous one.
  public static let measurement = Characteristic<TemperatureMeasurement>(of: service)
  /// Temperature Type: the body.
  public static let type = Characteristic<TemperatureType>(of: service)
  /// Intermediate Temperature, notified every `intermediateInterval`.
  public static let intermediate = Characteristic<IntermediateTemperature>(of: service)
  /// Measurement Interval: clients read and set `interval`.
  public static let measurementInterval = Characteristic<MeasurementInterval>(of: service)

  /// The advertised name.
  public var name: String
  /// The advertising intervals after power-on and after each disconnection.
  public var advertisingSchedule = Advertising.fastThenSlow
  /// The temperature in degrees Celsius, reported with a resolution of 0.01. NaN is reported as NaN
  /// (0x007FFFFF).
  public var celsius: Double
  /// The time between measurements while a central is subscribed; zero for no periodic measurement. Clients may set
  /// whole seconds.
  public var interval: Duration
  /// The time between intermediate temperatures while a central is subscribed to them.
  public var intermediateInterval = Duration.milliseconds(250)
  /// The intervals that clients may set, in seconds, besides 0. Another interval is rejected with Out of Range (0x80)
  /// · Health Thermometer Service 1.0, 3.4.
  public var permittedIntervals: ClosedRange<UInt16> = 1...UInt16.max
  /// The time stamp of measurements; nil if the thermometer has no clock.
  public var timeStamp: DateTime?
  /// The battery level, 0 to 100 %.
  public var batteryLevel: UInt8 = 100
  /// The values of the Device Information service.
  public var information = DeviceInformation.health(model: "Thermometer")
  private var timers = AccessoryTimers<Purpose>()
  private var indications = AccessoryIndications(Self.measurement)

  private enum Purpose { case measurement, intermediate }

  /// Creates a thermometer that measures this temperature.
  public init(name: String = "Thermometer", celsius: Double = 36.6, interval: Duration = .seconds(1)) {
    self.name = name
    self.celsius = celsius
    self.interval = interval
  }

  /// Connectable advertising with Flags, the service UUID and the name.
  public var advertising: Advertising {
    Advertising(
      AdvertisingPayload(fitting: [.flags(), .services([Self.service]), .name(name)]),
      schedule: advertisingSchedule)
  }

  /// Generic Thermometer.
  public var appearance: Appearance { Appearance(rawValue: 0x0300) }

  /// The Health Thermometer, Battery and Device Information services.
  public var services: [AccessoryService<Self>] {
    var interval = AccessoryCharacteristic<Self>(
      Self.measurementInterval, [.read, .write, .indicate], value: \.intervalValue,
      written: { (thermometer, value, context) throws(ATTErrorCode) in
        try thermometer.setInterval(value, in: &context)
      })
    if let range = ValidRange(
      lower: permittedIntervals.lowerBound.octets(2), upper: permittedIntervals.upperBound.octets(2))
    {
      interval.descriptors = [.other(BluetoothUUID(ValidRange.uuid), range.octets)]
    }
    return [
      AccessoryService(
        Self.service,
        [
          AccessoryCharacteristic(Self.measurement, .indicate, value: \.current),
          AccessoryCharacteristic(Self.type, .read, value: { _ in .body }),
          AccessoryCharacteristic(Self.intermediate, .notify, value: \.currentIntermediate),
          interval,
        ]),
      .battery(level: \.batteryLevel),
      .deviceInformation(information),
    ]
  }

  /// The measurement that is indicated now, in hundredths of a degree.
  private var current: TemperatureMeasurement {
    TemperatureMeasurement(temperature: temperature, timeStamp: timeStamp)
  }

  /// The intermediate temperature that is notified now.
  private var currentIntermediate: IntermediateTemperature { IntermediateTemperature(temperature: temperature) }

  private var temperature: MedicalFloat32 {
    guard !celsius.isNaN else { return MedicalFloat32(.notANumber) }
    let hundredths = (celsius * 100).limited(to: -8_388_606...8_388_605)
    return MedicalFloat32(mantissa: Int(hundredths.rounded()), exponent: -2) ?? MedicalFloat32(.notANumber)
  }

  /// The interval in seconds; an interval of a fraction of a second is 1.
  private var intervalValue: MeasurementInterval {
    guard interval > .zero else { return MeasurementInterval(clamping: 0) }
    return MeasurementInterval(clamping: max(1, Int(min(interval.seconds, 65_535).rounded())))
  }

  private mutating func setInterval(
    _ value: MeasurementInterval, in context: inout AccessoryContext
  ) throws(ATTErrorCode) {
    guard value.rawValue == 0 || permittedIntervals.contains(UInt16(clamping: value.rawValue)) else {
      throw ATTErrorCode(rawValue: 0x80)
    }
    interval = .seconds(value.rawValue)
    context.notify(Self.measurementInterval)
    timers.set(.measurement, after: nil, in: &context)
    update(in: &context)
  }

  /// Measures while a central is subscribed.
  private mutating func update(in context: inout AccessoryContext) {
    timers.run(.measurement, every: interval, while: context.hasSubscribers(Self.measurement), in: &context)
    timers.run(
      .intermediate, every: intermediateInterval, while: context.hasSubscribers(Self.intermediate), in: &context)
  }

  /// Starts measuring when a central subscribes, and stops when the last one has unsubscribed.
  public mutating func subscriptionChanged(
    of characteristic: CharacteristicPath, isOn: Bool, in context: inout AccessoryContext
  ) {
    update(in: &context)
  }

  /// Stops measuring when no subscription is left.
  public mutating func disconnected(because reason: HCIErrorCode, in context: inout AccessoryContext) {
    indications.removeClient(in: context)
    update(in: &context)
  }

  /// Notes that a client has confirmed a measurement.
  public mutating func valueSent(of characteristic: CharacteristicPath, in context: inout AccessoryContext) {
    indications.valueSent(of: characteristic, in: context)
  }

  /// Applies changed intervals.
  public mutating func updated(in context: inout AccessoryContext) { update(in: &context) }

  /// Takes a measurement and sends it to subscribers.
  public mutating func timeReached(in context: inout AccessoryContext) {
    for purpose in timers.takeDue(in: &context) {
      switch purpose {
      case .measurement: indications.send(current, in: &context)
      case .intermediate: context.notify(Self.intermediate)
      }
    }
    update(in: &context)
  }
}
