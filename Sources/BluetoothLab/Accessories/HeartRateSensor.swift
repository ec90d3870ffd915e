/// A strap around the chest: Heart Rate (0x180D) and Battery (0x180F).
public struct HeartRateSensor: Accessory {
  /// Heart Rate Measurement: notified each `interval`.
  public static let measurement = CharacteristicPath("2A37", of: "180D")
  /// Body Sensor Location: the chest.
  public static let bodySensorLocation = CharacteristicPath("2A38", of: "180D")
  /// Heart Rate Control Point: 1 resets the energy.
  public static let controlPoint = CharacteristicPath("2A39", of: "180D")

  /// What it calls itself.
  public var name: String
  /// The pulse.
  public var beatsPerMinute: UInt16
  /// Kilojoules since the last reset; it grows by `energyPerMeasurement` with each measurement, up to 65,535.
  public var energyExpended: UInt16 = 0
  /// Kilojoules.
  public var energyPerMeasurement: UInt16 = 1
  /// How often it measures while somebody listens.
  public var interval: Duration
  /// 0 to 100 %.
  public var batteryLevel: UInt8 = 100

  /// A strap that shows this pulse.
  public init(name: String = "Heart Rate", beatsPerMinute: UInt16 = 72, interval: Duration = .seconds(1)) {
    self.name = name
    self.beatsPerMinute = beatsPerMinute
    self.interval = interval
  }

  /// Connectable, with Flags, the service and the name.
  public var advertising: Advertising {
    Advertising(AdvertisingPayload(fitting: [.flags(), .services16([0x180D]), .name(name)]))
  }

  /// Heart Rate Sensor: Heart Rate Belt.
  public var appearance: UInt16 { 0x0341 }

  /// Heart Rate and Battery.
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

  /// Heart Rate Service 1.0, 3.1, 3.2.
  public func value(of path: CharacteristicPath) -> [UInt8] {
    switch path {
    case Self.measurement:
      // Value of 16 bits when it must be; sensor contact detected; energy expended.
      let isLong = beatsPerMinute > 255
      return [isLong ? 0x0F : 0x0E] + (isLong ? beatsPerMinute.octets : [UInt8(beatsPerMinute)])
        + energyExpended.octets
    case Self.bodySensorLocation: return [0x01]
    case .batteryLevel: return [batteryLevel]
    default: return []
    }
  }

  /// Measures while somebody listens.
  public mutating func subscriptionChanged(
    _ path: CharacteristicPath, _ isOn: Bool, _ session: inout AccessorySession
  ) {
    if path == Self.measurement { session.wake(after: isOn ? interval : nil) }
  }

  /// Stops measuring.
  public mutating func disconnected(_ reason: DisconnectionReason, _ session: inout AccessorySession) {
    if !session.subscriptions.contains(Self.measurement) { session.wake(after: nil) }
  }

  /// Measures.
  public mutating func timeReached(_ session: inout AccessorySession) {
    energyExpended += min(energyPerMeasurement, .max - energyExpended)
    session.notify(Self.measurement)
    session.wake(after: interval)
  }

  /// Resets the energy; anything else is answered with Control Point Not Supported (0x80).
  public mutating func write(
    _ value: [UInt8], to path: CharacteristicPath, _ session: inout AccessorySession
  ) throws(AttributeError) {
    guard path == Self.controlPoint else { throw .writeNotPermitted }
    guard value == [0x01] else { throw AttributeError(code: 0x80) }
    energyExpended = 0
  }
}

extension CharacteristicPath {
  /// Battery Level of the Battery service: 0 to 100 %.
  public static let batteryLevel = CharacteristicPath("2A19", of: "180F")
}

extension AccessoryService {
  /// Battery, with a level that can be read and notified.
  public static let battery = AccessoryService("180F", [AccessoryCharacteristic("2A19", [.read, .notify])])
}

extension FixedWidthInteger {
  /// All octets, the least significant one first.
  var octets: [UInt8] { (0..<Self.bitWidth / 8).map { UInt8(truncatingIfNeeded: self >> ($0 * 8)) } }
}
