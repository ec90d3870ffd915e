// Apple's names.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

// Options of CBCentralManager.init

/// The key for whether to alert the user if Bluetooth is off when the manager is created: a Boolean `NSNumber`.
public let CBCentralManagerOptionShowPowerAlertKey: String = "kCBInitOptionShowPowerAlert"
/// The key for the identifier of the manager for state restoration: a `String`.
public let CBCentralManagerOptionRestoreIdentifierKey: String = "kCBInitOptionRestoreIdentifier"
/// The key for whether the app uses devices for media: a Boolean `NSNumber`. It has no effect; if it is true,
/// the log says so.
public let CBCentralManagerOptionDeviceAccessForMedia: String = "kCBInitOptionDeviceAccessForMedia"

// Options of CBCentralManager.scanForPeripherals

/// The key for whether every received advertising packet is reported: a Boolean `NSNumber`, false by default.
public let CBCentralManagerScanOptionAllowDuplicatesKey: String = "kCBScanOptionAllowDuplicates"
/// The key for solicited services: a `[CBUUID]`. Peripherals that solicit one of these services are reported as well.
public let CBCentralManagerScanOptionSolicitedServiceUUIDsKey: String = "kCBScanOptionSolicitedServiceUUIDs"

// Options of CBCentralManager.connect

/// The key for whether to alert the user of the connection while the app is suspended: a Boolean `NSNumber`.
public let CBConnectPeripheralOptionNotifyOnConnectionKey: String = "kCBConnectOptionNotifyOnConnection"
/// The key for whether to alert the user of the disconnection while the app is suspended: a Boolean `NSNumber`.
public let CBConnectPeripheralOptionNotifyOnDisconnectionKey: String = "kCBConnectOptionNotifyOnDisconnection"
/// The key for whether to alert the user of notifications while the app is suspended: a Boolean `NSNumber`.
public let CBConnectPeripheralOptionNotifyOnNotificationKey: String = "kCBConnectOptionNotifyOnNotification"
/// The key for the delay before the connection attempt: an `NSNumber` of seconds.
public let CBConnectPeripheralOptionStartDelayKey: String = "kCBConnectOptionStartDelay"
/// The key for whether to connect Bluetooth Classic profiles as well: a Boolean `NSNumber`. It has no effect; if it is
/// true, the log says so.
public let CBConnectPeripheralOptionEnableTransportBridgingKey: String = "kCBConnectOptionEnableTransportBridging"
/// The key for whether the Apple Notification Center Service is required: a Boolean `NSNumber`. If it is true and the
/// system offers the service, the system pairs with the peripheral and asks the user whether the peripheral may get
/// notifications. `CBPeripheral.ancsAuthorized` has the answer; the connection does not depend on it.
public let CBConnectPeripheralOptionRequiresANCS: String = "kCBConnectOptionRequiresANCS"
/// The key for whether to reconnect automatically after a link loss, until the connection is cancelled: a Boolean
/// `NSNumber`.
public let CBConnectPeripheralOptionEnableAutoReconnect: String = "kCBConnectOptionEnableAutoReconnect"

// Keys of the dictionary in centralManager(_:willRestoreState:)

/// The key for the peripherals that were connected or connecting: a `[CBPeripheral]`.
public let CBCentralManagerRestoredStatePeripheralsKey: String = "kCBRestoredPeripherals"
/// The key for the services that were scanned for: a `[CBUUID]`.
public let CBCentralManagerRestoredStateScanServicesKey: String = "kCBRestoredScanServices"
/// The key for the options of the scan: a `[String: Any]`.
public let CBCentralManagerRestoredStateScanOptionsKey: String = "kCBRestoredScanOptions"
