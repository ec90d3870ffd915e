// Apple's names.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

/// What a `CBCentralManager` tells. Only the first method must be there; the others have bodies that do nothing.
///
/// A method that a subclass adds while its base class conforms without it is never called: Swift binds it where the
/// conformance is declared.
public protocol CBCentralManagerDelegate: NSObjectProtocol {
  /// The manager's state changed; the first call, unless a state is restored before.
  func centralManagerDidUpdateState(_ central: CBCentralManager)

  /// What the app had under way when it was ended by the system.
  func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any])

  /// An advertiser was found. `RSSI` in dBm; 127: not available.
  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi RSSI: NSNumber)

  /// The link is there.
  func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral)

  /// The link could not be made.
  func centralManager(_ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?)

  /// The link is gone; no error: because this app cancelled it.
  func centralManager(
    _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?)

  /// The link is gone since `timestamp`; called only if the method without it is missing. `isReconnecting`: the system
  /// makes it again by itself.
  func centralManager(
    _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, timestamp: CFAbsoluteTime,
    isReconnecting: Bool, error: (any Error)?)

  /// A connection of another app, as asked for with `registerForConnectionEvents(options:)`.
  func centralManager(
    _ central: CBCentralManager, connectionEventDidOccur event: CBConnectionEvent, for peripheral: CBPeripheral)

  /// The peer's right to Apple's notifications changed.
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

  /// Tells the manager that this delegate does not have the method.
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
