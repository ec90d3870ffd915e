import BluetoothDaemon
import BluetoothWire
import Foundation
import NIOConcurrencyHelpers

// State restoration, on the manager's queue: the first callback of a manager whose session the system has preserved.
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

extension RestoredPeripheral.Advertising {
  /// The advertisement data, as the app gave them.
  fileprivate var dictionary: [String: Any] {
    var data: [String: Any] = [:]
    if let localName { data[CBAdvertisementDataLocalNameKey] = localName }
    if !services.isEmpty { data[CBAdvertisementDataServiceUUIDsKey] = services.map { CBUUID($0) } }
    return data
  }
}
