// Apple's names.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

/// The advertised name, complete or shortened: a `String`.
public let CBAdvertisementDataLocalNameKey: String = "kCBAdvDataLocalName"
/// The advertised transmit power in dBm: an `NSNumber`.
public let CBAdvertisementDataTxPowerLevelKey: String = "kCBAdvDataTxPowerLevel"
/// The advertised services: a `[CBUUID]`.
public let CBAdvertisementDataServiceUUIDsKey: String = "kCBAdvDataServiceUUIDs"
/// Data of services: a `[CBUUID: Data]`.
public let CBAdvertisementDataServiceDataKey: String = "kCBAdvDataServiceData"
/// The manufacturer's data, with the company identifier in front (little-endian): a `Data`.
public let CBAdvertisementDataManufacturerDataKey: String = "kCBAdvDataManufacturerData"
/// Services found in Apple's overflow area, at best effort: a `[CBUUID]`.
public let CBAdvertisementDataOverflowServiceUUIDsKey: String = "kCBAdvDataHashedServiceUUIDs"
/// Whether the advertiser accepts connections: an `NSNumber` of a Boolean. Always there.
public let CBAdvertisementDataIsConnectable: String = "kCBAdvDataIsConnectable"
/// Services that the advertiser looks for in a central: a `[CBUUID]`.
public let CBAdvertisementDataSolicitedServiceUUIDsKey: String = "kCBAdvDataSolicitedServiceUUIDs"
