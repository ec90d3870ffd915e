import CoreBluetooth

// Classes imported from Objective-C are open. These subclasses override every overridable member.

class MyCentral: CBCentralManager {
  override var state: CBManagerState { .poweredOn }
  override var isScanning: Bool { false }
  override func retrievePeripherals(withIdentifiers identifiers: [UUID]) -> [CBPeripheral] { [] }
  override func retrieveConnectedPeripherals(withServices serviceUUIDs: [CBUUID]) -> [CBPeripheral] { [] }
  override func scanForPeripherals(withServices serviceUUIDs: [CBUUID]?, options: [String: Any]? = nil) {}
  override func stopScan() {}
  override func connect(_ peripheral: CBPeripheral, options: [String: Any]? = nil) {}
  override func cancelPeripheralConnection(_ peripheral: CBPeripheral) {}
  #if !os(macOS)
    override class func supports(_ features: CBCentralManager.Feature) -> Bool { true }
    override func registerForConnectionEvents(options: [CBConnectionEventMatchingOption: Any]? = nil) {}
  #endif
  override init(delegate: (any CBCentralManagerDelegate)?, queue: DispatchQueue?, options: [String: Any]? = nil) {
    super.init(delegate: delegate, queue: queue, options: options)
  }
}

class MyPeripheralManager: CBPeripheralManager {
  override var state: CBManagerState { .poweredOn }
  override var isAdvertising: Bool { true }
  override func startAdvertising(_ advertisementData: [String: Any]?) {}
  override func stopAdvertising() {}
  override func setDesiredConnectionLatency(_ latency: CBPeripheralManagerConnectionLatency, for central: CBCentral) {}
  override func add(_ service: CBMutableService) {}
  override func remove(_ service: CBMutableService) {}
  override func removeAllServices() {}
  override func respond(to request: CBATTRequest, withResult result: CBATTError.Code) {}
  override func updateValue(
    _ value: Data, for characteristic: CBMutableCharacteristic, onSubscribedCentrals centrals: [CBCentral]?
  ) -> Bool { true }
  override func publishL2CAPChannel(withEncryption encryptionRequired: Bool) {}
  override func unpublishL2CAPChannel(_ PSM: CBL2CAPPSM) {}
}

class MyPeripheral: CBPeripheral {
  override var identifier: UUID { UUID() }
  override var name: String? { "x" }
  override var state: CBPeripheralState { .connected }
  override var services: [CBService]? { nil }
  override var canSendWriteWithoutResponse: Bool { true }
  override func readRSSI() {}
  override func discoverServices(_ serviceUUIDs: [CBUUID]?) {}
  override func discoverIncludedServices(_ includedServiceUUIDs: [CBUUID]?, for service: CBService) {}
  override func discoverCharacteristics(_ characteristicUUIDs: [CBUUID]?, for service: CBService) {}
  override func readValue(for characteristic: CBCharacteristic) {}
  override func maximumWriteValueLength(for type: CBCharacteristicWriteType) -> Int { 20 }
  override func writeValue(_ data: Data, for characteristic: CBCharacteristic, type: CBCharacteristicWriteType) {}
  override func setNotifyValue(_ enabled: Bool, for characteristic: CBCharacteristic) {}
  override func discoverDescriptors(for characteristic: CBCharacteristic) {}
  override func readValue(for descriptor: CBDescriptor) {}
  override func writeValue(_ data: Data, for descriptor: CBDescriptor) {}
  override func openL2CAPChannel(_ PSM: CBL2CAPPSM) {}
}

class MyCentralPeer: CBCentral { override var maximumUpdateValueLength: Int { 20 } }
class MyService: CBService {
  override var isPrimary: Bool { true }
  override var characteristics: [CBCharacteristic]? { nil }
}
class MyMutableService: CBMutableService {}
class MyCharacteristic: CBCharacteristic {
  override var value: Data? { nil }
  override var isNotifying: Bool { true }
}
class MyMutableCharacteristic: CBMutableCharacteristic { override var subscribedCentrals: [CBCentral]? { [] } }
class MyDescriptor: CBDescriptor { override var value: Any? { 1 } }
class MyMutableDescriptor: CBMutableDescriptor {}
class MyRequest: CBATTRequest { override var offset: Int { 0 } }
class MyChannel: CBL2CAPChannel { override var psm: CBL2CAPPSM { 0x80 } }

func useMutableSubclasses(_ id: CBUUID) {
  _ = MyMutableService(type: id, primary: true)
  _ = MyMutableCharacteristic(type: id, properties: [.read], value: nil, permissions: [.readable])
  _ = MyMutableDescriptor(type: id, value: "x")
  _ = MyCentral(delegate: nil, queue: nil)
}
