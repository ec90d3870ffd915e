import CoreBluetooth

// Compile-time checks for area "Manager". Each line names one symbol with its exact type.
func check_Manager() {
  // CBManager
  let _: NSObject.Type = CBManager.self
  // CBManager.state
  let _: KeyPath<CBManager, CBManagerState> = \CBManager.state
  // CBManager.authorization (class)
  let _: CBManagerAuthorization = CBManager.authorization
  let _: CBManagerAuthorization = CBCentralManager.authorization
  let _: CBManagerAuthorization = CBPeripheralManager.authorization
  // CBManager.authorization (instance)
  let _: KeyPath<CBManager, CBManagerAuthorization> = \CBManager.authorization
  // CBManagerState
  requireEnum(CBManagerState.self)
  // CBManagerState.init(rawValue:)
  let _: (Int) -> CBManagerState? = CBManagerState.init(rawValue:)
  // CBManagerState.unknown
  let _: CBManagerState = .unknown
  // CBManagerState.resetting
  let _: CBManagerState = .resetting
  // CBManagerState.unsupported
  let _: CBManagerState = .unsupported
  // CBManagerState.unauthorized
  let _: CBManagerState = .unauthorized
  // CBManagerState.poweredOff
  let _: CBManagerState = .poweredOff
  // CBManagerState.poweredOn
  let _: CBManagerState = .poweredOn
  // CBManagerAuthorization
  requireEnum(CBManagerAuthorization.self)
  // CBManagerAuthorization.init(rawValue:)
  let _: (Int) -> CBManagerAuthorization? = CBManagerAuthorization.init(rawValue:)
  // CBManagerAuthorization.notDetermined
  let _: CBManagerAuthorization = .notDetermined
  // CBManagerAuthorization.restricted
  let _: CBManagerAuthorization = .restricted
  // CBManagerAuthorization.denied
  let _: CBManagerAuthorization = .denied
  // CBManagerAuthorization.allowedAlways
  let _: CBManagerAuthorization = .allowedAlways
}
