import BluetoothWire

/// The UUIDs that the daemon itself looks for in a peer's database · Assigned Numbers, 3.4.1, 3.7, 3.8.1.
enum SystemAttribute {
  static let genericAccess: BluetoothUUID = 0x1800
  static let genericAttribute: BluetoothUUID = 0x1801
  static let humanInterfaceDevice: BluetoothUUID = 0x1812
  static let deviceName: BluetoothUUID = 0x2A00
  static let clientCharacteristicConfiguration: BluetoothUUID = 0x2902
}
