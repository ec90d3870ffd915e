// The types of messages. The high octet is the group. Groups 0x07 to 0x0F are reserved.

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
  case stopScan, connect, cancelConnection, registerForConnectionEvents, readRSSI, observeLinks, changeLink
  case discoverServices, discoverIncludedServices, discoverCharacteristics, discoverDescriptors
  case read, write, writeWithoutResponse, signedWriteWithoutResponse, setNotify, openChannel, barrier, askForPower
  case requestAlerts, synchronize, endSynchronization, requireNotifications
}

/// The commands of peripheral managers.
enum PeripheralCommandType: UInt16, CaseIterable {
  case startAdvertising = 0x0210
  case advertise, stopAdvertising, addService, removeService, removeAllServices, respond, update
  case setConnectionLatency, publishChannel, unpublishChannel, barrier, askForPower
  case startSet, stopSet, observeLinks, changeLink, disconnect
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
  case controlApp, setPermission, setPower, listAlerts, explain, resetIdentifiers, setSharing, monitor
}

/// The reports about apps: to the app, or to the command line.
enum AppReportType: UInt16, CaseIterable {
  case stateChanged = 0x1300
  /// The system ends the app.
  case stop = 0x1301
  /// To the command line.
  case apps = 0x1310
  case done, alerts, links, packet
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
  case connected, disconnected, access, features, removed
}

/// The events for central managers.
enum CentralEventType: UInt16, CaseIterable {
  case stateChanged = 0x1110
  case discovered, packetReceived, connected, connectionFailed, disconnected, connectionEvent
  case maximumWriteLengthChanged, nameChanged, linkChanged, linkEnded, linkRequestEnded, rssiRead
  case servicesDiscovered, includedServicesDiscovered, characteristicsDiscovered, descriptorsDiscovered
  case valueRead, valueChanged, written, notifyStateChanged, readyToWriteWithoutResponse, channelOpened
  case servicesModified, barrierReached, restored, valueLimitReached
  case synchronization, notificationSharingChanged
}

/// The events for peripheral managers.
enum PeripheralEventType: UInt16, CaseIterable {
  case stateChanged = 0x1210
  case advertisingStarted, serviceAdded, subscribed, unsubscribed, maximumUpdateLengthChanged
  case readRequested, writeRequested, centralDisconnected, channelPublished, channelUnpublished, channelOpened
  case readyToUpdate, barrierReached, restored, advertisingSetStarted, advertisingSetEnded
  case linkChanged, linkEnded, linkRequestEnded, indicationConfirmed
}
