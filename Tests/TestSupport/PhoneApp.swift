import BluetoothLab
import CoreBluetooth

/// An app that finds a peripheral, connects to it, discovers its attributes, and records the events.
package final class PhoneApp: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate {
  /// The choices of an app.
  package struct Plan {
    /// The only service to scan for and to discover; nil: all services.
    package var service: CBUUID?
    /// The name of the peripheral to connect to; nil: the first one that is discovered.
    package var name: String?
    /// True if the app connects.
    package var connects = true
    /// True if the app reports each advertisement, and goes on scanning while it is connected.
    package var keepsScanning = false
    /// True if the app looks for another peripheral after Bluetooth was off.
    package var beginsAgain = false
    /// True if the app connects again after each disconnection.
    package var reconnects = false

    package init() {}

    /// The app connects to the first peripheral that it discovers, and discovers all of its attributes.
    package static var explore: Plan { Plan() }

    /// The app reports each advertisement, and never connects.
    package static var listen: Plan {
      var plan = Plan()
      (plan.connects, plan.keepsScanning) = (false, true)
      return plan
    }

    /// The app meets the peripherals with this service, again after Bluetooth was off.
    package static func meet(_ service: CBUUID) -> Plan {
      var plan = Plan()
      (plan.service, plan.beginsAgain) = (service, true)
      return plan
    }
  }

  package enum Event: Equatable {
    case state(CBManagerState)
    /// The peripheral to connect to has been discovered.
    case discovered
    case connected, notConnected, disconnected
    /// All characteristics of the plan's services have been discovered.
    case ready
    /// The error code of a read.
    case notRead(Int)
    case written
    /// The error code of a write.
    case notWritten(Int)
    case notifying(Bool)
  }

  /// A reported advertisement.
  package struct Sighting {
    package let time: Duration
    package let peripheral: UUID
    package let name: String?
    package let level: Double
    package let data: [String: Any]
  }

  package let manager: CBCentralManager
  private let plan: Plan
  private let world: World
  private var undiscovered = 0
  package private(set) var events: [Event] = []
  package private(set) var sightings: [Sighting] = []
  package private(set) var peripheral: CBPeripheral?
  package private(set) var disconnection: (any Error)?
  private var received: [CBUUID: [[UInt8]]] = [:]
  /// Called in each callback, after the event has been recorded.
  package var onEvent: ((Event) -> Void)?

  package init(on device: Device, _ plan: Plan = .explore, queue: DispatchQueue? = nil) {
    self.plan = plan
    world = device.world
    manager = CBCentralManager(delegate: nil, queue: queue, options: [CBManagerOptionAdapterKey: device])
    super.init()
    manager.delegate = self
  }

  private func note(_ event: Event) {
    events.append(event)
    onEvent?(event)
  }

  // MARK: Observations

  package func has(_ event: Event) -> Bool { events.contains(event) }
  package var isReady: Bool { undiscovered == 0 && has(.ready) }

  /// The latest advertisement's data, and its level in dBm.
  package var advertisement: [String: Any] { sightings.last?.data ?? [:] }
  package var level: Double? { sightings.last?.level }

  package func sightings(of name: String) -> [Sighting] { sightings.filter { $0.name == name } }

  /// Returns the values of a characteristic in order, from reads and notifications.
  package func values(of uuid: CBUUID) -> [[UInt8]] { received[uuid] ?? [] }
  package func values(of uuid: String) -> [[UInt8]] { values(of: CBUUID(string: uuid)) }

  /// Returns the first characteristic with that UUID.
  package func characteristic(_ uuid: CBUUID, of service: CBUUID? = nil) -> CBCharacteristic? {
    let services = peripheral?.services?.filter { service == nil || $0.uuid == service } ?? []
    return services.flatMap { $0.characteristics ?? [] }.first { $0.uuid == uuid }
  }

  package func characteristic(_ uuid: String, of service: String? = nil) -> CBCharacteristic? {
    characteristic(CBUUID(string: uuid), of: service.map { CBUUID(string: $0) })
  }

  // MARK: Actions

  package func read(_ uuid: String, of service: String? = nil) {
    if let characteristic = characteristic(uuid, of: service) { peripheral?.readValue(for: characteristic) }
  }

  package func subscribe(_ uuid: String, _ isOn: Bool = true) {
    if let characteristic = characteristic(uuid) { peripheral?.setNotifyValue(isOn, for: characteristic) }
  }

  package func write(
    _ octets: [UInt8], to uuid: String, of service: String? = nil, _ type: CBCharacteristicWriteType
  ) {
    guard let characteristic = characteristic(uuid, of: service) else { return }
    peripheral?.writeValue(Data(octets), for: characteristic, type: type)
  }

  // MARK: CBCentralManagerDelegate

  package func centralManagerDidUpdateState(_ central: CBCentralManager) {
    note(.state(central.state))
    guard central.state == .poweredOn else { return }
    if plan.beginsAgain { peripheral = nil }
    central.scanForPeripherals(
      withServices: plan.service.map { [$0] },
      options: plan.keepsScanning ? [CBCentralManagerScanOptionAllowDuplicatesKey: true] : nil)
  }

  package func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi: NSNumber
  ) {
    let name = advertisementData[CBAdvertisementDataLocalNameKey] as? String ?? peripheral.name
    sightings.append(
      Sighting(
        time: world.now, peripheral: peripheral.identifier, name: name, level: rssi.doubleValue,
        data: advertisementData))
    guard plan.connects, self.peripheral == nil, plan.name == nil || plan.name == name else { return }
    self.peripheral = peripheral
    peripheral.delegate = self
    note(.discovered)
    if !plan.keepsScanning { central.stopScan() }
    central.connect(peripheral)
  }

  package func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
    note(.connected)
    peripheral.discoverServices(plan.service.map { [$0] })
  }

  package func centralManager(
    _ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?
  ) {
    note(.notConnected)
  }

  package func centralManager(
    _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
  ) {
    disconnection = error
    note(.disconnected)
    if plan.reconnects { central.connect(peripheral) }
  }

  // MARK: CBPeripheralDelegate

  package func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
    let services = peripheral.services ?? []
    undiscovered = services.count
    for service in services { peripheral.discoverCharacteristics(nil, for: service) }
  }

  package func peripheral(
    _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
  ) {
    undiscovered -= 1
    if undiscovered == 0 { note(.ready) }
  }

  package func peripheral(
    _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
  ) {
    if let error { return note(.notRead((error as NSError).code)) }
    received[characteristic.uuid, default: []].append(Array(characteristic.value ?? Data()))
  }

  package func peripheral(
    _ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic, error: (any Error)?
  ) {
    note(error.map { .notWritten(($0 as NSError).code) } ?? .written)
  }

  package func peripheral(
    _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic, error: (any Error)?
  ) {
    note(.notifying(characteristic.isNotifying))
  }
}
