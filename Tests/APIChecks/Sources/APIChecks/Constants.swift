import CoreBluetooth

// Compile-time checks for area "Constants". Each line names one symbol with its exact type.
func check_Constants() {
  // CBCentralManagerOptionShowPowerAlertKey
  let _: String = CBCentralManagerOptionShowPowerAlertKey
  // CBCentralManagerOptionRestoreIdentifierKey
  let _: String = CBCentralManagerOptionRestoreIdentifierKey
  // CBCentralManagerOptionDeviceAccessForMedia
  #if !os(macOS)
    let _: String = CBCentralManagerOptionDeviceAccessForMedia
  #endif
  // CBCentralManagerScanOptionAllowDuplicatesKey
  let _: String = CBCentralManagerScanOptionAllowDuplicatesKey
  // CBCentralManagerScanOptionSolicitedServiceUUIDsKey
  let _: String = CBCentralManagerScanOptionSolicitedServiceUUIDsKey
  // CBConnectPeripheralOptionNotifyOnConnectionKey
  let _: String = CBConnectPeripheralOptionNotifyOnConnectionKey
  // CBConnectPeripheralOptionNotifyOnDisconnectionKey
  let _: String = CBConnectPeripheralOptionNotifyOnDisconnectionKey
  // CBConnectPeripheralOptionNotifyOnNotificationKey
  let _: String = CBConnectPeripheralOptionNotifyOnNotificationKey
  // CBConnectPeripheralOptionStartDelayKey
  let _: String = CBConnectPeripheralOptionStartDelayKey
  // CBConnectPeripheralOptionEnableTransportBridgingKey
  #if !os(macOS)
    let _: String = CBConnectPeripheralOptionEnableTransportBridgingKey
  #endif
  // CBConnectPeripheralOptionRequiresANCS
  #if !os(macOS)
    let _: String = CBConnectPeripheralOptionRequiresANCS
  #endif
  // CBConnectPeripheralOptionEnableAutoReconnect
  let _: String = CBConnectPeripheralOptionEnableAutoReconnect
  // CBCentralManagerRestoredStatePeripheralsKey
  let _: String = CBCentralManagerRestoredStatePeripheralsKey
  // CBCentralManagerRestoredStateScanServicesKey
  let _: String = CBCentralManagerRestoredStateScanServicesKey
  // CBCentralManagerRestoredStateScanOptionsKey
  let _: String = CBCentralManagerRestoredStateScanOptionsKey
  // CBPeripheralManagerOptionShowPowerAlertKey
  let _: String = CBPeripheralManagerOptionShowPowerAlertKey
  // CBPeripheralManagerOptionRestoreIdentifierKey
  let _: String = CBPeripheralManagerOptionRestoreIdentifierKey
  // CBPeripheralManagerRestoredStateServicesKey
  let _: String = CBPeripheralManagerRestoredStateServicesKey
  // CBPeripheralManagerRestoredStateAdvertisementDataKey
  let _: String = CBPeripheralManagerRestoredStateAdvertisementDataKey
}
