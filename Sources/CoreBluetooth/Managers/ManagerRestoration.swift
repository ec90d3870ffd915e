import BluetoothDaemon
import BluetoothWire
import Foundation
import NIOConcurrencyHelpers

// State restoration, on the manager's queue: the first callback of a manager whose session the system has preserved.
extension CentralManagerCore {
  func restore(_ restored: RestoredCentral, _ manager: CBCentralManager) {
    let session = with { $0.session }
    let peripherals = restored.peers.map { peer in
      let peripheral = peripheral(for: peer.info)
      let handle = peer.info.handle
      _ = with { state in
        peer.maximumWriteLength == nil
          ? state.role.attempts.mayBegin(handle, []) : state.role.attempts.connected(handle)
      }
      peripheral.restore(peer, credits: session?.writeCredits(for: peer.info.handle))
      return peripheral
    }
    var state: [String: Any] = [:]
    if !peripherals.isEmpty { state[CBCentralManagerRestoredStatePeripheralsKey] = peripherals }
    if let scan = restored.scan {
      with { $0.role.isScanning = true }
      if let services = scan.services {
        state[CBCentralManagerRestoredStateScanServicesKey] = services.map { CBUUID($0) }
      }
      let options = scan.options
      if !options.isEmpty { state[CBCentralManagerRestoredStateScanOptionsKey] = options }
    }
    // A peripheral that the app does not retain in the callback is released here, which cancels its connection.
    delegate?.centralManager(manager, willRestoreState: state)
  }
}

extension PeripheralManagerCore {
  func restore(_ restored: RestoredPeripheral, _ manager: CBPeripheralManager) {
    let services = with { state in restored.services.map { state.role.database.restore($0, for: identity) } }
    for subscription in restored.subscriptions {
      guard let characteristic = with({ $0.role.database.characteristic(subscription.characteristic) }) else {
        continue
      }
      let central = central(for: subscription.central)
      characteristic.content.withLockedValue { $0.subscribedCentrals.append(central) }
    }
    var state: [String: Any] = [:]
    if !services.isEmpty { state[CBPeripheralManagerRestoredStateServicesKey] = services }
    if let advertising = restored.advertising {
      with { $0.role.advertising = .restored }
      state[CBPeripheralManagerRestoredStateAdvertisementDataKey] = advertising.dictionary
    }
    delegate?.peripheralManager(manager, willRestoreState: state)
  }
}

extension ScanRequest {
  /// The options of the scan, as the app gave them.
  fileprivate var options: [String: Any] {
    var options: [String: Any] = [:]
    if allowsDuplicates { options[CBCentralManagerScanOptionAllowDuplicatesKey] = NSNumber(value: true) }
    if !solicitedServices.isEmpty {
      options[CBCentralManagerScanOptionSolicitedServiceUUIDsKey] = solicitedServices.map { CBUUID($0) }
    }
    return options
  }
}

extension RestoredPeripheral.Advertising {
  /// The advertisement data, as the app gave them.
  fileprivate var dictionary: [String: Any] {
    var data: [String: Any] = [:]
    if let localName { data[CBAdvertisementDataLocalNameKey] = localName }
    if !services.isEmpty { data[CBAdvertisementDataServiceUUIDsKey] = services.map { CBUUID($0) } }
    return data
  }
}
