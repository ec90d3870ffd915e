import CoreBluetooth

/// A peripheral that a scan has discovered.
public struct Discovery: Sendable {
  /// The peripheral.
  public let peripheral: Peripheral
  /// The content of its advertising packet and scan response.
  public let advertisement: Advertisement
  /// The signal strength of the packet in dBm; nil: not available.
  public let rssi: Int?
}

/// The content of an advertising packet and its scan response.
public struct Advertisement: Sendable {
  /// The advertised name, complete or shortened.
  public let localName: String?
  /// The UUIDs of the advertised services.
  public let services: [CBUUID]
  /// The UUIDs of services found in Apple's overflow area, on a best-effort basis.
  public let overflowServices: [CBUUID]
  /// The UUIDs of the services that the advertiser looks for in a central.
  public let solicitedServices: [CBUUID]
  /// The Service Data.
  public let serviceData: [CBUUID: Data]
  /// The Manufacturer Specific Data, which starts with the company identifier (little-endian).
  public let manufacturerData: Data?
  /// The advertised transmit power in dBm.
  public let txPower: Int?
  /// True if the advertiser is connectable.
  public let isConnectable: Bool

  /// Creates the content from the dictionary of Apple's API.
  init(_ data: [String: Any]) {
    localName = data[CBAdvertisementDataLocalNameKey] as? String
    services = data[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID] ?? []
    overflowServices = data[CBAdvertisementDataOverflowServiceUUIDsKey] as? [CBUUID] ?? []
    solicitedServices = data[CBAdvertisementDataSolicitedServiceUUIDsKey] as? [CBUUID] ?? []
    serviceData = data[CBAdvertisementDataServiceDataKey] as? [CBUUID: Data] ?? [:]
    manufacturerData = data[CBAdvertisementDataManufacturerDataKey] as? Data
    txPower = (data[CBAdvertisementDataTxPowerLevelKey] as? NSNumber)?.intValue
    isConnectable = (data[CBAdvertisementDataIsConnectable] as? NSNumber)?.boolValue ?? false
  }
}
