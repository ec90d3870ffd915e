// Apple's names.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

/// The events of a `CBCentralManager`. Only the first method is required; the others have default implementations
/// that do nothing.
///
/// A method added in a subclass of a conforming class that does not implement it is never called, because Swift binds
/// methods where the conformance is declared.
public protocol CBCentralManagerDelegate: NSObjectProtocol {
  /// Called when the manager's state has changed. It is the first call, unless a state is restored before.
  func centralManagerDidUpdateState(_ central: CBCentralManager)

  /// Called with the activities that the app had in progress when the system terminated it.
  func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any])

  /// Called when an advertiser has been discovered. `RSSI` is in dBm; 127 means not available.
  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi RSSI: NSNumber)

  /// Called when the link has been established.
  func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral)

  /// Called when the link could not be established.
  func centralManager(_ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?)

  /// Called when the link has ended. The error is nil if this app cancelled the connection.
  func centralManager(
    _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?)

  /// Called when the link has ended at `timestamp`, only if the delegate does not implement the method without
  /// `timestamp`. `isReconnecting` is true if the system reconnects automatically.
  func centralManager(
    _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, timestamp: CFAbsoluteTime,
    isReconnecting: Bool, error: (any Error)?)

  /// Called when another manager's connection to `peripheral` has been established or has ended, as requested with
  /// `registerForConnectionEvents(options:)`.
  func centralManager(
    _ central: CBCentralManager, connectionEventDidOccur event: CBConnectionEvent, for peripheral: CBPeripheral)

  /// Called when the peer's authorization for the Apple Notification Center Service has changed.
  func centralManager(_ central: CBCentralManager, didUpdateANCSAuthorizationFor peripheral: CBPeripheral)
}

extension CBCentralManagerDelegate {
  public func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {}

  public func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi RSSI: NSNumber
  ) {}

  public func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {}

  public func centralManager(
    _ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?
  ) {}

  /// Reports to the manager that this delegate does not implement the method.
  public func centralManager(
    _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
  ) {
    DisconnectionProbe.methodIsMissing(in: self, manager: central)
  }

  public func centralManager(
    _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, timestamp: CFAbsoluteTime,
    isReconnecting: Bool, error: (any Error)?
  ) {}

  public func centralManager(
    _ central: CBCentralManager, connectionEventDidOccur event: CBConnectionEvent, for peripheral: CBPeripheral
  ) {}

  public func centralManager(_ central: CBCentralManager, didUpdateANCSAuthorizationFor peripheral: CBPeripheral) {}
}
