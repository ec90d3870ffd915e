import BluetoothProfiles

/// A clinical thermometer: Health Thermometer (0x1809).
public struct Thermometer: Accessory {
  /// The UUID of the Health Thermometer service.
  public static let service: BluetoothUUID = 0x1809
  /// Temperature Measurement, indicated every `interval`.
  public static let measurement = Characteristic<TemperatureMeasurement>(of: service)
  /// Temperature Type: the body.
  public static let type = Characteristic<TemperatureType>(of: service)

  /// The advertised name.
  public var name: String
  /// The temperature in degrees Celsius, reported with a resolution of 0.01.
  public var celsius: Double
  /// The time between measurements while a central is subscribed.
  public var interval: Duration

  /// Creates a thermometer that measures this temperature.
  public init(name: String = "Thermometer", celsius: Double = 36.6, interval: Duration = .seconds(1)) {
    self.name = name
    self.celsius = celsius
    self.interval = interval
  }

  /// Connectable advertising with Flags, the service UUID and the name.
  public var advertising: Advertising {
    Advertising(AdvertisingPayload(fitting: [.flags(), .services16([0x1809]), .name(name)]))
  }

  /// Generic Thermometer.
  public var appearance: Appearance { Appearance(rawValue: 0x0300) }

  /// The Health Thermometer service.
  public var services: [AccessoryService<Self>] {
    [
      AccessoryService(
        Self.service,
        [
          AccessoryCharacteristic(Self.measurement, .indicate, value: \.current),
          AccessoryCharacteristic(Self.type, .read, value: { _ in .body }),
        ])
    ]
  }

  /// The measurement that is indicated now, in hundredths of a degree.
  private var current: TemperatureMeasurement {
    let hundredths = celsius.isNaN ? 0 : min(max(celsius * 100, -8_388_606), 8_388_605)
    let temperature = MedicalFloat32(mantissa: Int(hundredths.rounded()), exponent: -2)
    return TemperatureMeasurement(temperature: temperature ?? MedicalFloat32(.notANumber))
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
