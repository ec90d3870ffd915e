import BluetoothLab
import CoreBluetooth
import Foundation
import Testing

@testable import BluetoothAir

/// The working copy from which these tests were compiled.
enum Repository {
  static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  static func url(_ path: String) -> URL { root.appendingPathComponent(path) }
  static func text(_ path: String) throws -> String { try String(contentsOf: url(path), encoding: .utf8) }

  static let exampleNames = ["fitness-room", "weather-station"]
  static func example(_ name: String) -> String { url("Examples/Worlds/\(name).yaml").path }
}

/// Returns the errors of a file with this text as the lines that the user reads; empty if there are none.
func complaints(_ text: String) -> [String] {
  do throws(WorldFileFailure) {
    _ = try WorldFile(text: text, named: "w")
    return []
  } catch {
    return error.description.split(separator: "\n").map(String.init)
  }
}

/// Returns a file with one device whose accessory is described by `lines`.
func peripheralFile(_ lines: String) -> String {
  "devices:\n- name: d\n  accessory:\n    kind: peripheral\n"
    + lines.split(separator: "\n").map { "    \($0)\n" }.joined()
}

/// A phone that records what it receives, and connects to the peripheral with the given name.
final class Phone: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate {
  struct Sighting {
    var time: Duration
    var name: String?
    var level: Int
    var data: [String: Any]
  }

  private let world: World
  private let wanted: String?
  private let manager: CBCentralManager
  private var undiscovered = 0
  private(set) var sightings: [Sighting] = []
  private(set) var peripheral: CBPeripheral?
  private(set) var isReady = false
  private(set) var connections = 0
  /// The values of each characteristic, with their times.
  private(set) var values: [String: [(time: Duration, octets: [UInt8])]] = [:]
  private(set) var errors: [String] = []

  init(_ device: Device, in world: World, connectsTo wanted: String? = nil) {
    (self.world, self.wanted) = (world, wanted)
    manager = CBCentralManager(delegate: nil, queue: nil, options: [CBManagerOptionAdapterKey: device])
    super.init()
    manager.delegate = self
  }

  func seen(_ name: String) -> [Sighting] { sightings.filter { $0.name == name } }
  func octets(of uuid: String) -> [[UInt8]] { (values[uuid] ?? []).map(\.octets) }

  func characteristic(_ uuid: String) -> CBCharacteristic? {
    peripheral?.services?.flatMap { $0.characteristics ?? [] }.first { $0.uuid == CBUUID(string: uuid) }
  }

  func subscribe(_ uuid: String, _ isOn: Bool = true) {
    if let characteristic = characteristic(uuid) { peripheral?.setNotifyValue(isOn, for: characteristic) }
  }

  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    guard central.state == .poweredOn else { return }
    central.scanForPeripherals(withServices: nil, options: [CBCentralManagerScanOptionAllowDuplicatesKey: true])
  }

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi: NSNumber
  ) {
    sightings.append(
      Sighting(
        time: world.now, name: advertisementData[CBAdvertisementDataLocalNameKey] as? String ?? peripheral.name,
        level: rssi.intValue, data: advertisementData))
    guard let wanted, self.peripheral == nil, sightings.last?.name == wanted else { return }
    self.peripheral = peripheral
    peripheral.delegate = self
    central.connect(peripheral)
  }

  func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
    connections += 1
    peripheral.discoverServices(nil)
  }

  func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
    undiscovered = peripheral.services?.count ?? 0
    for service in peripheral.services ?? [] { peripheral.discoverCharacteristics(nil, for: service) }
  }

  func peripheral(
    _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
  ) {
    undiscovered -= 1
    isReady = undiscovered == 0
  }

  func peripheral(
    _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
  ) {
    if let error { return errors.append("read: \((error as NSError).code)") }
    values[characteristic.uuid.uuidString, default: []].append((world.now, Array(characteristic.value ?? Data())))
  }

  func peripheral(
    _ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic, error: (any Error)?
  ) {
    errors.append("write: \(error.map { "\(($0 as NSError).code)" } ?? "done")")
  }
}
