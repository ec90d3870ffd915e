// Apple's names.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

/// The key for whether to alert the user if Bluetooth is off when the manager is created: a Boolean `NSNumber`.
public let CBPeripheralManagerOptionShowPowerAlertKey: String = "kCBInitOptionShowPowerAlert"
/// The key for the identifier of the manager for state restoration: a `String`.
public let CBPeripheralManagerOptionRestoreIdentifierKey: String = "kCBInitOptionRestoreIdentifier"

/// The key for the published services: a `[CBMutableService]`.
public let CBPeripheralManagerRestoredStateServicesKey: String = "kCBRestoredServices"
/// The key for the advertisement data: a `[String: Any]`.
public let CBPeripheralManagerRestoredStateAdvertisementDataKey: String = "kCBRestoredAdvertisement"
