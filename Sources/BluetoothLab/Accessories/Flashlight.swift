import BluetoothProfiles

/// A flashlight that is switched and dimmed over the air, with a custom service and Battery (0x180F).
public struct Flashlight: Accessory {
  /// The state of the lamp in one octet.
  public enum Lamp: UInt8, AttributeValue {
    /// The lamp is dark.
    case off = 0
    /// The lamp shines.
    case on = 1
  }

  /// The UUID of the flashlight's service.
  public static let service: BluetoothUUID = "2D7A5C10-94B3-4E8F-8B61-5F0C3E9A7D00"
  /// The switch characteristic: writing turns the flashlight on or off.
  public static let lightSwitch = Characteristic<Lamp>("2D7A5C10-94B3-4E8F-8B61-5F0C3E9A7D01", of: service)
  /// The status characteristic, readable and notified.
  public static let status = Characteristic<Lamp>("2D7A5C10-94B3-4E8F-8B61-5F0C3E9A7D02", of: service)
  /// The brightness characteristic, readable and writable: 0 to 100 %, encoded like Battery Level.
  public static let brightness = Characteristic<BatteryLevel>("2D7A5C10-94B3-4E8F-8B61-5F0C3E9A7D03", of: service)

  /// The advertised name.
  public var name: String
  /// The advertising intervals after power-on and after each disconnection.
  public var advertisingSchedule = Advertising.fastThenSlow
  /// True while the flashlight is on.
  public var isOn = false
  /// The brightness, 0 to 100 %.
  public var brightness: UInt8 = 100
  /// The battery level, 0 to 100 %.
  public var batteryLevel: UInt8 = 100

  /// Creates a flashlight that is off.
  public init(name: String = "Flashlight") { self.name = name }

  /// Connectable advertising with Flags and the service UUID; the scan response has the name.
  public var advertising: Advertising {
    Advertising(
      AdvertisingPayload(fitting: [.flags()] + ADStructure.serviceLists([Self.service])),
      scanResponse: AdvertisingPayload(fitting: [.name(name)]), schedule: advertisingSchedule)
  }

  /// The flashlight's service, and Battery.
  public var services: [AccessoryService<Self>] {
    [
      AccessoryService(
        Self.service,
        [
          AccessoryCharacteristic(Self.lightSwitch, [.write, .writeWithoutResponse]) { flashlight, lamp, context in
            let wasOn = flashlight.isOn
            flashlight.isOn = lamp == .on
            if flashlight.isOn != wasOn { context.notify(Self.status) }
          },
          AccessoryCharacteristic(Self.status, [.read, .notify], value: { $0.isOn ? .on : .off }),
          AccessoryCharacteristic(
            Self.brightness, [.read, .write], value: { BatteryLevel(clamping: Int($0.brightness)) },
            written: { flashlight, level, _ in flashlight.brightness = UInt8(clamping: level.rawValue) }),
        ]),
      .battery(level: \.batteryLevel),
    ]
  }
}
