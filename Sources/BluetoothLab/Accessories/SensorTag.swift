import BluetoothProfiles

/// A sensor tag: infrared and ambient temperature, humidity, pressure, rotation, acceleration and magnetic field, with
/// Battery and Device Information. The services and the formats of the values are those of the CC2650 SensorTag
/// · CC2650 SensorTag User's Guide, GATT Server.
///
/// Each sensor has a service with the characteristics Data, Configuration and Period. A sensor is off until a client
/// writes its configuration; then the value of Data is updated, and notified, once in each period. When the last client
/// disconnects, the sensors are turned off and keep their periods, as in the firmware of the product.
public struct SensorTag: Accessory {
  /// A sensor with a service.
  public enum Sensor: UInt16, Hashable, Sendable, CaseIterable {
    /// The infrared thermometer: object and ambient temperature, each in units of 1/128 °C.
    case infrared = 0xAA00
    /// The hygrometer: temperature (165 °C / 65,536, from −40 °C on) and relative humidity (100 % / 65,536).
    case humidity = 0xAA20
    /// The barometer: temperature in units of 0.01 °C and pressure in units of 1 Pa, three octets each.
    case pressure = 0xAA40
    /// The movement sensors: rotation (500 °/s / 65,536), acceleration (the range / 32,768) and magnetic field (1 µT),
    /// each for x, y and z.
    case movement = 0xAA80

    /// The UUID of the service.
    public var service: BluetoothUUID { Self.uuid(rawValue) }
    /// Data, readable and notified.
    public var data: CharacteristicPath { CharacteristicPath(Self.uuid(rawValue + 1), of: service) }
    /// Configuration: 1 turns the sensor on, 0 off. The movement sensors have two octets: a bit for each axis of the
    /// gyroscope (0 to 2) and of the accelerometer (3 to 5), one for the magnetometer (6), one for wake on motion (7),
    /// and the range of the accelerometer (8 and 9): 2, 4, 8 or 16 g.
    public var configuration: CharacteristicPath { CharacteristicPath(Self.uuid(rawValue + 2), of: service) }
    /// Period: one octet in units of 10 ms, at least 10; at least 30 for the infrared thermometer.
    public var period: CharacteristicPath {
      // The barometer of an earlier tag had its calibration at 3.
      CharacteristicPath(Self.uuid(rawValue + (self == .pressure ? 4 : 3)), of: service)
    }

    private static func uuid(_ number: UInt16) -> BluetoothUUID {
      BluetoothUUID(high: 0xF000_0000_0451_4000 | UInt64(number) << 32, low: 0xB000_0000_0000_0000)
    }

    /// The shortest period in units of 10 ms.
    var shortestPeriod: UInt8 { self == .infrared ? 30 : 10 }
    /// The number of octets of the configuration, and of the data.
    var configurationCount: Int { self == .movement ? 2 : 1 }
    fileprivate var dataCount: Int {
      switch self {
      case .infrared, .humidity: 4
      case .pressure: 6
      case .movement: 18
      }
    }
  }

  /// A vector in the coordinates of the tag.
  public struct Vector: Hashable, Sendable {
    /// The component along the x axis.
    public var x: Double
    /// The component along the y axis.
    public var y: Double
    /// The component along the z axis.
    public var z: Double

    /// Creates a vector.
    public init(_ x: Double, _ y: Double, _ z: Double) { (self.x, self.y, self.z) = (x, y, z) }
  }

  /// The advertised name.
  public var name: String
  /// The advertising intervals after power-on and after each disconnection.
  public var advertisingSchedule = Advertising.fastThenSlow
  /// The temperature of the object in front of the infrared thermometer, in degrees Celsius.
  public var objectTemperature = 30.0
  /// The ambient temperature in degrees Celsius.
  public var ambientTemperature = 22.0
  /// The relative humidity, 0 to 100 %.
  public var humidity = 45.0
  /// The pressure in pascals.
  public var pressure = 101_325.0
  /// The rotation in degrees per second.
  public var rotation = Vector(0, 0, 0)
  /// The acceleration in g.
  public var acceleration = Vector(0, 0, 1)
  /// The magnetic field in microteslas.
  public var magneticField = Vector(20, 0, -44)
  /// The battery level, 0 to 100 %.
  public var batteryLevel: UInt8 = 100
  /// The values of the Device Information service.
  public var information = DeviceInformation(model: "Sensor Tag")
  private var settings: [Sensor: Setting] = [:]
  private var timers = AccessoryTimers<Sensor>()

  /// The state of a sensor.
  private struct Setting {
    var configuration: UInt16 = 0
    /// The period in units of 10 ms.
    var period: UInt8 = 100
    var data: [UInt8]
  }

  /// Creates a tag whose sensors are off.
  public init(name: String = "SensorTag") { self.name = name }

  /// Returns true if a client has turned the sensor on.
  public func isOn(_ sensor: Sensor) -> Bool { setting(sensor).configuration != 0 }

  /// Returns the time between two measurements of the sensor.
  public func period(of sensor: Sensor) -> Duration { .milliseconds(10) * Int(setting(sensor).period) }

  private func setting(_ sensor: Sensor) -> Setting {
    settings[sensor] ?? Setting(data: Array(repeating: 0, count: sensor.dataCount))
  }

  /// Connectable advertising with Flags and the name. The UUIDs of the services have 128 bits and are left out.
  public var advertising: Advertising {
    Advertising(
      AdvertisingPayload(fitting: [.flags(), .name(name)]),
      schedule: advertisingSchedule)
  }

  /// Multi-Sensor.
  public var appearance: Appearance { Appearance(rawValue: 0x0552) }

  /// The services of the sensors, Battery and Device Information.
  public var services: [AccessoryService<Self>] {
    Sensor.allCases.map(Self.service) + [.battery(level: \.batteryLevel), .deviceInformation(information)]
  }

  private static func service(of sensor: Sensor) -> AccessoryService<Self> {
    AccessoryService(
      sensor.service,
      [
        AccessoryCharacteristic(octetsOf: sensor.data, [.read, .notify], read: { $0.setting(sensor).data }),
        AccessoryCharacteristic(
          octetsOf: sensor.configuration, [.read, .write],
          read: { $0.setting(sensor).configuration.octets(sensor.configurationCount) },
          write: { (tag, octets, context) throws(ATTErrorCode) in try tag.configure(sensor, octets, in: &context) }),
        AccessoryCharacteristic(
          octetsOf: sensor.period, [.read, .write], read: { [$0.setting(sensor).period] },
          write: { (tag, octets, context) throws(ATTErrorCode) in try tag.setPeriod(of: sensor, octets, in: &context) }),
      ])
  }

  /// Turns a sensor on or off. Throws Invalid Attribute Value Length (0x0D), or Value Not Allowed (0x13) for reserved
  /// bits.
  private mutating func configure(
    _ sensor: Sensor, _ octets: [UInt8], in context: inout AccessoryContext
  ) throws(ATTErrorCode) {
    guard octets.count == sensor.configurationCount else { throw .invalidAttributeValueLength }
    let value = octets.reversed().reduce(UInt16(0)) { $0 << 8 | UInt16($1) }
    guard value <= (sensor == .movement ? 0x03FF : 1) else { throw .valueNotAllowed }
    guard value != 0 else { return turnOff(sensor, in: &context) }
    var setting = setting(sensor)
    setting.configuration = value
    settings[sensor] = setting
    timers.set(sensor, after: period(of: sensor), in: &context)
  }

  /// Sets the period. Throws Invalid Attribute Value Length (0x0D), or Value Not Allowed (0x13) for a period that is too
  /// short.
  private mutating func setPeriod(
    of sensor: Sensor, _ octets: [UInt8], in context: inout AccessoryContext
  ) throws(ATTErrorCode) {
    guard octets.count == 1 else { throw .invalidAttributeValueLength }
    guard octets[0] >= sensor.shortestPeriod else { throw .valueNotAllowed }
    var setting = setting(sensor)
    setting.period = octets[0]
    settings[sensor] = setting
    if isOn(sensor) { timers.set(sensor, after: period(of: sensor), in: &context) }
  }

  /// Turns all sensors off when no client is left.
  public mutating func disconnected(because reason: HCIErrorCode, in context: inout AccessoryContext) {
    guard context.connections == 0 else { return }
    for sensor in Sensor.allCases where isOn(sensor) { turnOff(sensor, in: &context) }
  }

  /// Turns a sensor off. A sensor that is off has no values.
  private mutating func turnOff(_ sensor: Sensor, in context: inout AccessoryContext) {
    var setting = setting(sensor)
    setting.configuration = 0
    setting.data = Array(repeating: 0, count: sensor.dataCount)
    settings[sensor] = setting
    timers.set(sensor, after: nil, in: &context)
  }

  /// Measures with the sensors that are due, and notifies subscribers.
  public mutating func timeReached(in context: inout AccessoryContext) {
    for sensor in timers.takeDue(in: &context) {
      var setting = setting(sensor)
      setting.data = measure(sensor, setting.configuration)
      settings[sensor] = setting
      context.notify(sensor.data)
      timers.set(sensor, after: period(of: sensor), in: &context)
    }
  }

  // MARK: Values

  private static func integer(_ value: Double, _ range: ClosedRange<Int>) -> Int {
    value.isFinite ? Int(min(max(value.rounded(), Double(range.lowerBound)), Double(range.upperBound))) : 0
  }

  private static func signed(_ value: Double) -> [UInt8] { integer(value, -32_768...32_767).octets(2) }
  private static func unsigned(_ value: Double) -> [UInt8] { integer(value, 0...65_535).octets(2) }

  private func measure(_ sensor: Sensor, _ configuration: UInt16) -> [UInt8] {
    switch sensor {
    case .infrared: Self.signed(objectTemperature * 128) + Self.signed(ambientTemperature * 128)
    case .humidity:
      Self.unsigned((ambientTemperature + 40) / 165 * 65_536) + Self.unsigned(humidity / 100 * 65_536)
    case .pressure:
      Self.integer(ambientTemperature * 100, -8_388_608...8_388_607).octets(3)
        + Self.integer(pressure, 0...16_777_215).octets(3)
    case .movement: measureMovement(configuration)
    }
  }

  /// Returns the values of the axes that are on, and 0 for the others.
  private func measureMovement(_ configuration: UInt16) -> [UInt8] {
    func value(_ value: Double, bit: Int) -> [UInt8] { Self.signed(configuration >> UInt16(bit) & 1 == 1 ? value : 0) }
    // The bits of each sensor are those of z, y and x.
    let range = Double(2 << (configuration >> 8 & 3))
    let (gyroscope, accelerometer) = (65_536 / 500.0, 32_768 / range)
    return value(rotation.x * gyroscope, bit: 2) + value(rotation.y * gyroscope, bit: 1)
      + value(rotation.z * gyroscope, bit: 0) + value(acceleration.x * accelerometer, bit: 5)
      + value(acceleration.y * accelerometer, bit: 4) + value(acceleration.z * accelerometer, bit: 3)
      + value(magneticField.x, bit: 6) + value(magneticField.y, bit: 6) + value(magneticField.z, bit: 6)
  }
}
