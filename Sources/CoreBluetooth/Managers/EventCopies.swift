import BluetoothDaemon
import BluetoothWire
import Foundation

/// The parts of a `CentralEvent` that must be read when it arrives: its octets, because the executor reuses its
/// buffers; its time; and its channel, which closes unless it is taken.
struct CentralEventCopies: Sendable {
  /// The octets of a value that was read or has changed.
  var octets = Data()
  /// The advertisement data of a discovery.
  var advertisement: AppBox<[String: Any]>?
  /// The time of a disconnection.
  var time: CFAbsoluteTime = 0
  /// The channel that was opened.
  var channel: OpenChannel?
}

/// The parts of a `PeripheralEvent` that must be read when it arrives; see `CentralEventCopies`.
struct PeripheralEventCopies: Sendable {
  /// One part of a write.
  struct WrittenPart: Sendable {
    var characteristic: LocalAttributeID
    var offset: Int
    var value: Data
  }

  var parts: [WrittenPart] = []
  /// The channel that a central has opened.
  var channel: OpenChannel?
}

extension Data {
  /// A copy of the octets.
  init(_ slice: ByteSlice) { self = slice.withUnsafeBytes { Data($0) } }
}

extension DiscoveryInfo {
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
