/// A clinical thermometer: Health Thermometer (0x1809).
public struct Thermometer: Accessory {
  /// Temperature Measurement, indicated every `interval`.
  public static let measurement = CharacteristicPath("2A1C", of: "1809")
  /// Temperature Type: the body.
  public static let type = CharacteristicPath("2A1D", of: "1809")

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
  public var appearance: UInt16 { 0x0300 }

  /// The Health Thermometer service.
  public var services: [AccessoryService] {
    [AccessoryService("1809", [AccessoryCharacteristic("2A1C", .indicate), AccessoryCharacteristic("2A1D", .read)])]
  }

  /// Returns the temperature as an IEEE 11073 FLOAT: exponent −2, 24-bit mantissa · Health Thermometer Service 1.0,
  /// 3.1, 3.2.
  public func value(of path: CharacteristicPath) -> [UInt8] {
    switch path {
    case Self.measurement:
      let bounded = celsius.isNaN ? 0 : min(max(celsius * 100, -8_388_606), 8_388_605)
      return [0x00] + Int32(bounded.rounded()).octets.prefix(3) + [0xFE]
    case Self.type: return [0x02]
    default: return []
    }
  }

  /// Starts measuring when a central subscribes, and stops when it unsubscribes.
  public mutating func subscriptionChanged(
    _ path: CharacteristicPath, _ isOn: Bool, _ session: inout AccessoryContext
  ) {
    session.wake(after: isOn ? interval : nil)
  }

  /// Takes a measurement and sends it to subscribers.
  public mutating func timeReached(_ session: inout AccessoryContext) {
    session.notify(Self.measurement)
    if !session.subscriptions.isEmpty { session.wake(after: interval) }
  }
}
