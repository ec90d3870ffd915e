import CoreBluetooth

// Compile-time checks for area "Peripheral". Each line names one symbol with its exact type.
func check_Peripheral() {
  // CBPeripheral
  let _: CBPeer.Type = CBPeripheral.self
  // CBPeripheral.delegate
  let _: ReferenceWritableKeyPath<CBPeripheral, (any CBPeripheralDelegate)?> = \CBPeripheral.delegate
  // CBPeripheral.name
  let _: KeyPath<CBPeripheral, String?> = \CBPeripheral.name
  // CBPeripheral.rssi
  let _: KeyPath<CBPeripheral, NSNumber?> = \CBPeripheral.rssi
  // CBPeripheral.state
  let _: KeyPath<CBPeripheral, CBPeripheralState> = \CBPeripheral.state
  // CBPeripheral.services
  let _: KeyPath<CBPeripheral, [CBService]?> = \CBPeripheral.services
  // CBPeripheral.canSendWriteWithoutResponse
  let _: KeyPath<CBPeripheral, Bool> = \CBPeripheral.canSendWriteWithoutResponse
  // CBPeripheral.ancsAuthorized
  #if !os(macOS)
    let _: KeyPath<CBPeripheral, Bool> = \CBPeripheral.ancsAuthorized
  #endif
  // CBPeripheral.readRSSI()
  let _: (CBPeripheral) -> () -> Void = CBPeripheral.readRSSI
  // CBPeripheral.discoverServices(_:)
  let _: (CBPeripheral) -> ([CBUUID]?) -> Void = CBPeripheral.discoverServices(_:)
  // CBPeripheral.discoverIncludedServices(_:for:)
  let _: (CBPeripheral) -> ([CBUUID]?, CBService) -> Void = CBPeripheral.discoverIncludedServices(_:for:)
  // CBPeripheral.discoverCharacteristics(_:for:)
  let _: (CBPeripheral) -> ([CBUUID]?, CBService) -> Void = CBPeripheral.discoverCharacteristics(_:for:)
  // CBPeripheral.readValue(for:)
  let _: (CBPeripheral) -> (CBCharacteristic) -> Void = CBPeripheral.readValue(for:)
  // CBPeripheral.maximumWriteValueLength(for:)
  let _: (CBPeripheral) -> (CBCharacteristicWriteType) -> Int = CBPeripheral.maximumWriteValueLength(for:)
  // CBPeripheral.writeValue(_:for:type:)
  let _: (CBPeripheral) -> (Data, CBCharacteristic, CBCharacteristicWriteType) -> Void = CBPeripheral.writeValue(
    _:for:type:)
  // CBPeripheral.setNotifyValue(_:for:)
  let _: (CBPeripheral) -> (Bool, CBCharacteristic) -> Void = CBPeripheral.setNotifyValue(_:for:)
  // CBPeripheral.discoverDescriptors(for:)
  let _: (CBPeripheral) -> (CBCharacteristic) -> Void = CBPeripheral.discoverDescriptors(for:)
  // CBPeripheral.readValue(for:) (descriptor)
  let _: (CBPeripheral) -> (CBDescriptor) -> Void = CBPeripheral.readValue(for:)
  // CBPeripheral.writeValue(_:for:)
  let _: (CBPeripheral) -> (Data, CBDescriptor) -> Void = CBPeripheral.writeValue(_:for:)
  // CBPeripheral.openL2CAPChannel(_:)
  let _: (CBPeripheral) -> (CBL2CAPPSM) -> Void = CBPeripheral.openL2CAPChannel(_:)
  // CBPeripheral.startChannelSoundingSession(_:)
  #if CB_IOS27
    let _: (CBPeripheral) -> (CBChannelSoundingSessionConfiguration) -> Void = CBPeripheral.startChannelSoundingSession(
      _:)
  #endif
  // CBPeripheral.cancelChannelSoundingSession()
  #if CB_IOS27
    let _: (CBPeripheral) -> () -> Void = CBPeripheral.cancelChannelSoundingSession
  #endif
  // CBPeripheralState
  requireEnum(CBPeripheralState.self)
  // CBPeripheralState.init(rawValue:)
  let _: (Int) -> CBPeripheralState? = CBPeripheralState.init(rawValue:)
  // CBPeripheralState.disconnected
  let _: CBPeripheralState = .disconnected
  // CBPeripheralState.connecting
  let _: CBPeripheralState = .connecting
  // CBPeripheralState.connected
  let _: CBPeripheralState = .connected
  // CBPeripheralState.disconnecting
  let _: CBPeripheralState = .disconnecting
  // CBCharacteristicWriteType
  requireEnum(CBCharacteristicWriteType.self)
  // CBCharacteristicWriteType.init(rawValue:)
  let _: (Int) -> CBCharacteristicWriteType? = CBCharacteristicWriteType.init(rawValue:)
  // CBCharacteristicWriteType.withResponse
  let _: CBCharacteristicWriteType = .withResponse
  // CBCharacteristicWriteType.withoutResponse
  let _: CBCharacteristicWriteType = .withoutResponse
  // CBChannelSoundingSessionConfiguration
  #if CB_IOS27
    let _: NSObject.Type = CBChannelSoundingSessionConfiguration.self
  #endif
  // CBChannelSoundingSessionConfiguration.Role
  #if CB_IOS27
    requireEnum(CBChannelSoundingSessionConfiguration.Role.self)
  #endif
  // CBChannelSoundingSessionConfiguration.Role.init(rawValue:)
  #if CB_IOS27
    let _: (Int) -> CBChannelSoundingSessionConfiguration.Role? = CBChannelSoundingSessionConfiguration.Role.init(
      rawValue:)
  #endif
  // CBChannelSoundingSessionConfiguration.Role.initiator
  #if CB_IOS27
    let _: CBChannelSoundingSessionConfiguration.Role = .initiator
  #endif
  // CBChannelSoundingSessionConfiguration.init(role:)
  #if CB_IOS27
    let _: (CBChannelSoundingSessionConfiguration.Role) -> CBChannelSoundingSessionConfiguration =
      CBChannelSoundingSessionConfiguration.init(role:)
  #endif
  // CBChannelSoundingProcedureResults
  #if CB_IOS27
    let _: NSObject.Type = CBChannelSoundingProcedureResults.self
  #endif
  // CBChannelSoundingProcedureResults.distance
  #if CB_IOS27
    let _: KeyPath<CBChannelSoundingProcedureResults, Double> = \CBChannelSoundingProcedureResults.distance
  #endif
}
