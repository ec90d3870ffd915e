// The types of messages. The high octet is the group. Groups 0x07 to 0x0F are reserved. A new message has a number of its
// own, and a published number never changes: `MessageNumberTests`.

/// The messages of the connection itself, in both directions.
enum ConnectionMessageType: UInt16, CaseIterable {
  /// From the client, first: the versions that it can speak, and what it wants.
  case hello = 0x0001
  /// From the server, first: the version that it has chosen.
  case welcome = 0x0002
  /// From the server, before it closes the connection: the reason.
  case refused = 0x0003
  /// From either side: it does not know a type.
  case unknownMessage = 0x0004
  /// From the client: a device that it knows from before, which becomes a peer.
  case introduce = 0x0005
  /// From the client: who is connected?
  case listClients = 0x0006
  /// From the server: the answer.
  case clients = 0x0007
}

/// The beginning and the end of sessions.
enum SessionMessageType: UInt16, CaseIterable {
  case openCentral = 0x0100
  case closeCentral = 0x0101
  case openPeripheral = 0x0200
  case closePeripheral = 0x0201
}

/// The commands of central managers.
enum CentralCommandType: UInt16, CaseIterable {
  case scan = 0x0110
  case stopScan = 0x0111
  case connect = 0x0112
  case cancelConnection = 0x0113
  case registerForConnectionEvents = 0x0114
  case readRSSI = 0x0115
  case observeLinks = 0x0116
  case changeLink = 0x0117
  case discoverServices = 0x0118
  case discoverIncludedServices = 0x0119
  case discoverCharacteristics = 0x011A
  case discoverDescriptors = 0x011B
  case read = 0x011C
  case write = 0x011D
  case writeWithoutResponse = 0x011E
  case signedWriteWithoutResponse = 0x011F
  case setNotify = 0x0120
  case openChannel = 0x0121
  case barrier = 0x0122
  case askForPower = 0x0123
  case requestAlerts = 0x0124
  case synchronize = 0x0125
  case endSynchronization = 0x0126
  case requireNotifications = 0x0127
}

/// The commands of peripheral managers.
enum PeripheralCommandType: UInt16, CaseIterable {
  case startAdvertising = 0x0210
  case advertise = 0x0211
  case stopAdvertising = 0x0212
  case addService = 0x0213
  case removeService = 0x0214
  case removeAllServices = 0x0215
  case respond = 0x0216
  case update = 0x0217
  case setConnectionLatency = 0x0218
  case publishChannel = 0x0219
  case unpublishChannel = 0x021A
  case barrier = 0x021B
  case askForPower = 0x021C
  case startSet = 0x021D
  case stopSet = 0x021E
  case observeLinks = 0x021F
  case changeLink = 0x0220
  case disconnect = 0x0221
  /// A service whose attributes have fixed handles.
  case addServiceAt = 0x0222
}

/// The requests of apps and of the command line that belong to no manager.
enum AppRequestType: UInt16, CaseIterable {
  /// From an app that has been connected before: it goes on without what it had.
  case returned = 0x0300
  /// From an app: the restore identifier of a session that it is about to open.
  case restoreIdentifier = 0x0301
  /// From an app that has been connected before: it was in the background or suspended.
  case wasInBackground = 0x0302
  /// From the command line.
  case listApps = 0x0310
  case controlApp = 0x0311
  case setPermission = 0x0312
  case setPower = 0x0313
  case listAlerts = 0x0314
  case explain = 0x0315
  case resetIdentifiers = 0x0316
  case setSharing = 0x0317
  case monitor = 0x0318
}

/// The reports about apps: to the app, or to the command line.
enum AppReportType: UInt16, CaseIterable {
  case stateChanged = 0x1300
  /// The system ends the app.
  case stop = 0x1301
  /// To the command line.
  case apps = 0x1310
  case done = 0x1311
  case alerts = 0x1312
  case links = 0x1313
  case packet = 0x1314
}

/// The octets of L2CAP channels, in both directions.
enum ChannelMessageType: UInt16, CaseIterable {
  case octets = 0x0400
  /// From the client: it has read frames of octets. From the server: the daemon has taken octets.
  case credit = 0x0401
  /// From the client: the app has closed the channel. From the server: the channel has ended, also after such a close.
  case end = 0x0402
  /// From the server, before `end`: the peer has closed the channel, and octets that the daemon had taken are lost.
  case loss = 0x0403
}

/// The counts that the two ends of a session keep in step.
enum CountMessageType: UInt16, CaseIterable {
  /// From the client: the app has handled events.
  case eventsHandled = 0x0500
  /// From the server: writes without response have been sent.
  case writeCredits = 0x0501
  /// From the server: updates of subscribed values have been sent.
  case updateCredits = 0x0502
}

/// The changes of the directory of peers, from the server.
enum DirectoryMessageType: UInt16, CaseIterable {
  case peer = 0x0600
  case connected = 0x0601
  case disconnected = 0x0602
  case access = 0x0603
  case features = 0x0604
  case removed = 0x0605
}

/// The events for central managers.
enum CentralEventType: UInt16, CaseIterable {
  case stateChanged = 0x1110
  case discovered = 0x1111
  case packetReceived = 0x1112
  case connected = 0x1113
  case connectionFailed = 0x1114
  case disconnected = 0x1115
  case connectionEvent = 0x1116
  case maximumWriteLengthChanged = 0x1117
  case nameChanged = 0x1118
  case linkChanged = 0x1119
  case linkEnded = 0x111A
  case linkRequestEnded = 0x111B
  case rssiRead = 0x111C
  case servicesDiscovered = 0x111D
  case includedServicesDiscovered = 0x111E
  case characteristicsDiscovered = 0x111F
  case descriptorsDiscovered = 0x1120
  case valueRead = 0x1121
  case valueChanged = 0x1122
  case written = 0x1123
  case notifyStateChanged = 0x1124
  case readyToWriteWithoutResponse = 0x1125
  case channelOpened = 0x1126
  case servicesModified = 0x1127
  case barrierReached = 0x1128
  case restored = 0x1129
  case valueLimitReached = 0x112A
  case synchronization = 0x112B
  case notificationSharingChanged = 0x112C
}

/// The events for peripheral managers.
enum PeripheralEventType: UInt16, CaseIterable {
  case stateChanged = 0x1210
  case advertisingStarted = 0x1211
  case serviceAdded = 0x1212
  case subscribed = 0x1213
  case unsubscribed = 0x1214
  case maximumUpdateLengthChanged = 0x1215
  case readRequested = 0x1216
  case writeRequested = 0x1217
  case centralDisconnected = 0x1218
  case channelPublished = 0x1219
  case channelUnpublished = 0x121A
  case channelOpened = 0x121B
  case readyToUpdate = 0x121C
  case barrierReached = 0x121D
  case restored = 0x121E
  case advertisingSetStarted = 0x121F
  case advertisingSetEnded = 0x1220
  case linkChanged = 0x1221
  case linkEnded = 0x1222
  case linkRequestEnded = 0x1223
  case indicationConfirmed = 0x1224
}
