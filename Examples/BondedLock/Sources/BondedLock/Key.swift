import CoreBluetooth

/// The app on a phone: connects to the lock, writes a command, and disconnects. Use the key on the main queue.
public final class Key: NSObject {
  /// The outcome of a command, as the user needs it.
  public enum Outcome: Equatable, Sendable {
    /// The lock has accepted the command.
    case done
    /// A user or a policy has refused to pair.
    case refused
    /// The lock has lost its bond with this phone. The user must forget the lock in the phone's settings, then pair.
    case bondLost
    /// Something else went wrong.
    case failed
  }

  private lazy var central = CBCentralManager(delegate: self, queue: .main)
  private var lock: CBPeripheral?
  private var command = Lock.Command.lock
  private var completion: ((Outcome) -> Void)?
  // The outcome of a link that the app itself ends.
  private var outcome = Outcome.failed

  /// The identifier of the lock, once it has been found.
  public var lockIdentifier: UUID? { lock?.identifier }

  /// Sends a command to the lock.
  ///
  /// - Parameter completion: called once, when the link has ended.
  public func send(_ command: Lock.Command, completion: @escaping (Outcome) -> Void) {
    (self.command, self.completion) = (command, completion)
    proceed()
  }

  private func proceed() {
    guard central.state == .poweredOn, completion != nil else { return }
    // After a reset of Bluetooth, the former object is invalid, and only a retrieved one can be connected.
    if let lock, let known = central.retrievePeripherals(withIdentifiers: [lock.identifier]).first {
      connect(known)
    } else {
      central.scanForPeripherals(withServices: [Lock.service])
    }
  }

  private func connect(_ peripheral: CBPeripheral) {
    lock = peripheral
    peripheral.delegate = self
    central.connect(peripheral)
  }

  private func end(_ outcome: Outcome) {
    guard let completion else { return }
    self.completion = nil
    completion(outcome)
  }

  /// Ends the link. `didDisconnect` then calls the completion.
  private func disconnect(_ error: (any Error)?, otherwise: Outcome = .failed) {
    outcome = error.map(Self.outcome) ?? otherwise
    if let lock { central.cancelPeripheralConnection(lock) }
  }

  private static func outcome(of error: any Error) -> Outcome {
    switch error {
    case let error as CBError where error.code == .peerRemovedPairingInformation: .bondLost
    case let error as CBATTError
    where [.insufficientAuthentication, .insufficientEncryption].contains(error.code): .refused
    default: .failed
    }
  }
}

extension Key: CBCentralManagerDelegate {
  public func centralManagerDidUpdateState(_ central: CBCentralManager) { proceed() }

  public func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any], rssi: NSNumber
  ) {
    central.stopScan()
    connect(peripheral)
  }

  public func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
    outcome = .failed
    peripheral.discoverServices([Lock.service])
  }

  public func centralManager(
    _ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?
  ) {
    end(error.map(Self.outcome) ?? .failed)
  }

  public func centralManager(
    _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
  ) {
    end(error.map(Self.outcome) ?? outcome)
  }
}

extension Key: CBPeripheralDelegate {
  // Any of these callbacks can be the one that tells that the bond is lost: encryption begins with the link.
  public func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
    guard let service = peripheral.services?.first else { return disconnect(error) }
    peripheral.discoverCharacteristics([Lock.command], for: service)
  }

  public func peripheral(
    _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
  ) {
    guard let characteristic = service.characteristics?.first else { return disconnect(error) }
    // The first write makes the two devices pair. The app need not know whether they have done so.
    peripheral.writeValue(Data([command.rawValue]), for: characteristic, type: .withResponse)
  }

  public func peripheral(
    _ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic, error: (any Error)?
  ) {
    disconnect(error, otherwise: .done)
  }
}
