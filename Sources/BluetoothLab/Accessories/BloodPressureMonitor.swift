import BluetoothProfiles

/// A blood pressure monitor: Blood Pressure (0x1810).
public struct BloodPressureMonitor: Accessory {
  /// The UUID of the Blood Pressure service.
  public static let service: BluetoothUUID = 0x1810
  /// Blood Pressure Measurement, indicated every `interval`.
  public static let measurement = Characteristic<BloodPressureMeasurement>(of: service)
  /// Blood Pressure Feature: no detection of problems.
  public static let feature = Characteristic<BloodPressureFeature>(of: service)

  /// The advertised name.
  public var name: String
  /// The systolic pressure in mmHg, reported with a resolution of 1.
  public var systolic: Double
  /// The diastolic pressure in mmHg, reported with a resolution of 1. The mean arterial pressure, a third of the way
  /// from the diastolic to the systolic pressure, follows from both.
  public var diastolic: Double
  /// The pulse rate in beats per minute.
  public var pulseRate: Double
  /// The time between measurements while a central is subscribed.
  public var interval: Duration

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
    Advertising(AdvertisingPayload(fitting: [.flags(), .services16([0x1810]), .name(name)]))
  }

  /// Generic Blood Pressure.
  public var appearance: Appearance { Appearance(rawValue: 0x0380) }

  /// The Blood Pressure service.
  public var services: [AccessoryService<Self>] {
    [
      AccessoryService(
        Self.service,
        [
          AccessoryCharacteristic(Self.measurement, .indicate, value: \.current),
          AccessoryCharacteristic(Self.feature, .read, value: { _ in [] }),
        ])
    ]
  }

  /// The measurement that is indicated now.
  private var current: BloodPressureMeasurement {
    func rounded(_ value: Double) -> MedicalFloat16 {
      MedicalFloat16(value, exponent: 0) ?? MedicalFloat16(.notANumber)
    }
    return BloodPressureMeasurement(
      systolic: rounded(systolic), diastolic: rounded(diastolic),
      meanArterialPressure: rounded(diastolic + (systolic - diastolic) / 3),
      details: BloodPressureDetails(pulseRate: rounded(pulseRate)))
  }

  /// Starts measuring when a central subscribes, and stops when the last one has unsubscribed.
  public mutating func subscriptionChanged(
    of characteristic: CharacteristicPath, isOn: Bool, in context: inout AccessoryContext
  ) {
    if isOn {
      context.wake(after: interval)
    } else if context.subscriptions.isEmpty {
      context.wake(after: nil)
    }
  }

  /// Takes a measurement and sends it to subscribers.
  public mutating func timeReached(in context: inout AccessoryContext) {
    context.notify(Self.measurement)
    if !context.subscriptions.isEmpty { context.wake(after: interval) }
  }
}
