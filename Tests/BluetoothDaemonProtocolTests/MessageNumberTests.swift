import Testing

@testable import BluetoothDaemonProtocol

/// The numbers of the messages: a client of another version of this package relies on them.
@Suite("Message numbers")
struct MessageNumberTests {
  @Test("Every message, and every case of an enumeration, keeps its number")
  func numbers() { #expect(MessagePage().numbers == published) }

  // A line is added for a new message, and no line is ever changed.
  private let published = """
    From the client: connection, sessions, channels
      0001 hello
      0004 unknownMessage
      0005 introduce
      0006 listClients
      0100 openCentral
      0101 closeCentral
      0200 openPeripheral
      0201 closePeripheral
      0400 channelOctets
      0401 channelRead
      0402 closeChannel
      0500 eventsHandled
    From the client: commands of central managers
      0110 scan
      0111 stopScan
      0112 connect
      0113 cancelConnection
      0114 registerForConnectionEvents
      0115 readRSSI
      0116 observeLinks
      0117 changeLink
      0118 discoverServices
      0119 discoverIncludedServices
      011A discoverCharacteristics
      011B discoverDescriptors
      011C read
      011D write
      011E writeWithoutResponse
      011F signedWriteWithoutResponse
      0120 setNotify
      0121 openChannel
      0122 barrier
      0123 askForPower
      0124 requestAlerts
      0125 synchronize
      0126 endSynchronization
      0127 requireNotifications
    From the client: commands of peripheral managers
      0210 startAdvertising
      0211 advertise
      0212 stopAdvertising
      0213 addService
      0214 removeService
      0215 removeAllServices
      0216 respond
      0217 update
      0218 setConnectionLatency
      0219 publishChannel
      021A unpublishChannel
      021B barrier
      021C askForPower
      021D startSet
      021E stopSet
      021F observeLinks
      0220 changeLink
      0221 disconnect
      0222 addServiceAt
    From the client: apps, and the command line
      0300 returned
      0301 restoreIdentifier
      0302 wasInBackground
      0310 listApps
      0311 controlApp
      0312 setPermission
      0313 setPower
      0314 listAlerts
      0315 explain
      0316 resetIdentifiers
      0317 setSharing
      0318 monitor
    From the server: connection, channels, credits
      0002 welcome
      0003 refused
      0004 unknownMessage
      0007 clients
      0400 channelOctets
      0401 channelTaken
      0402 channelEnded
      0403 channelCut
      0501 writeCredits
      0502 updateCredits
    From the server: the directory
      0600 peer
      0601 connected
      0602 disconnected
      0603 access
      0604 features
      0605 removed
    From the server: events of central managers
      1110 stateChanged
      1111 discovered
      1112 packetReceived
      1113 connected
      1114 connectionFailed
      1115 disconnected
      1116 connectionEvent
      1117 maximumWriteLengthChanged
      1118 nameChanged
      1119 linkChanged
      111A linkEnded
      111B linkRequestEnded
      111C rssiRead
      111D servicesDiscovered
      111E includedServicesDiscovered
      111F characteristicsDiscovered
      1120 descriptorsDiscovered
      1121 valueRead
      1122 valueChanged
      1123 written
      1124 notifyStateChanged
      1125 readyToWriteWithoutResponse
      1126 channelOpened
      1127 servicesModified
      1128 barrierReached
      1129 restored
      112A valueLimitReached
      112B synchronization
      112C notificationSharingChanged
    From the server: events of peripheral managers
      1210 stateChanged
      1211 advertisingStarted
      1212 serviceAdded
      1213 subscribed
      1214 unsubscribed
      1215 maximumUpdateLengthChanged
      1216 readRequested
      1217 writeRequested
      1218 centralDisconnected
      1219 channelPublished
      121A channelUnpublished
      121B channelOpened
      121C readyToUpdate
      121D barrierReached
      121E restored
      121F advertisingSetStarted
      1220 advertisingSetEnded
      1221 linkChanged
      1222 linkEnded
      1223 linkRequestEnded
      1224 indicationConfirmed
    From the server: apps, and the command line
      1300 stateChanged
      1301 stop
      1310 apps
      1311 done
      1312 alerts
      1313 links
      1314 packet
    AdapterState
      0 unknown
      1 resetting
      2 unsupported
      3 unauthorized
      4 poweredOff
      5 poweredOn
    AppAccess
      0 undetermined
      1 denied
      2 allowed
    AppControl
      0 background
      1 foreground
      2 suspend
      3 quit
    AppRunState
      0 foreground
      1 background
      2 suspended
      3 terminated
    ChannelEnd
      0 closed
      1 lost
    ConnectionLatency
      0 low
      1 medium
      2 high
    GATTDescriptorDefinition.Content
      0 stored
      1 dynamic
      2 formats
    HCI.AdvertisingType
      0 connectableScannableUndirected
      1 connectableDirectedHighDutyCycle
      2 scannableUndirected
      3 nonConnectableUndirected
      4 connectableDirectedLowDutyCycle
    HostAdvertising.LimitedDiscovery.End
      0 stops
      1 becomesGeneral
    HostError
      0 controller
      1 commandTimeout
      2 notConnected
      3 outOfSpace
      4 notSupported
    HostLinkSecurity.Level
      0 none
      1 encrypted
      2 authenticated
    LinkRequest
      0 connectionParameters
      1 phys
      2 dataLength
    LinkRequest.Kind
      0 connectionParameters
      1 phys
      2 dataLength
    PeerUsage.Pending.Procedure
      0 read
      1 write
      2 writeWithoutResponse
      3 discovery
    PeerUsage.Phase
      0 delayed
      1 connecting
      2 connected
      3 disconnecting
    RadioPHY
      1 le1M
      2 le2M
      3 leCoded
    RefusalReason
      0 version
      1 notPermitted
      2 unknownAdapter
      3 tooMany
      4 protocolViolation
      5 tooSlow
      6 stopping
    SessionError
      0 att
      1 link
      2 timeout
      3 invalidResponse
      4 notSupported
      5 invalidParameters
      6 uuidNotAllowed
      7 alreadyAdvertising
      8 outOfSpace
      9 connectionLimitReached
      10 encryptionTimedOut
      11 tooManyPairedDevices
      12 refused
      13 unknownPeer
      14 invalidHandle
      15 unusableHandle
    SyncEvent
      0 established
      1 report
      2 lost
      3 refused
    """
}
