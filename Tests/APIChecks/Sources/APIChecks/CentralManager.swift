import CoreBluetooth

// Compile-time checks for area "CentralManager". Each line names one symbol with its exact type.
func check_CentralManager() {
  // CBCentralManager
  let _: CBManager.Type = CBCentralManager.self
  // CBCentralManager.delegate
  let _: ReferenceWritableKeyPath<CBCentralManager, (any CBCentralManagerDelegate)?> = \CBCentralManager.delegate
  // CBCentralManager.isScanning
  let _: KeyPath<CBCentralManager, Bool> = \CBCentralManager.isScanning
  // CBCentralManager.supports(_:)
  #if !os(macOS)
    let _: (CBCentralManager.Feature) -> Bool = CBCentralManager.supports(_:)
  #endif
  // CBCentralManager.init()
  let _: () -> CBCentralManager = CBCentralManager.init
  // CBCentralManager.init(delegate:queue:)
  let _: ((any CBCentralManagerDelegate)?, DispatchQueue?) -> CBCentralManager = CBCentralManager.init(delegate:queue:)
  // CBCentralManager.init(delegate:queue:options:)
  let _: ((any CBCentralManagerDelegate)?, DispatchQueue?, [String: Any]?) -> CBCentralManager = CBCentralManager.init(
    delegate:queue:options:)
  // CBCentralManager.retrievePeripherals(withIdentifiers:)
  let _: (CBCentralManager) -> ([UUID]) -> [CBPeripheral] = CBCentralManager.retrievePeripherals(withIdentifiers:)
  // CBCentralManager.retrieveConnectedPeripherals(withServices:)
  let _: (CBCentralManager) -> ([CBUUID]) -> [CBPeripheral] = CBCentralManager.retrieveConnectedPeripherals(
    withServices:)
  // CBCentralManager.scanForPeripherals(withServices:options:)
  let _: (CBCentralManager) -> ([CBUUID]?, [String: Any]?) -> Void = CBCentralManager.scanForPeripherals(
    withServices:options:)
  let _: (CBCentralManager) -> Void = { $0.scanForPeripherals(withServices: nil) }
  // CBCentralManager.stopScan()
  let _: (CBCentralManager) -> () -> Void = CBCentralManager.stopScan
  // CBCentralManager.connect(_:options:)
  let _: (CBCentralManager) -> (CBPeripheral, [String: Any]?) -> Void = CBCentralManager.connect(_:options:)
  let _: (CBCentralManager, CBPeripheral) -> Void = { $0.connect($1) }
  // CBCentralManager.cancelPeripheralConnection(_:)
  let _: (CBCentralManager) -> (CBPeripheral) -> Void = CBCentralManager.cancelPeripheralConnection(_:)
  // CBCentralManager.registerForConnectionEvents(options:)
  #if !os(macOS)
    let _: (CBCentralManager) -> ([CBConnectionEventMatchingOption: Any]?) -> Void = CBCentralManager
      .registerForConnectionEvents(options:)
    let _: (CBCentralManager) -> Void = { $0.registerForConnectionEvents() }
  #endif
  // CBCentralManager.Feature
  requireOptionSet(CBCentralManager.Feature.self)
  // CBCentralManager.Feature.init(rawValue:)
  let _: (UInt) -> CBCentralManager.Feature = CBCentralManager.Feature.init(rawValue:)
  let _: KeyPath<CBCentralManager.Feature, UInt> = \CBCentralManager.Feature.rawValue
  // CBCentralManager.Feature.extendedScanAndConnect
  #if !os(macOS)
    let _: CBCentralManager.Feature = .extendedScanAndConnect
  #endif
  // CBCentralManager.Feature.channelSounding
  #if CB_IOS27
    let _: CBCentralManager.Feature = .channelSounding
  #endif
  // CBCentralManagerState
  requireEnum(CBCentralManagerState.self)
  // CBCentralManagerState.init(rawValue:)
  let _: (Int) -> CBCentralManagerState? = CBCentralManagerState.init(rawValue:)
  // CBCentralManagerState.unknown
  let _: CBCentralManagerState = .unknown
  // CBCentralManagerState.resetting
  let _: CBCentralManagerState = .resetting
  // CBCentralManagerState.unsupported
  let _: CBCentralManagerState = .unsupported
  // CBCentralManagerState.unauthorized
  let _: CBCentralManagerState = .unauthorized
  // CBCentralManagerState.poweredOff
  let _: CBCentralManagerState = .poweredOff
  // CBCentralManagerState.poweredOn
  let _: CBCentralManagerState = .poweredOn
  // CBConnectionEvent
  requireEnum(CBConnectionEvent.self)
  // CBConnectionEvent.init(rawValue:)
  let _: (Int) -> CBConnectionEvent? = CBConnectionEvent.init(rawValue:)
  // CBConnectionEvent.peerDisconnected
  let _: CBConnectionEvent = .peerDisconnected
  // CBConnectionEvent.peerConnected
  let _: CBConnectionEvent = .peerConnected
  // CBConnectionEventMatchingOption
  requireStringKey(CBConnectionEventMatchingOption.self)
  // CBConnectionEventMatchingOption.init(rawValue:)
  let _: (String) -> CBConnectionEventMatchingOption = CBConnectionEventMatchingOption.init(rawValue:)
  // CBConnectionEventMatchingOption.serviceUUIDs
  #if !os(macOS)
    let _: CBConnectionEventMatchingOption = .serviceUUIDs
  #endif
  // CBConnectionEventMatchingOption.peripheralUUIDs
  #if !os(macOS)
    let _: CBConnectionEventMatchingOption = .peripheralUUIDs
  #endif
}
