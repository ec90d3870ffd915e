// Apple's names.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

// Options of CBCentralManager.init

/// An `NSNumber` of a Boolean: tell the user when the radio is off at the manager's creation.
public let CBCentralManagerOptionShowPowerAlertKey: String = "kCBInitOptionShowPowerAlert"
/// A `String` that names the manager for state restoration.
public let CBCentralManagerOptionRestoreIdentifierKey: String = "kCBInitOptionRestoreIdentifier"
/// An `NSNumber` of a Boolean: the app uses devices for media. Accepted without effect.
public let CBCentralManagerOptionDeviceAccessForMedia: String = "kCBInitOptionDeviceAccessForMedia"

// Options of CBCentralManager.scanForPeripherals

/// An `NSNumber` of a Boolean, false by default: every received packet is reported.
public let CBCentralManagerScanOptionAllowDuplicatesKey: String = "kCBScanOptionAllowDuplicates"
/// A `[CBUUID]`: peripherals that solicit one of these services are wanted too.
public let CBCentralManagerScanOptionSolicitedServiceUUIDsKey: String = "kCBScanOptionSolicitedServiceUUIDs"

// Options of CBCentralManager.connect

/// An `NSNumber` of a Boolean: alert the user of the connection while the app is suspended.
public let CBConnectPeripheralOptionNotifyOnConnectionKey: String = "kCBConnectOptionNotifyOnConnection"
/// An `NSNumber` of a Boolean: alert the user of the disconnection while the app is suspended.
public let CBConnectPeripheralOptionNotifyOnDisconnectionKey: String = "kCBConnectOptionNotifyOnDisconnection"
/// An `NSNumber` of a Boolean: alert the user of notifications while the app is suspended.
public let CBConnectPeripheralOptionNotifyOnNotificationKey: String = "kCBConnectOptionNotifyOnNotification"
/// An `NSNumber` of seconds to wait before the attempt.
public let CBConnectPeripheralOptionStartDelayKey: String = "kCBConnectOptionStartDelay"
/// An `NSNumber` of a Boolean: bring up Bluetooth Classic profiles too. Accepted without effect.
public let CBConnectPeripheralOptionEnableTransportBridgingKey: String = "kCBConnectOptionEnableTransportBridging"
/// An `NSNumber` of a Boolean: the Apple Notification Center Service is needed. Accepted without effect.
public let CBConnectPeripheralOptionRequiresANCS: String = "kCBConnectOptionRequiresANCS"
/// An `NSNumber` of a Boolean: a link that drops is made again until it is cancelled.
public let CBConnectPeripheralOptionEnableAutoReconnect: String = "kCBConnectOptionEnableAutoReconnect"

// What centralManager(_:willRestoreState:) is given

/// The peripherals that were connected or connecting: a `[CBPeripheral]`.
public let CBCentralManagerRestoredStatePeripheralsKey: String = "kCBRestoredPeripherals"
/// The services that were scanned for: a `[CBUUID]`.
public let CBCentralManagerRestoredStateScanServicesKey: String = "kCBRestoredScanServices"
/// The options of the scan: a `[String: Any]`.
public let CBCentralManagerRestoredStateScanOptionsKey: String = "kCBRestoredScanOptions"
