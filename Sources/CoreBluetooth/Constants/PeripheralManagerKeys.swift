// Apple's names.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

/// An `NSNumber` of a Boolean: tell the user when the radio is off at the manager's creation.
public let CBPeripheralManagerOptionShowPowerAlertKey: String = "kCBInitOptionShowPowerAlert"
/// A `String` that names the manager for state restoration.
public let CBPeripheralManagerOptionRestoreIdentifierKey: String = "kCBInitOptionRestoreIdentifier"

/// The services that were published: a `[CBMutableService]`.
public let CBPeripheralManagerRestoredStateServicesKey: String = "kCBRestoredServices"
/// What was advertised: a `[String: Any]`.
public let CBPeripheralManagerRestoredStateAdvertisementDataKey: String = "kCBRestoredAdvertisement"
