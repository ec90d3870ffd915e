import CoreBluetooth

// Compile-time checks for area "AdvertisementData". Each line names one symbol with its exact type.
func check_AdvertisementData() {
  // CBAdvertisementDataLocalNameKey
  let _: String = CBAdvertisementDataLocalNameKey
  // CBAdvertisementDataTxPowerLevelKey
  let _: String = CBAdvertisementDataTxPowerLevelKey
  // CBAdvertisementDataServiceUUIDsKey
  let _: String = CBAdvertisementDataServiceUUIDsKey
  // CBAdvertisementDataServiceDataKey
  let _: String = CBAdvertisementDataServiceDataKey
  // CBAdvertisementDataManufacturerDataKey
  let _: String = CBAdvertisementDataManufacturerDataKey
  // CBAdvertisementDataOverflowServiceUUIDsKey
  let _: String = CBAdvertisementDataOverflowServiceUUIDsKey
  // CBAdvertisementDataIsConnectable
  let _: String = CBAdvertisementDataIsConnectable
  // CBAdvertisementDataSolicitedServiceUUIDsKey
  let _: String = CBAdvertisementDataSolicitedServiceUUIDsKey
}
