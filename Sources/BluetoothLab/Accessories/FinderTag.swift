import BluetoothProfiles

/// A tag on a thing that an app finds again: the app makes it light up and sound, and estimates its distance from the
/// RSSI and its transmit power. It has Immediate Alert (0x1802) for the buzzer, a custom service for the light, Tx
/// Power (0x1804), Battery and Device Information. It is a Find Me Target · Find Me Profile 1.0, 3.
///
/// A tag has no button and no alarm for the loss of its link, which a `KeyFob` has.
public struct FinderTag: Accessory {
  /// The state of the light in one octet.
  public enum Light: UInt8, AttributeValue {
    /// The light is dark.
    case off = 0
    /// The light shines.
    case on = 1
    /// The light flashes.
    case flashing = 2
  }

  /// Alert Level of Immediate Alert (0x1802): a write starts or stops the buzzer.
  public static let immediateAlert = Characteristic<AlertLevel>(of: 0x1802)
  /// Tx Power Level of Tx Power (0x1804).
  public static let transmitPowerLevel = Characteristic<TxPowerLevel>(of: 0x1804)
  /// The UUID of the light's service.
  public static let lightService: BluetoothUUID = "6E1B3A40-2C5D-4F07-9A8E-3D94B1C06F00"
  /// The light characteristic, readable, writable and notified.
  public static let lightState = Characteristic<Light>("6E1B3A40-2C5D-4F07-9A8E-3D94B1C06F01", of: lightService)

  /// The advertised name.
  public var name: String
  /// The advertising intervals after power-on and after each disconnection.
  public var advertisingSchedule = Advertising.fastThenSlow
  /// The level at which the buzzer sounds now.
  public var buzzer = AlertLevel.noAlert
  /// The state of the light.
  public var light = Light.off
  /// The value of Tx Power Level, −100 to 20 dBm. It does not set the radio's transmit power,
  /// `DeviceOptions.transmitPower`, which a world file takes as the default of this value.
  public var transmitPower: Int8
  /// The battery level, 0 to 100 %.
  public var batteryLevel: UInt8 = 100
  /// The values of the Device Information service.
  public var information = DeviceInformation(model: "Tag")

  /// Creates a tag that is dark and silent.
  public init(name: String = "Tag", transmitPower: Int8 = 0) {
    self.name = name
    self.transmitPower = transmitPower
  }

  /// Connectable advertising with Flags, the UUIDs of Immediate Alert and Tx Power, transmit power and name.
  public var advertising: Advertising {
    Advertising(
      AdvertisingPayload(
        fitting: [
          .flags(), .services([Self.immediateAlert.path.service, Self.transmitPowerLevel.path.service]),
          .transmitPower(transmitPower), .name(name),
        ]), schedule: advertisingSchedule)
  }

  /// Tag.
  public var appearance: Appearance { Appearance(rawValue: 0x0200) }

  /// The Immediate Alert service, the light's service, Tx Power, Battery and Device Information.
  public var services: [AccessoryService<Self>] {
    [
      AccessoryService(
        Self.immediateAlert.path.service,
        [
          AccessoryCharacteristic(Self.immediateAlert, .writeWithoutResponse) {
            (tag, level, _) throws(ATTErrorCode) in
            guard level.name != nil else { throw .valueNotAllowed }
            tag.buzzer = level
          }
        ]),
      AccessoryService(
        Self.lightService,
        [
          AccessoryCharacteristic(
            Self.lightState, [.read, .write, .writeWithoutResponse, .notify], value: \.light,
            written: { tag, light, context in
              let before = tag.light
              tag.light = light
              if light != before { context.notify(Self.lightState) }
            })
        ]),
      AccessoryService(
        Self.transmitPowerLevel.path.service,
        [
          AccessoryCharacteristic(
            Self.transmitPowerLevel, .read, value: { TxPowerLevel(clamping: $0.transmitPower) })
        ]),
      .battery(level: \.batteryLevel),
      .deviceInformation(information),
    ]
  }

  /// Stops buzzer and light when the last client has disconnected: no app can stop them then.
  public mutating func disconnected(because reason: HCIErrorCode, in context: inout AccessoryContext) {
    if context.connections == 0 { (buzzer, light) = (.noAlert, .off) }
  }
}
