import Testing

@testable import BluetoothDaemonProtocol

/// The numbers of the messages: a client of another version of this package relies on them.
@Suite("Message numbers")
struct MessageNumberTests {
  @Test("Every type of message keeps its number")
  func numbers() {
    let numbers =
      lines(of: ConnectionMessageType.self) + lines(of: SessionMessageType.self) + lines(of: CentralCommandType.self)
      + lines(of: PeripheralCommandType.self) + lines(of: AppRequestType.self) + lines(of: AppReportType.self)
      + lines(of: ChannelMessageType.self) + lines(of: CountMessageType.self) + lines(of: DirectoryMessageType.self)
      + lines(of: CentralEventType.self) + lines(of: PeripheralEventType.self)
    #expect(numbers.joined(separator: "\n") == published)
  }

  private func lines<T: CaseIterable & RawRepresentable>(of type: T.Type) -> [String] where T.RawValue == UInt16 {
    ["\(type)"]
      + type.allCases.map { message in
        let digits = String(UInt32(message.rawValue) + 0x1_0000, radix: 16, uppercase: true).dropFirst()
        return "  \(digits) \(message)"
      }
  }

  // A line is added for a new message, and no line is ever changed.
  private let published = """
    ConnectionMessageType
      0001 hello
      0002 welcome
      0003 refused
      0004 unknownMessage
      0005 introduce
      0006 listClients
      0007 clients
    SessionMessageType
      0100 openCentral
      0101 closeCentral
      0200 openPeripheral
      0201 closePeripheral
    CentralCommandType
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
    PeripheralCommandType
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
    AppRequestType
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
    AppReportType
      1300 stateChanged
      1301 stop
      1310 apps
      1311 done
      1312 alerts
      1313 links
      1314 packet
    ChannelMessageType
      0400 octets
      0401 credit
      0402 end
      0403 loss
    CountMessageType
      0500 eventsHandled
      0501 writeCredits
      0502 updateCredits
    DirectoryMessageType
      0600 peer
      0601 connected
      0602 disconnected
      0603 access
      0604 features
      0605 removed
    CentralEventType
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
    PeripheralEventType
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
    """
}
