import CoreBluetooth

// Compile-time checks for area "PeripheralManager". Each line names one symbol with its exact type.
func check_PeripheralManager() {
  // CBPeripheralManager
  let _: CBManager.Type = CBPeripheralManager.self
  // CBPeripheralManager.delegate
  let _: ReferenceWritableKeyPath<CBPeripheralManager, (any CBPeripheralManagerDelegate)?> =
    \CBPeripheralManager.delegate
  // CBPeripheralManager.isAdvertising
  let _: KeyPath<CBPeripheralManager, Bool> = \CBPeripheralManager.isAdvertising
  // CBPeripheralManager.authorizationStatus()
  let _: () -> CBPeripheralManagerAuthorizationStatus = CBPeripheralManager.authorizationStatus
  // CBPeripheralManager.init()
  let _: () -> CBPeripheralManager = CBPeripheralManager.init
  // CBPeripheralManager.init(delegate:queue:)
  let _: ((any CBPeripheralManagerDelegate)?, DispatchQueue?) -> CBPeripheralManager = CBPeripheralManager.init(
    delegate:queue:)
  // CBPeripheralManager.init(delegate:queue:options:)
  let _: ((any CBPeripheralManagerDelegate)?, DispatchQueue?, [String: Any]?) -> CBPeripheralManager =
    CBPeripheralManager.init(delegate:queue:options:)
  // CBPeripheralManager.startAdvertising(_:)
  let _: (CBPeripheralManager) -> ([String: Any]?) -> Void = CBPeripheralManager.startAdvertising(_:)
  // CBPeripheralManager.stopAdvertising()
  let _: (CBPeripheralManager) -> () -> Void = CBPeripheralManager.stopAdvertising
  // CBPeripheralManager.setDesiredConnectionLatency(_:for:)
  let _: (CBPeripheralManager) -> (CBPeripheralManagerConnectionLatency, CBCentral) -> Void = CBPeripheralManager
    .setDesiredConnectionLatency(_:for:)
  // CBPeripheralManager.add(_:)
  let _: (CBPeripheralManager) -> (CBMutableService) -> Void = CBPeripheralManager.add(_:)
  // CBPeripheralManager.remove(_:)
  let _: (CBPeripheralManager) -> (CBMutableService) -> Void = CBPeripheralManager.remove(_:)
  // CBPeripheralManager.removeAllServices()
  let _: (CBPeripheralManager) -> () -> Void = CBPeripheralManager.removeAllServices
  // CBPeripheralManager.respond(to:withResult:)
  let _: (CBPeripheralManager) -> (CBATTRequest, CBATTError.Code) -> Void = CBPeripheralManager.respond(to:withResult:)
  // CBPeripheralManager.updateValue(_:for:onSubscribedCentrals:)
  let _: (CBPeripheralManager) -> (Data, CBMutableCharacteristic, [CBCentral]?) -> Bool = CBPeripheralManager
    .updateValue(_:for:onSubscribedCentrals:)
  // CBPeripheralManager.publishL2CAPChannel(withEncryption:)
  let _: (CBPeripheralManager) -> (Bool) -> Void = CBPeripheralManager.publishL2CAPChannel(withEncryption:)
  // CBPeripheralManager.unpublishL2CAPChannel(_:)
  let _: (CBPeripheralManager) -> (CBL2CAPPSM) -> Void = CBPeripheralManager.unpublishL2CAPChannel(_:)
  // CBPeripheralManagerConnectionLatency
  requireEnum(CBPeripheralManagerConnectionLatency.self)
  // CBPeripheralManagerConnectionLatency.init(rawValue:)
  let _: (Int) -> CBPeripheralManagerConnectionLatency? = CBPeripheralManagerConnectionLatency.init(rawValue:)
  // CBPeripheralManagerConnectionLatency.low
  let _: CBPeripheralManagerConnectionLatency = .low
  // CBPeripheralManagerConnectionLatency.medium
  let _: CBPeripheralManagerConnectionLatency = .medium
  // CBPeripheralManagerConnectionLatency.high
  let _: CBPeripheralManagerConnectionLatency = .high
  // CBPeripheralManagerAuthorizationStatus
  requireEnum(CBPeripheralManagerAuthorizationStatus.self)
  // CBPeripheralManagerAuthorizationStatus.init(rawValue:)
  let _: (Int) -> CBPeripheralManagerAuthorizationStatus? = CBPeripheralManagerAuthorizationStatus.init(rawValue:)
  // CBPeripheralManagerAuthorizationStatus.notDetermined
  let _: CBPeripheralManagerAuthorizationStatus = .notDetermined
  // CBPeripheralManagerAuthorizationStatus.restricted
  let _: CBPeripheralManagerAuthorizationStatus = .restricted
  // CBPeripheralManagerAuthorizationStatus.denied
  let _: CBPeripheralManagerAuthorizationStatus = .denied
  // CBPeripheralManagerAuthorizationStatus.authorized
  let _: CBPeripheralManagerAuthorizationStatus = .authorized
  // CBPeripheralManagerState
  requireEnum(CBPeripheralManagerState.self)
  // CBPeripheralManagerState.init(rawValue:)
  let _: (Int) -> CBPeripheralManagerState? = CBPeripheralManagerState.init(rawValue:)
  // CBPeripheralManagerState.unknown
  let _: CBPeripheralManagerState = .unknown
  // CBPeripheralManagerState.resetting
  let _: CBPeripheralManagerState = .resetting
  // CBPeripheralManagerState.unsupported
  let _: CBPeripheralManagerState = .unsupported
  // CBPeripheralManagerState.unauthorized
  let _: CBPeripheralManagerState = .unauthorized
  // CBPeripheralManagerState.poweredOff
  let _: CBPeripheralManagerState = .poweredOff
  // CBPeripheralManagerState.poweredOn
  let _: CBPeripheralManagerState = .poweredOn
}
