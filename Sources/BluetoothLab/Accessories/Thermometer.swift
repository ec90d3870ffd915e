/// A clinical thermometer: Health Thermometer (0x1809).
public struct Thermometer: Accessory {
  /// Temperature Measurement: indicated each `interval`.
  public static let measurement = CharacteristicPath("2A1C", of: "1809")
  /// Temperature Type: the body.
  public static let type = CharacteristicPath("2A1D", of: "1809")

  /// What it calls itself.
  public var name: String
  /// Degrees Celsius, shown to a hundredth.
  public var celsius: Double
  /// How often it measures while somebody listens.
  public var interval: Duration

  /// A thermometer that shows this temperature.
  public init(name: String = "Thermometer", celsius: Double = 36.6, interval: Duration = .seconds(1)) {
    self.name = name
    self.celsius = celsius
    self.interval = interval
  }

  /// Connectable, with Flags, the service and the name.
  public var advertising: Advertising {
    Advertising(AdvertisingPayload(fitting: [.flags(), .services16([0x1809]), .name(name)]))
  }

  /// Generic Thermometer.
  public var appearance: UInt16 { 0x0300 }

  /// Health Thermometer.
  public var services: [AccessoryService] {
    [AccessoryService("1809", [AccessoryCharacteristic("2A1C", .indicate), AccessoryCharacteristic("2A1D", .read)])]
  }

  /// Health Thermometer Service 1.0, 3.1, 3.2: a float of IEEE 11073, exponent −2, mantissa of 24 bits.
  public func value(of path: CharacteristicPath) -> [UInt8] {
    switch path {
    case Self.measurement:
      let bounded = celsius.isNaN ? 0 : min(max(celsius * 100, -8_388_606), 8_388_605)
      return [0x00] + Int32(bounded.rounded()).octets.prefix(3) + [0xFE]
    case Self.type: return [0x02]
    default: return []
    }
  }

  /// Measures while somebody listens.
  public mutating func subscriptionChanged(
    _ path: CharacteristicPath, _ isOn: Bool, _ session: inout AccessorySession
  ) {
    session.wake(after: isOn ? interval : nil)
  }

  /// Measures.
  public mutating func timeReached(_ session: inout AccessorySession) {
    session.notify(Self.measurement)
    if !session.subscriptions.isEmpty { session.wake(after: interval) }
  }
}
