// Apple's names.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

/// The key for the advertised name, complete or shortened: a `String`.
public let CBAdvertisementDataLocalNameKey: String = "kCBAdvDataLocalName"
/// The key for the advertised transmit power in dBm: an `NSNumber`.
public let CBAdvertisementDataTxPowerLevelKey: String = "kCBAdvDataTxPowerLevel"
/// The key for the UUIDs of the advertised services: a `[CBUUID]`.
public let CBAdvertisementDataServiceUUIDsKey: String = "kCBAdvDataServiceUUIDs"
/// The key for the advertised Service Data: a `[CBUUID: Data]`.
public let CBAdvertisementDataServiceDataKey: String = "kCBAdvDataServiceData"
/// The key for the Manufacturer Specific Data, which starts with the company identifier (little-endian): a `Data`.
public let CBAdvertisementDataManufacturerDataKey: String = "kCBAdvDataManufacturerData"
/// The key for the UUIDs of services found in Apple's overflow area, on a best-effort basis: a `[CBUUID]`.
public let CBAdvertisementDataOverflowServiceUUIDsKey: String = "kCBAdvDataHashedServiceUUIDs"
/// The key for whether the advertiser is connectable: a Boolean `NSNumber`. Always present.
public let CBAdvertisementDataIsConnectable: String = "kCBAdvDataIsConnectable"
/// The key for the UUIDs of solicited services, which the advertiser looks for in a central: a `[CBUUID]`.
public let CBAdvertisementDataSolicitedServiceUUIDsKey: String = "kCBAdvDataSolicitedServiceUUIDs"
