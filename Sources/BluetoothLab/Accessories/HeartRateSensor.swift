/// A heart rate belt: Heart Rate (0x180D) and Battery (0x180F).
public struct HeartRateSensor: Accessory {
  /// Heart Rate Measurement, notified every `interval`.
  public static let measurement = CharacteristicPath("2A37", of: "180D")
  /// Body Sensor Location: the chest.
  public static let bodySensorLocation = CharacteristicPath("2A38", of: "180D")
  /// Heart Rate Control Point: writing 1 resets the energy expended.
  public static let controlPoint = CharacteristicPath("2A39", of: "180D")

  /// The advertised name.
  public var name: String
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

  /// Creates a belt that measures this heart rate.
  public init(name: String = "Heart Rate", beatsPerMinute: UInt16 = 72, interval: Duration = .seconds(1)) {
    self.name = name
    self.beatsPerMinute = beatsPerMinute
    self.interval = interval
  }

  /// Connectable advertising with Flags, the service UUID and the name.
  public var advertising: Advertising {
    Advertising(AdvertisingPayload(fitting: [.flags(), .services16([0x180D]), .name(name)]))
  }

  /// Heart Rate Sensor: Heart Rate Belt.
  public var appearance: UInt16 { 0x0341 }

  /// The Heart Rate and Battery services.
  public var services: [AccessoryService] {
    [
      AccessoryService(
        "180D",
        [
          AccessoryCharacteristic("2A37", .notify), AccessoryCharacteristic("2A38", .read),
          AccessoryCharacteristic("2A39", .write),
        ]),
      .battery,
    ]
  }

  /// Returns the value in the format of the Heart Rate Service 1.0, 3.1, 3.2.
  public func value(of path: CharacteristicPath) -> [UInt8] {
    switch path {
    case Self.measurement:
      // Flags: 16-bit heart rate only above 255; sensor contact detected; energy expended present.
      let isLong = beatsPerMinute > 255
      return [isLong ? 0x0F : 0x0E] + (isLong ? beatsPerMinute.octets : [UInt8(beatsPerMinute)])
        + energyExpended.octets
    case Self.bodySensorLocation: return [0x01]
    case .batteryLevel: return [batteryLevel]
    default: return []
    }
  }

  /// Starts measuring when a central subscribes to the measurement, and stops when it unsubscribes.
  public mutating func subscriptionChanged(
    _ path: CharacteristicPath, _ isOn: Bool, _ session: inout AccessoryContext
  ) {
    if path == Self.measurement { session.wake(after: isOn ? interval : nil) }
  }

  /// Stops measuring when no subscription is left.
  public mutating func disconnected(_ reason: HCIErrorCode, _ session: inout AccessoryContext) {
    if !session.subscriptions.contains(Self.measurement) { session.wake(after: nil) }
  }

  /// Takes a measurement and notifies subscribers.
  public mutating func timeReached(_ session: inout AccessoryContext) {
    energyExpended += min(energyPerMeasurement, .max - energyExpended)
    session.notify(Self.measurement)
    session.wake(after: interval)
  }

  /// Resets the energy expended; any other value is rejected with Control Point Not Supported (0x80).
  public mutating func write(
    _ value: [UInt8], to path: CharacteristicPath, _ session: inout AccessoryContext
  ) throws(ATTErrorCode) {
    guard path == Self.controlPoint else { throw .writeNotPermitted }
    guard value == [0x01] else { throw ATTErrorCode(rawValue: 0x80) }
    energyExpended = 0
  }
}

extension CharacteristicPath {
  /// Battery Level of the Battery service: 0 to 100 %.
  public static let batteryLevel = CharacteristicPath("2A19", of: "180F")
}

extension AccessoryService {
  /// The Battery service with a level that clients can read and subscribe to.
  public static let battery = AccessoryService("180F", [AccessoryCharacteristic("2A19", [.read, .notify])])
}

extension FixedWidthInteger {
  /// All octets, the least significant one first.
  var octets: [UInt8] { (0..<Self.bitWidth / 8).map { UInt8(truncatingIfNeeded: self >> ($0 * 8)) } }
}
