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
