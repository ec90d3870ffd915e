import BluetoothLab
import BluetoothTypes

/// The device in the world: an accessory whose setting clients write and read.
struct SettingsDevice: Accessory {
  static let service: BluetoothUUID = "5E770001-2C0B-4F0C-A7F2-6B8D11D3A6F0"
  static let setting = CharacteristicPath("5E770002-2C0B-4F0C-A7F2-6B8D11D3A6F0", of: service)

  var setting: [UInt8] = []
  /// The number of writes that have reached the device.
  var writes = 0

  var advertising: Advertising {
    Advertising(AdvertisingPayload(fitting: [.flags()] + ADStructure.serviceLists([Self.service])))
  }

  var services: [AccessoryService<Self>] {
    [
      AccessoryService(
        Self.service,
        [
          AccessoryCharacteristic(
            octetsOf: Self.setting, [.read, .write], read: \.setting,
            write: { device, octets, _ in
              device.setting = octets
              device.writes += 1
            })
        ])
    ]
  }
}
