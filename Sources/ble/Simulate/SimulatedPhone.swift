import BluetoothLab
import CoreBluetooth
import Foundation

/// The app on a client's device in a simulation. It does what an app for accessories does: it connects to each device
/// that it can connect to, discovers all services, and subscribes to all values that are notified or indicated.
///
/// The delegate is called on the thread that runs the world.
final class SimulatedPhone: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate {
  /// The behaviour of the clients of a world.
  enum Behaviour: String, CaseIterable, Sendable {
    /// Connect, discover and subscribe.
    case subscribe
    /// Scan, and nothing else.
    case scan
    /// Stay idle.
    case idle
  }

  private let behaviour: Behaviour
  private var manager: CBCentralManager?
  private var peripherals: Set<CBPeripheral> = []
  /// The number of connections that were established.
  private(set) var connections = 0
  /// The number of connections that have ended.
  private(set) var disconnections = 0
  /// The number of values that were notified or indicated.
  private(set) var values = 0

  init(_ behaviour: Behaviour, on device: Device) {
    self.behaviour = behaviour
    super.init()
    guard behaviour != .idle else { return }
    manager = CBCentralManager(delegate: self, queue: nil, options: [CBManagerOptionAdapterKey: device])
  }

  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    guard central.state == .poweredOn else { return }
    central.scanForPeripherals(
      withServices: nil, options: [CBCentralManagerScanOptionAllowDuplicatesKey: behaviour == .scan])
  }

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi: NSNumber
  ) {
    let isConnectable = (advertisementData[CBAdvertisementDataIsConnectable] as? NSNumber)?.boolValue ?? false
    guard behaviour == .subscribe, isConnectable, peripherals.insert(peripheral).inserted else { return }
    peripheral.delegate = self
    central.connect(peripheral)
  }

  func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
    connections += 1
    peripheral.discoverServices(nil)
  }

  func centralManager(
    _ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?
  ) {
    central.connect(peripheral)
  }

  func centralManager(
    _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
  ) {
    disconnections += 1
    // The request to connect waits until the device advertises again.
    central.connect(peripheral)
  }

  func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
    for service in peripheral.services ?? [] { peripheral.discoverCharacteristics(nil, for: service) }
  }

  func peripheral(
    _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
  ) {
    for characteristic in service.characteristics ?? []
    where !characteristic.properties.isDisjoint(with: [.notify, .indicate]) {
      peripheral.setNotifyValue(true, for: characteristic)
    }
  }

  func peripheral(
    _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
  ) {
    if error == nil { values += 1 }
  }
}
