import CoreBluetooth

/// Shows the heart rate of the first sensor that it finds, and connects again 5 s after each loss of the link.
///
/// The code is that of an iPhone app: it knows nothing of worlds and of virtual time.
@MainActor public final class HeartRateMonitor: NSObject {
  /// The states that the user sees.
  public enum State: Equatable, Sendable {
    case bluetoothOff, searching, connecting, connected, waiting
  }

  /// The present state.
  public private(set) var state = State.bluetoothOff
  /// The latest heart rate; nil while there is none.
  public private(set) var beatsPerMinute: Int?

  private let service = CBUUID(string: "180D")
  private let measurement = CBUUID(string: "2A37")
  private let pause = Duration.seconds(5)
  private lazy var central = CBCentralManager(delegate: self, queue: .main)
  // Without a strong reference, the connection would end.
  private var sensor: CBPeripheral?

  /// Begins to search as soon as Bluetooth is on.
  public func start() { _ = central }

  private func connectAgain() {
    state = .waiting
    beatsPerMinute = nil
    Task {
      // The app's own pause. In the tests it follows the time of the world.
      try await Task.sleep(for: pause)
      // Bluetooth may have gone off and on meanwhile: the app then searches.
      guard let sensor, state == .waiting else { return }
      state = .connecting
      central.connect(sensor)
    }
  }
}

extension HeartRateMonitor: @preconcurrency CBCentralManagerDelegate {
  public func centralManagerDidUpdateState(_ central: CBCentralManager) {
    guard central.state == .poweredOn else {
      // The link has ended without `didDisconnectPeripheral`.
      state = .bluetoothOff
      beatsPerMinute = nil
      return
    }
    state = .searching
    central.scanForPeripherals(withServices: [service])
  }

  public func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any], rssi: NSNumber
  ) {
    central.stopScan()
    sensor = peripheral
    peripheral.delegate = self
    state = .connecting
    central.connect(peripheral)
  }

  public func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
    state = .connected
    peripheral.discoverServices([service])
  }

  public func centralManager(
    _ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?
  ) {
    connectAgain()
  }

  public func centralManager(
    _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
  ) {
    connectAgain()
  }
}

extension HeartRateMonitor: @preconcurrency CBPeripheralDelegate {
  public func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
    for service in peripheral.services ?? [] { peripheral.discoverCharacteristics([measurement], for: service) }
  }

  public func peripheral(
    _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
  ) {
    for characteristic in service.characteristics ?? [] { peripheral.setNotifyValue(true, for: characteristic) }
  }

  public func peripheral(
    _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
  ) {
    // The first octet has flags; its lowest bit tells whether the heart rate has two octets.
    guard let value = characteristic.value, value.count >= 2 else { return }
    let octets = [UInt8](value)
    beatsPerMinute = octets[0] & 1 == 0 ? Int(octets[1]) : octets.count < 3 ? nil : Int(octets[1]) | Int(octets[2]) << 8
  }
}
