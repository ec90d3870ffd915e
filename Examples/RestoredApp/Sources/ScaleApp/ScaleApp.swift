import CoreBluetooth

/// Receives the weight of a scale, in the background, too, and after the system has terminated the app.
public final class ScaleApp: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate {
  public static let service = CBUUID(string: "181D")
  public static let weight = CBUUID(string: "2A9D")

  private var manager: CBCentralManager!
  private var scale: CBPeripheral?
  /// The values received by this launch of the app.
  public private(set) var weights: [Data] = []
  /// True if this launch goes on with the connection of an earlier one.
  public private(set) var isRestored = false

  public override init() {
    super.init()
    manager = CBCentralManager(
      delegate: self, queue: nil, options: [CBCentralManagerOptionRestoreIdentifierKey: "scale"])
  }

  public func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
    isRestored = true
    scale = (dict[CBCentralManagerRestoredStatePeripheralsKey] as? [CBPeripheral])?.first
    scale?.delegate = self
  }

  public func centralManagerDidUpdateState(_ central: CBCentralManager) {
    guard central.state == .poweredOn else { return }
    // A restored scale may be connected already. The former launch may have ended before it subscribed.
    if let scale, scale.state != .disconnected {
      if scale.state == .connected, !isSubscribed(to: scale) { scale.discoverServices([Self.service]) }
      return
    }
    // While Bluetooth was off, the link ended without `didDisconnectPeripheral`. After a reset, the former object is
    // invalid, and only a retrieved one can be connected.
    if let scale, let known = central.retrievePeripherals(withIdentifiers: [scale.identifier]).first {
      connect(known)
    } else {
      central.scanForPeripherals(withServices: [Self.service])
    }
  }

  private func isSubscribed(to peripheral: CBPeripheral) -> Bool {
    let characteristics = (peripheral.services ?? []).flatMap { $0.characteristics ?? [] }
    return characteristics.contains { $0.isNotifying }
  }

  private func connect(_ peripheral: CBPeripheral) {
    scale = peripheral
    peripheral.delegate = self
    manager.connect(peripheral)
  }

  public func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi: NSNumber
  ) {
    central.stopScan()
    connect(peripheral)
  }

  public func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
    peripheral.discoverServices([Self.service])
  }

  public func centralManager(
    _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
  ) {
    connect(peripheral)
  }

  public func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
    guard let service = peripheral.services?.first else { return }
    peripheral.discoverCharacteristics([Self.weight], for: service)
  }

  public func peripheral(
    _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
  ) {
    guard let weight = service.characteristics?.first else { return }
    peripheral.setNotifyValue(true, for: weight)
  }

  public func peripheral(
    _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
  ) {
    if let value = characteristic.value { weights.append(value) }
  }
}
