import BluetoothDaemon
import BluetoothWire
import Foundation

/// A `CentralEvent` for the app's queue. Octets are copied here, once, because the executor's buffers are only
/// borrowed.
enum CentralDelivery: Sendable {
  /// An event without octets.
  case event(CentralEvent)
  case discovered(PeerInfo, AppBox<[String: Any]>, rssi: Int8)
  case disconnected(PeerHandle, SessionError?, isReconnecting: Bool, at: CFAbsoluteTime)
  case valueRead(PeerHandle, RemoteAttributeID, Result<Data, SessionError>)
  case valueChanged(PeerHandle, RemoteAttributeID, Data)

  init(_ event: CentralEvent, adapter: (any Adapter)?) {
    switch event {
    case .discovered(let discovery):
      self = .discovered(discovery.peer, AppBox(value: discovery.advertisementData), rssi: discovery.rssi)
    case .disconnected(let peer, let error, let isReconnecting):
      self = .disconnected(
        peer, error, isReconnecting: isReconnecting, at: adapter?.absoluteTime() ?? CFAbsoluteTimeGetCurrent())
    case .valueRead(let peer, let attribute, let result):
      self = .valueRead(peer, attribute, result.map { Data($0) })
    case .valueChanged(let peer, let attribute, let value): self = .valueChanged(peer, attribute, Data(value))
    default: self = .event(event)
    }
  }

  var isStateChange: Bool {
    if case .event(.stateChanged) = self { true } else { false }
  }
}

extension Data {
  /// A copy of the octets.
  init(_ slice: ByteSlice) { self = slice.withUnsafeBytes { Data($0) } }
}

extension Discovery {
  /// The dictionary for the delegate with Apple's keys; only the connectable key is always present.
  var advertisementData: [String: Any] {
    var data: [String: Any] = [CBAdvertisementDataIsConnectable: NSNumber(value: isConnectable)]
    if let localName { data[CBAdvertisementDataLocalNameKey] = localName }
    if let txPowerLevel { data[CBAdvertisementDataTxPowerLevelKey] = NSNumber(value: txPowerLevel) }
    if !services.isEmpty { data[CBAdvertisementDataServiceUUIDsKey] = services.map { CBUUID($0) } }
    if !overflowServices.isEmpty {
      data[CBAdvertisementDataOverflowServiceUUIDsKey] = overflowServices.map { CBUUID($0) }
    }
    if !solicitedServices.isEmpty {
      data[CBAdvertisementDataSolicitedServiceUUIDsKey] = solicitedServices.map { CBUUID($0) }
    }
    if !serviceData.isEmpty {
      let pairs = serviceData.map { (CBUUID($0.0), Data($0.1)) }
      data[CBAdvertisementDataServiceDataKey] = Dictionary(pairs) { _, last in last }
    }
    if let manufacturerData { data[CBAdvertisementDataManufacturerDataKey] = Data(manufacturerData) }
    return data
  }
}
