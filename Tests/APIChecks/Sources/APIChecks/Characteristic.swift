import CoreBluetooth

// Compile-time checks for area "Characteristic". Each line names one symbol with its exact type.
func check_Characteristic() {
  // CBCharacteristic
  let _: CBAttribute.Type = CBCharacteristic.self
  // CBCharacteristic.service
  let _: KeyPath<CBCharacteristic, CBService?> = \CBCharacteristic.service
  // CBCharacteristic.properties
  let _: KeyPath<CBCharacteristic, CBCharacteristicProperties> = \CBCharacteristic.properties
  // CBCharacteristic.value
  let _: KeyPath<CBCharacteristic, Data?> = \CBCharacteristic.value
  // CBCharacteristic.descriptors
  let _: KeyPath<CBCharacteristic, [CBDescriptor]?> = \CBCharacteristic.descriptors
  // CBCharacteristic.isBroadcasted
  let _: KeyPath<CBCharacteristic, Bool> = \CBCharacteristic.isBroadcasted
  // CBCharacteristic.isNotifying
  let _: KeyPath<CBCharacteristic, Bool> = \CBCharacteristic.isNotifying
  // CBMutableCharacteristic
  let _: CBCharacteristic.Type = CBMutableCharacteristic.self
  // CBMutableCharacteristic.permissions
  let _: ReferenceWritableKeyPath<CBMutableCharacteristic, CBAttributePermissions> =
    \CBMutableCharacteristic.permissions
  // CBMutableCharacteristic.subscribedCentrals
  let _: KeyPath<CBMutableCharacteristic, [CBCentral]?> = \CBMutableCharacteristic.subscribedCentrals
  // CBMutableCharacteristic.properties
  let _: ReferenceWritableKeyPath<CBMutableCharacteristic, CBCharacteristicProperties> =
    \CBMutableCharacteristic.properties
  // CBMutableCharacteristic.value
  let _: ReferenceWritableKeyPath<CBMutableCharacteristic, Data?> = \CBMutableCharacteristic.value
  // CBMutableCharacteristic.descriptors
  let _: ReferenceWritableKeyPath<CBMutableCharacteristic, [CBDescriptor]?> = \CBMutableCharacteristic.descriptors
  // CBMutableCharacteristic.init(type:properties:value:permissions:)
  let _: (CBUUID, CBCharacteristicProperties, Data?, CBAttributePermissions) -> CBMutableCharacteristic =
    CBMutableCharacteristic.init(type:properties:value:permissions:)
  // CBCharacteristicProperties
  requireOptionSet(CBCharacteristicProperties.self)
  // CBCharacteristicProperties.init(rawValue:)
  let _: (UInt) -> CBCharacteristicProperties = CBCharacteristicProperties.init(rawValue:)
  let _: KeyPath<CBCharacteristicProperties, UInt> = \CBCharacteristicProperties.rawValue
  // CBCharacteristicProperties.broadcast
  let _: CBCharacteristicProperties = .broadcast
  // CBCharacteristicProperties.read
  let _: CBCharacteristicProperties = .read
  // CBCharacteristicProperties.writeWithoutResponse
  let _: CBCharacteristicProperties = .writeWithoutResponse
  // CBCharacteristicProperties.write
  let _: CBCharacteristicProperties = .write
  // CBCharacteristicProperties.notify
  let _: CBCharacteristicProperties = .notify
  // CBCharacteristicProperties.indicate
  let _: CBCharacteristicProperties = .indicate
  // CBCharacteristicProperties.authenticatedSignedWrites
  let _: CBCharacteristicProperties = .authenticatedSignedWrites
  // CBCharacteristicProperties.extendedProperties
  let _: CBCharacteristicProperties = .extendedProperties
  // CBCharacteristicProperties.notifyEncryptionRequired
  let _: CBCharacteristicProperties = .notifyEncryptionRequired
  // CBCharacteristicProperties.indicateEncryptionRequired
  let _: CBCharacteristicProperties = .indicateEncryptionRequired
  // CBAttributePermissions
  requireOptionSet(CBAttributePermissions.self)
  // CBAttributePermissions.init(rawValue:)
  let _: (UInt) -> CBAttributePermissions = CBAttributePermissions.init(rawValue:)
  let _: KeyPath<CBAttributePermissions, UInt> = \CBAttributePermissions.rawValue
  // CBAttributePermissions.readable
  let _: CBAttributePermissions = .readable
  // CBAttributePermissions.writeable
  let _: CBAttributePermissions = .writeable
  // CBAttributePermissions.readEncryptionRequired
  let _: CBAttributePermissions = .readEncryptionRequired
  // CBAttributePermissions.writeEncryptionRequired
  let _: CBAttributePermissions = .writeEncryptionRequired
}
