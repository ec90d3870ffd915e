/// A flashlight that is switched and dimmed over the air, with a custom service and Battery (0x180F).
public struct Flashlight: Accessory {
  /// The UUID of the flashlight's service.
  public static let service: BluetoothUUID = "2D7A5C10-94B3-4E8F-8B61-5F0C3E9A7D00"
  /// The switch characteristic: writing 1 turns the flashlight on, 0 turns it off.
  public static let lightSwitch = CharacteristicPath("2D7A5C10-94B3-4E8F-8B61-5F0C3E9A7D01", of: service)
  /// The status characteristic, readable and notified: 1 while the flashlight is on.
  public static let status = CharacteristicPath("2D7A5C10-94B3-4E8F-8B61-5F0C3E9A7D02", of: service)
  /// The brightness characteristic, readable and writable: 0 to 100 %.
  public static let brightness = CharacteristicPath("2D7A5C10-94B3-4E8F-8B61-5F0C3E9A7D03", of: service)

  /// The advertised name.
  public var name: String
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
      scanResponse: AdvertisingPayload(fitting: [.name(name)]))
  }

  /// The flashlight's service, and Battery.
  public var services: [AccessoryService] {
    [
      AccessoryService(
        Self.service,
        [
          AccessoryCharacteristic(Self.lightSwitch.characteristic, [.write, .writeWithoutResponse]),
          AccessoryCharacteristic(Self.status.characteristic, [.read, .notify]),
          AccessoryCharacteristic(Self.brightness.characteristic, [.read, .write]),
        ]),
      .battery,
    ]
  }

  /// Returns the value in one octet.
  public func value(of path: CharacteristicPath) -> [UInt8] {
    switch path {
    case Self.status: [isOn ? 1 : 0]
    case Self.brightness: [brightness]
    case .batteryLevel: [batteryLevel]
    default: []
    }
  }

  /// Switches or dims the flashlight.
  public mutating func write(
    _ value: [UInt8], to path: CharacteristicPath, _ session: inout AccessoryContext
  ) throws(ATTErrorCode) {
    guard value.count == 1, let octet = value.first else { throw .invalidAttributeValueLength }
    switch path {
    case Self.lightSwitch:
      guard octet <= 1 else { throw .valueNotAllowed }
      let wasOn = isOn
      isOn = octet == 1
      if isOn != wasOn { session.notify(Self.status) }
    case Self.brightness:
      guard octet <= 100 else { throw .valueNotAllowed }
      brightness = octet
    default: throw .writeNotPermitted
    }
  }
}
