import CoreBluetooth

/// Connects to a heart rate sensor, and gives its measurements as a sequence.
@MainActor public final class PulseMonitor: NSObject {
  private lazy var manager = CBCentralManager(delegate: self, queue: nil)
  private var sensor: CBPeripheral?

  /// The measurements in beats per minute.
  public let measurements: AsyncStream<Int>
  private let continuation: AsyncStream<Int>.Continuation

  /// True while the sensor is connected.
  public private(set) var isConnected = false

  public override init() {
    (measurements, continuation) = AsyncStream.makeStream()
    super.init()
  }

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
    peripheral.delegate = self
    peripheral.discoverServices([CBUUID(string: "180D")])
  }

  public func centralManager(
    _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral,
    error: (any Error)?
  ) {
    isConnected = false
    Task {
      try await Task.sleep(for: .seconds(5))
      manager.connect(peripheral)
    }
  }
}

extension PulseMonitor: @preconcurrency CBPeripheralDelegate {
  public func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
    for service in peripheral.services ?? [] {
      peripheral.discoverCharacteristics([CBUUID(string: "2A37")], for: service)
    }
  }

  public func peripheral(
    _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService,
    error: (any Error)?
  ) {
    for characteristic in service.characteristics ?? [] {
      peripheral.setNotifyValue(true, for: characteristic)
    }
  }

  public func peripheral(
    _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic,
    error: (any Error)?
  ) {
    // The first octet has flags, the second one the heart rate.
    guard let value = characteristic.value, value.count >= 2 else { return }
    continuation.yield(Int(value[1]))
  }
}
