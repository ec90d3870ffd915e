import CoreBluetooth

/// Connects to a heart rate sensor.
@MainActor public final class PulseMonitor: NSObject {
  private lazy var manager = CBCentralManager(delegate: self, queue: nil)
  private var sensor: CBPeripheral?

  /// True while the sensor is connected.
  public private(set) var isConnected = false

  /// Looks for a sensor.
  public func start() { _ = manager }
}

extension PulseMonitor: @preconcurrency CBCentralManagerDelegate {
  public func centralManagerDidUpdateState(_ central: CBCentralManager) {
    guard central.state == .poweredOn else { return }
    central.scanForPeripherals(withServices: [CBUUID(string: "180D")])
  }

  public func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral,
    advertisementData: [String: Any], rssi RSSI: NSNumber
  ) {
    sensor = peripheral
    central.stopScan()
    central.connect(peripheral)
  }

  public func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
    isConnected = true
  }
}
