import BluetoothProfiles

/// A blood pressure monitor: Blood Pressure (0x1810), with Battery and Device Information · Blood Pressure Profile 1.1,
/// 3.
public struct BloodPressureMonitor: Accessory {
  /// The UUID of the Blood Pressure service.
  public static let service: BluetoothUUID = 0x1810
  /// Blood Pressure Measurement, indicated every `interval`, but not before the client has confirmed the previous one.
  public static let measurement = Characteristic<BloodPressureMeasurement>(of: service)
  /// Intermediate Cuff Pressure, notified every `cuffInterval`.
  public static let cuffPressure = Characteristic<IntermediateCuffPressure>(of: service)
  /// Blood Pressure Feature: the value of `features`.
  public static let feature = Characteristic<BloodPressureFeature>(of: service)

  /// The advertised name.
  public var name: String
  /// The advertising intervals after power-on and after each disconnection.
  public var advertisingSchedule = Advertising.fastThenSlow
  /// The systolic pressure in mmHg, reported with a resolution of 1.
  public var systolic: Double
  /// The diastolic pressure in mmHg, reported with a resolution of 1. The mean arterial pressure, a third of the way
  /// from the diastolic to the systolic pressure, follows from both.
  public var diastolic: Double
  /// The pulse rate in beats per minute.
  public var pulseRate: Double
  /// The unit in which pressures are reported. In kilopascals they have a resolution of 0.1.
  public var unit = PressureUnit.millimetresOfMercury
  /// The time between measurements while a central is subscribed.
  public var interval: Duration
  /// The time between cuff pressures while a central is subscribed to them.
  public var cuffInterval = Duration.milliseconds(250)
  /// The time stamp of measurements; nil if the monitor has no clock.
  public var timeStamp: DateTime?
  /// The user whose pressure is measured, 255 if unknown; nil if the monitor does not distinguish users.
  public var userID: UInt8?
  /// The problems of the measurement; nil if the monitor detects none.
  public var status: BloodPressureStatus?
  /// The features.
  public var features: BloodPressureFeature = []
  /// The battery level, 0 to 100 %.
  public var batteryLevel: UInt8 = 100
  /// The values of the Device Information service.
  public var information = DeviceInformation.health(model: "Blood Pressure Monitor")
  private var timers = AccessoryTimers<Purpose>()
  private var indications = AccessoryIndications(Self.measurement)
  /// The part of the deflation that is over, 0 to 1.
  private var deflation = 0.0

  private enum Purpose { case measurement, cuff }

  /// Creates a monitor that measures these values. A value that the measurement can't hold, such as 3,000, is reported
  /// as NaN.
  public init(
    name: String = "Blood Pressure", systolic: Double = 120, diastolic: Double = 80, pulseRate: Double = 72,
    interval: Duration = .seconds(1)
  ) {
    self.name = name
    self.systolic = systolic
    self.diastolic = diastolic
    self.pulseRate = pulseRate
    self.interval = interval
  }

  /// Connectable advertising with Flags, the service UUID and the name.
  public var advertising: Advertising {
    Advertising(
      AdvertisingPayload(fitting: [.flags(), .services([Self.service]), .name(name)]),
      schedule: advertisingSchedule)
  }

  /// Generic Blood Pressure.
  public var appearance: Appearance { Appearance(rawValue: 0x0380) }

  /// The Blood Pressure, Battery and Device Information services.
  public var services: [AccessoryService<Self>] {
    [
      AccessoryService(
        Self.service,
        [
          AccessoryCharacteristic(Self.measurement, .indicate, value: \.current),
          AccessoryCharacteristic(Self.feature, .read, value: \.features),
          AccessoryCharacteristic(Self.cuffPressure, .notify, value: \.currentCuffPressure),
        ]),
      .battery(level: \.batteryLevel),
      .deviceInformation(information),
    ]
  }

  private var details: BloodPressureDetails {
    BloodPressureDetails(timeStamp: timeStamp, pulseRate: Self.rounded(pulseRate), userID: userID, status: status)
  }

  /// The measurement that is indicated now.
  private var current: BloodPressureMeasurement {
    BloodPressureMeasurement(
      systolic: pressure(systolic), diastolic: pressure(diastolic),
      meanArterialPressure: pressure(diastolic + (systolic - diastolic) / 3), unit: unit, details: details)
  }

  /// The cuff pressure that is notified now: from 30 mmHg above the systolic to 20 mmHg below the diastolic pressure.
  private var currentCuffPressure: IntermediateCuffPressure {
    let (top, bottom) = (systolic + 30, diastolic - 20)
    return IntermediateCuffPressure(pressure: pressure(top + (bottom - top) * deflation), unit: unit)
  }

  private static func rounded(_ value: Double, exponent: Int = 0) -> MedicalFloat16 {
    MedicalFloat16(value, exponent: exponent) ?? MedicalFloat16(.notANumber)
  }

  /// Returns a pressure in mmHg in the unit in which it is reported.
  private func pressure(_ millimetres: Double) -> MedicalFloat16 {
    // 1 mmHg is 0.133322 kPa.
    unit == .kilopascal ? Self.rounded(millimetres * 0.133_322, exponent: -1) : Self.rounded(millimetres)
  }

  /// Measures while a central is subscribed.
  private mutating func update(in context: inout AccessoryContext) {
    timers.run(.measurement, every: interval, while: context.hasSubscribers(Self.measurement), in: &context)
    timers.run(.cuff, every: cuffInterval, while: context.hasSubscribers(Self.cuffPressure), in: &context)
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
      case .cuff:
        deflation = deflation >= 1 ? 0 : min(1, deflation + max(0.01, cuffInterval.seconds / 5))
        context.notify(Self.cuffPressure)
      }
    }
    update(in: &context)
  }
}
