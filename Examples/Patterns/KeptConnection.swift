import CoreBluetooth

/// Keeps a connection request for a device that is mostly asleep, such as a remote control.
///
/// `connect` has no time limit: the request waits for hours, and the link is there as soon as the device advertises,
/// without a scan by the app. The request is made again when Bluetooth is on again. Use it on the manager's queue, as the
/// delegate of the manager.
final class KeptConnection: NSObject, CBCentralManagerDelegate {
  private let central: CBCentralManager

  /// The peripheral: another object after a state of the manager below `poweredOff`.
  private(set) var peripheral: CBPeripheral
  /// Called for each link.
  var onConnect: () -> Void = {}

  /// Creates the request for a peripheral.
  init(_ peripheral: CBPeripheral, of central: CBCentralManager) {
    (self.peripheral, self.central) = (peripheral, central)
  }

  /// Makes the first request.
  func start() { central.connect(peripheral) }

  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    guard central.state == .poweredOn else { return }
    // A state below `poweredOff` has made the object invalid: only a retrieved one can be connected.
    peripheral = central.retrievePeripherals(withIdentifiers: [peripheral.identifier]).first ?? peripheral
    central.connect(peripheral)
  }

  func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) { onConnect() }

  func centralManager(_ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?) {
    central.connect(peripheral)
  }

  func centralManager(
    _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
  ) {
    central.connect(peripheral)
  }
}
