import BluetoothLab
import CoreBluetooth

/// An app that connects to a heart rate belt and records its callbacks. After a relaunch it goes on with what the system
/// has restored.
final class BeltApp: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate {
  /// The actions that the app takes by itself.
  struct Plan {
    var identifier: String? = "belt"
    var scans = true
    var scanOptions: [String: Any]?
    var connects = true
    var connectOptions: [String: Any]?
    var subscribes = true
  }

  static let service = CBUUID(string: "180D")
  static let measurement = CBUUID(string: "2A37")

  let plan: Plan
  private let world: World
  private(set) var manager: CBCentralManager!
  private(set) var peripheral: CBPeripheral?
  private(set) var events: [String] = []
  /// The times of the callbacks, in the order of `events`.
  private(set) var times: [Duration] = []
  /// The dictionary of `willRestoreState`; nil: it has not been called.
  private(set) var restored: [String: Any]?
  private(set) var values: [Data] = []

  init(in world: World, _ plan: Plan = Plan()) {
    self.world = world
    self.plan = plan
    super.init()
    let options = plan.identifier.map { [CBCentralManagerOptionRestoreIdentifierKey: $0] }
    manager = CBCentralManager(delegate: self, queue: nil, options: options)
  }

  var measurement: CBCharacteristic? {
    peripheral?.services?.first { $0.uuid == Self.service }?.characteristics?.first { $0.uuid == Self.measurement }
  }

  /// The number of events with this text.
  func count(of event: String) -> Int { events.count { $0 == event } }

  private func note(_ event: String) {
    events.append(event)
    times.append(world.now)
  }

  private func note(_ event: String, _ error: (any Error)?) {
    let code = (error as? CBError)?.errorCode ?? (error as? CBATTError)?.errorCode
    note(code.map { "\(event) error \($0)" } ?? event)
  }

  func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
    note("restored")
    restored = dict
    let peripherals = dict[CBCentralManagerRestoredStatePeripheralsKey] as? [CBPeripheral]
    peripheral = peripherals?.first
    peripheral?.delegate = self
  }

  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    note("state \(central.state)")
    if central.state == .poweredOn, plan.scans, restored == nil {
      central.scanForPeripherals(withServices: [Self.service], options: plan.scanOptions)
    }
  }

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi: NSNumber
  ) {
    note("discovered")
    guard plan.connects, self.peripheral == nil else { return }
    central.stopScan()
    self.peripheral = peripheral
    peripheral.delegate = self
    central.connect(peripheral, options: plan.connectOptions)
  }

  /// Connects to a peripheral that the app has not discovered.
  func use(_ peripheral: CBPeripheral, _ options: [String: Any]?) {
    self.peripheral = peripheral
    peripheral.delegate = self
    manager.stopScan()
    manager.connect(peripheral, options: options)
  }

  func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
    note("connected")
    if plan.subscribes { peripheral.discoverServices([Self.service]) }
  }

  func centralManager(
    _ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?
  ) { note("not connected", error) }

  func centralManager(
    _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
  ) { note("disconnected", error) }

  func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
    note("services", error)
    for service in peripheral.services ?? [] { peripheral.discoverCharacteristics([Self.measurement], for: service) }
  }

  func peripheral(
    _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
  ) {
    note("characteristics", error)
    for characteristic in service.characteristics ?? [] { peripheral.setNotifyValue(true, for: characteristic) }
  }

  func peripheral(
    _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic, error: (any Error)?
  ) { note("notifying \(characteristic.isNotifying)", error) }

  func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?) {
    note("value", error)
    if error == nil, let value = characteristic.value { values.append(value) }
  }
}

extension AppManifest {
  /// A manifest with a usage description.
  static func described(_ modes: Set<BackgroundMode> = []) -> AppManifest {
    AppManifest(backgroundModes: modes, usageDescription: "to show your pulse")
  }
}
