import BluetoothProfiles

/// A heart rate belt: Heart Rate (0x180D) and Battery (0x180F), and Device Information (0x180A) if it has
/// `information`.
public struct HeartRateSensor: Accessory {
  /// The UUID of the Heart Rate service.
  public static let service: BluetoothUUID = 0x180D
  /// Heart Rate Measurement, notified every `interval`.
  public static let measurement = Characteristic<HeartRateMeasurement>(of: service)
  /// Body Sensor Location: the chest.
  public static let bodySensorLocation = Characteristic<BodySensorLocation>(of: service)
  /// Heart Rate Control Point: it resets the energy expended.
  public static let controlPoint = Characteristic<HeartRateControlPoint>(of: service)

  /// The advertised name.
  public var name: String
  /// The advertising intervals after power-on and after each disconnection.
  public var advertisingSchedule = Advertising.fastThenSlow
  /// The heart rate in beats per minute.
  public var beatsPerMinute: UInt16
  /// The energy expended since the last reset, in kilojoules. Each measurement adds `energyPerMeasurement`, up to
  /// 65,535.
  public var energyExpended: UInt16 = 0
  /// The energy that each measurement adds to `energyExpended`, in kilojoules.
  public var energyPerMeasurement: UInt16 = 1
  /// The time between measurements while a central is subscribed.
  public var interval: Duration
  /// The battery level, 0 to 100 %.
  public var batteryLevel: UInt8 = 100
  /// The values of the Device Information service; nil for a belt without the service.
  public var information: DeviceInformation?
  /// The interval after which the next measurement is due; nil if none is scheduled.
  private var scheduledInterval: Duration?

  /// Creates a belt that measures this heart rate.
  public init(name: String = "Heart Rate", beatsPerMinute: UInt16 = 72, interval: Duration = .seconds(1)) {
    self.name = name
    self.beatsPerMinute = beatsPerMinute
    self.interval = interval
  }

  /// Connectable advertising with Flags, the service UUID and the name.
  public var advertising: Advertising {
    Advertising(
      AdvertisingPayload(fitting: [.flags(), .services([Self.service]), .name(name)]),
      schedule: advertisingSchedule)
  }

  /// Heart Rate Sensor: Heart Rate Belt.
  public var appearance: Appearance { Appearance(rawValue: 0x0341) }

  /// The Heart Rate and Battery services, and Device Information if there is `information`. A command other than the
  /// reset of the energy expended is rejected with Control Point Not Supported (0x80) · Heart Rate Service 1.0, 3.3.1.1.
  public var services: [AccessoryService<Self>] {
    let notSupported = ATTErrorCode(rawValue: 0x80)
    var services: [AccessoryService<Self>] = [
      AccessoryService(
        Self.service,
        [
          AccessoryCharacteristic(Self.measurement, .notify, value: \.current),
          AccessoryCharacteristic(Self.bodySensorLocation, .read, value: { _ in .chest }),
          AccessoryCharacteristic(Self.controlPoint, .write, malformed: notSupported) {
            (sensor, command, _) throws(ATTErrorCode) in
            guard command == .resetEnergyExpended else { throw notSupported }
            sensor.energyExpended = 0
          },
        ]),
      .battery(level: \.batteryLevel),
    ]
    if let information { services.append(.deviceInformation(information)) }
    return services
  }

  /// The measurement that is notified now.
  private var current: HeartRateMeasurement {
    HeartRateMeasurement(heartRate: beatsPerMinute, sensorContact: .detected, energyExpended: energyExpended)
  }

  /// Starts measuring when a central subscribes to the measurement, and stops when the last one has unsubscribed.
  public mutating func subscriptionChanged(
    of characteristic: CharacteristicPath, isOn: Bool, in context: inout AccessoryContext
  ) {
    guard characteristic == Self.measurement.path else { return }
    if isOn {
      schedule(after: interval, in: &context)
    } else if !context.hasSubscribers(Self.measurement) {
      schedule(after: nil, in: &context)
    }
  }

  /// Stops measuring when no subscription is left.
  public mutating func disconnected(because reason: HCIErrorCode, in context: inout AccessoryContext) {
    if !context.hasSubscribers(Self.measurement) { schedule(after: nil, in: &context) }
  }

  /// Applies a changed interval, which begins now.
  public mutating func updated(in context: inout AccessoryContext) {
    if scheduledInterval != nil, scheduledInterval != interval { schedule(after: interval, in: &context) }
  }

  /// Takes a measurement and notifies subscribers.
  public mutating func timeReached(in context: inout AccessoryContext) {
    energyExpended += min(energyPerMeasurement, .max - energyExpended)
    context.notify(Self.measurement)
    schedule(after: interval, in: &context)
  }

  private mutating func schedule(after interval: Duration?, in context: inout AccessoryContext) {
    scheduledInterval = interval
    context.wake(after: interval)
  }
}
