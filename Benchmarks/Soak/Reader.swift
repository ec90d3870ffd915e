import BluetoothLab
import CoreBluetooth
import Foundation

/// An app that finds its counter, subscribes to it, and reconnects when the link is lost or brings no values.
final class Reader: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate {
  private static let service = CBUUID(string: "1815")
  private static let value = CBUUID(string: "2A58")

  private let sensorName: String
  private let now: () -> Duration
  private var central: CBCentralManager?
  private var peripheral: CBPeripheral?
  private var last: UInt32?

  /// True in a phase without faults, in which no value of a connection may be missing.
  var isCalm = false {
    didSet { lastInCalm = nil }
  }
  /// The last number that was received in this phase on the current connection.
  private var lastInCalm: UInt32?

  private(set) var values = 0
  private(set) var connections = 0
  /// The values with a wrong complement, which faults have altered.
  private(set) var altered = 0
  /// The numbers that arrived twice in a row, which faults cause.
  private(set) var repeated = 0
  private(set) var problems: [String] = []
  private(set) var lastValueAt = Duration.zero
  /// The time of the latest subscription on the present link; nil: there is none.
  private var subscribedAt: Duration?
  /// The latest callbacks except values, for the report of a problem.
  private(set) var history: [String] = []

  private func note(_ event: String) {
    if history.count == 6 { history.removeFirst() }
    history.append("\(now().components.seconds) s \(event)")
  }

  init(of counter: String, on device: Device, now: @escaping () -> Duration) {
    sensorName = counter
    self.now = now
    super.init()
    central = CBCentralManager(delegate: self, queue: nil, options: [CBManagerOptionAdapterKey: device])
  }

  /// Connects again if a subscription has brought no value for this time: a fault can alter the value that subscribes,
  /// so that the counter stays silent although the app knows of no error.
  func startOver(ifSilentFor time: Duration) {
    guard let subscribedAt, now() - max(subscribedAt, lastValueAt) > time else { return }
    note("silent")
    startOver()
  }

  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    note("\(central.state)")
    subscribedAt = nil
    guard central.state == .poweredOn else {
      // Below poweredOff peripherals become invalid.
      if central.state.rawValue < CBManagerState.poweredOff.rawValue { peripheral = nil }
      return
    }
    if let peripheral { connect(peripheral) } else { central.scanForPeripherals(withServices: [Self.service]) }
  }

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any], rssi: NSNumber
  ) {
    guard self.peripheral == nil, advertisementData[CBAdvertisementDataLocalNameKey] as? String == sensorName else {
      return
    }
    self.peripheral = peripheral
    peripheral.delegate = self
    central.stopScan()
    connect(peripheral)
  }

  private func connect(_ peripheral: CBPeripheral) { central?.connect(peripheral) }

  func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
    note("connected")
    connections += 1
    lastInCalm = nil
    peripheral.discoverServices([Self.service])
  }

  func centralManager(_ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?) {
    note("failed to connect")
    connect(peripheral)
  }

  func centralManager(
    _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
  ) {
    note("disconnected")
    subscribedAt = nil
    connect(peripheral)
  }

  func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
    note("services")
    guard let service = peripheral.services?.first else { return startOver() }
    peripheral.discoverCharacteristics([Self.value], for: service)
  }

  func peripheral(
    _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
  ) {
    note("characteristics")
    guard let value = service.characteristics?.first else { return startOver() }
    peripheral.setNotifyValue(true, for: value)
  }

  func peripheral(
    _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic, error: (any Error)?
  ) {
    note(error == nil ? "notifying" : "not notifying")
    if error == nil { subscribedAt = now() } else { startOver() }
  }

  func peripheral(_ peripheral: CBPeripheral, didModifyServices invalidatedServices: [CBService]) { startOver() }

  /// Resets the state after a fault has disturbed the discovery: the next connection tries again.
  private func startOver() {
    if let peripheral { central?.cancelPeripheralConnection(peripheral) }
  }

  func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?) {
    guard error == nil, let octets = characteristic.value, let number = Counter.decode([UInt8](octets)) else {
      altered += 1
      return
    }
    if let last {
      if number < last { problems.append("\(sensorName): \(number) after \(last) at \(now())") }
      if number == last { repeated += 1 }
    }
    if isCalm, let lastInCalm, number != lastInCalm + 1 {
      problems.append("\(sensorName): \(number) after \(lastInCalm) without a fault at \(now())")
    }
    last = max(last ?? 0, number)
    lastInCalm = isCalm ? number : nil
    lastValueAt = now()
    values += 1
  }
}
