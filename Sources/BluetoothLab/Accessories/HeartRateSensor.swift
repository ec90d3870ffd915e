import BluetoothProfiles
import BluetoothWire

/// A heart rate belt: Heart Rate (0x180D), with Battery (0x180F) and Device Information (0x180A) · Heart Rate Profile
/// 1.0, 3.
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
  /// The number of measurements of which one has the energy expended: 1 for each measurement, 10 for every tenth; 0 for
  /// none. The first measurement after a subscription has it. The service requires at most 10 · Heart Rate Service 1.0,
  /// 3.1.1.3.
  public var energyPeriod: UInt16 = 1
  /// True if measurements have the intervals between the beats since the measurement before, in 1/1024 s. A measurement
  /// has at most 20 octets, for the smallest ATT_MTU, which have room for 7 to 9 intervals; older intervals are left out
  /// · Heart Rate Service 1.0, 3.1.1.4.
  public var sendsRRIntervals = false
  /// The time between measurements while a central is subscribed.
  public var interval: Duration
  /// The battery level, 0 to 100 %.
  public var batteryLevel: UInt8 = 100
  /// The values of the Device Information service; nil for a belt without the service, which the profile requires.
  public var information: DeviceInformation? = DeviceInformation(model: "Heart Rate Belt")
  /// The interval after which the next measurement is due; nil if none is scheduled.
  private var scheduledInterval: Duration?
  /// The number of measurements since the first subscription, modulo `energyPeriod`.
  private var measurementCount: UInt16 = 0
  /// The time of the latest beat in nanoseconds.
  private var lastBeat: Int64 = 0
  /// The rest that the intervals between the beats have left, in units of 1/128,000,000,000 s.
  private var rest: Int64 = 0

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

  /// The Heart Rate and Battery services, and Device Information unless `information` is nil. A command other than the
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

  /// The measurement that is notified now, without intervals.
  private var current: HeartRateMeasurement {
    HeartRateMeasurement(heartRate: beatsPerMinute, sensorContact: .detected, energyExpended: energyExpended)
  }

  /// Starts measuring when a central subscribes to the measurement, and stops when the last one has unsubscribed.
  public mutating func subscriptionChanged(
    of characteristic: CharacteristicPath, isOn: Bool, in context: inout AccessoryContext
  ) {
    guard characteristic == Self.measurement.path else { return }
    if isOn {
      if scheduledInterval == nil { (measurementCount, lastBeat, rest) = (0, TimeSpan(context.now).nanoseconds, 0) }
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
    if sendsRRIntervals || energyPeriod != 1 {
      sendMeasurement(in: &context)
    } else {
      context.notify(Self.measurement)
    }
    schedule(after: interval, in: &context)
  }

  /// Sends a measurement with the optional fields that are due. It is sent to each client, because the value of the
  /// characteristic has no intervals: the intervals of one measurement are sent once.
  private mutating func sendMeasurement(in context: inout AccessoryContext) {
    var measurement = current
    if measurementCount > 0 || energyPeriod == 0 { measurement.energyExpended = nil }
    measurementCount = energyPeriod > 1 ? (measurementCount + 1) % energyPeriod : 0
    if sendsRRIntervals {
      let room = 20 - measurement.octets.count
      measurement.rrIntervals = takeIntervals(upTo: room / 2, at: TimeSpan(context.now).nanoseconds)
    }
    for client in context.subscribedClients(to: Self.measurement) {
      context.send(measurement, of: Self.measurement, to: client)
    }
  }

  /// Returns the latest intervals between the beats up to this time, the oldest first.
  private mutating func takeIntervals(upTo maximum: Int, at now: Int64) -> [Scalar<Seconds1024>] {
    guard beatsPerMinute > 0 else {
      lastBeat = now
      return []
    }
    let period = 60_000_000_000 / Int64(beatsPerMinute)
    let count = max(0, (now - lastBeat) / period)
    lastBeat += count * period
    // 1/1024 s is 125,000,000/128 ns.
    return (0..<min(Int(count), maximum)).map { _ in
      let units = period * 128 + rest
      rest = units % 125_000_000
      return Scalar(clamping: Int(units / 125_000_000))
    }
  }

  private mutating func schedule(after interval: Duration?, in context: inout AccessoryContext) {
    scheduledInterval = interval
    context.wake(after: interval)
  }
}
