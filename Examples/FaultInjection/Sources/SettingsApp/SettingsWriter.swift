import CoreBluetooth

/// Writes a setting to a device, reads it back, and begins again when the link is lost. Use it on the main queue.
public final class SettingsWriter: NSObject {
  /// The UUID of the device's service.
  public static let service = CBUUID(string: "5E770001-2C0B-4F0C-A7F2-6B8D11D3A6F0")
  /// The UUID of the characteristic with the setting.
  public static let setting = CBUUID(string: "5E770002-2C0B-4F0C-A7F2-6B8D11D3A6F0")

  /// The number of connections that were tried.
  public private(set) var attempts = 0
  /// True when the device has the setting.
  public private(set) var isDone = false
  /// The last error; nil if none has occurred.
  public private(set) var lastError: (any Error)?

  private let value: Data
  private let maximumAttempts: Int
  private lazy var central = CBCentralManager(delegate: self, queue: .main)
  private var device: CBPeripheral?

  /// Creates a writer of a value.
  public init(_ value: Data, maximumAttempts: Int = 5) {
    (self.value, self.maximumAttempts) = (value, maximumAttempts)
  }

  /// Begins as soon as Bluetooth is on.
  public func start() { _ = central }

  /// True if the writer has given up.
  public var hasFailed: Bool { !isDone && attempts == maximumAttempts && device?.state == .disconnected }

  private func connect() {
    guard let device, !isDone, attempts < maximumAttempts else { return }
    attempts += 1
    central.connect(device)
  }

  /// Ends the link, which begins the next attempt.
  private func giveUpLink(_ error: (any Error)?) {
    lastError = error ?? lastError
    if let device { central.cancelPeripheralConnection(device) }
  }
}

extension SettingsWriter: CBCentralManagerDelegate {
  public func centralManagerDidUpdateState(_ central: CBCentralManager) {
    if central.state == .poweredOn { central.scanForPeripherals(withServices: [Self.service]) }
  }

  public func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any], rssi: NSNumber
  ) {
    central.stopScan()
    device = peripheral
    peripheral.delegate = self
    connect()
  }

  public func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
    peripheral.discoverServices([Self.service])
  }

  public func centralManager(
    _ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?
  ) {
    lastError = error ?? lastError
    connect()
  }

  public func centralManager(
    _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
  ) {
    lastError = error ?? lastError
    connect()
  }
}

extension SettingsWriter: CBPeripheralDelegate {
  public func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
    guard let service = peripheral.services?.first else { return giveUpLink(error) }
    peripheral.discoverCharacteristics([Self.setting], for: service)
  }

  public func peripheral(
    _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
  ) {
    guard let setting = service.characteristics?.first else { return giveUpLink(error) }
    peripheral.writeValue(value, for: setting, type: .withResponse)
  }

  public func peripheral(
    _ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic, error: (any Error)?
  ) {
    if let error { return giveUpLink(error) }
    peripheral.readValue(for: characteristic)
  }

  public func peripheral(
    _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
  ) {
    isDone = characteristic.value == value
    giveUpLink(error)
  }
}
