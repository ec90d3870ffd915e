import CoreBluetooth

// Compile-time checks for area "UUID". Each line names one symbol with its exact type.
func check_UUID() {
  // CBUUID
  let _: NSObject.Type = CBUUID.self
  let _: any NSCopying.Type = CBUUID.self
  // CBUUID.data
  let _: KeyPath<CBUUID, Data> = \CBUUID.data
  // CBUUID.uuidString
  let _: KeyPath<CBUUID, String> = \CBUUID.uuidString
  // CBUUID.init(string:)
  let _: (String) -> CBUUID = CBUUID.init(string:)
  // CBUUID.init(data:)
  let _: (Data) -> CBUUID = CBUUID.init(data:)
  // CBUUID.init(nsuuid:)
  let _: (UUID) -> CBUUID = CBUUID.init(nsuuid:)
  // CBUUID.init(cfuuid:)
  #if CB_CFUUID || canImport(Darwin)
    let _: (CFUUID) -> CBUUID = CBUUID.init(cfuuid:)
  #endif
  // CBUUIDCharacteristicExtendedPropertiesString
  let _: String = CBUUIDCharacteristicExtendedPropertiesString
  // CBUUIDCharacteristicUserDescriptionString
  let _: String = CBUUIDCharacteristicUserDescriptionString
  // CBUUIDClientCharacteristicConfigurationString
  let _: String = CBUUIDClientCharacteristicConfigurationString
  // CBUUIDServerCharacteristicConfigurationString
  let _: String = CBUUIDServerCharacteristicConfigurationString
  // CBUUIDCharacteristicFormatString
  let _: String = CBUUIDCharacteristicFormatString
  // CBUUIDCharacteristicAggregateFormatString
  let _: String = CBUUIDCharacteristicAggregateFormatString
  // CBUUIDCharacteristicValidRangeString
  let _: String = CBUUIDCharacteristicValidRangeString
  // CBUUIDCharacteristicObservationScheduleString
  let _: String = CBUUIDCharacteristicObservationScheduleString
  // CBUUIDL2CAPPSMCharacteristicString
  let _: String = CBUUIDL2CAPPSMCharacteristicString
}
