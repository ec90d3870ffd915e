import BluetoothHost
import BluetoothWire

/// The identity of a remote attribute, valid during one connection.
package struct RemoteAttributeID: Hashable, Sendable {
  package let handle: AttributeHandle
  package init(_ handle: AttributeHandle) { self.handle = handle }
}

package struct RemoteServiceInfo: Hashable, Sendable {
  package var id: RemoteAttributeID
  package var uuid: BluetoothUUID
  package var isPrimary: Bool
  package init(id: RemoteAttributeID, uuid: BluetoothUUID, isPrimary: Bool) {
    self.id = id
    self.uuid = uuid
    self.isPrimary = isPrimary
  }
}

package struct RemoteCharacteristicInfo: Hashable, Sendable {
  package var id: RemoteAttributeID
  package var uuid: BluetoothUUID
  package var properties: CharacteristicProperties
  package init(id: RemoteAttributeID, uuid: BluetoothUUID, properties: CharacteristicProperties) {
    self.id = id
    self.uuid = uuid
    self.properties = properties
  }
}

package struct RemoteDescriptorInfo: Hashable, Sendable {
  package var id: RemoteAttributeID
  package var uuid: BluetoothUUID
  package init(id: RemoteAttributeID, uuid: BluetoothUUID) {
    self.id = id
    self.uuid = uuid
  }
}

/// The parameters of an app's scan.
package struct ScanRequest: Hashable, Sendable {
  /// The service UUIDs of which a peer must advertise at least one; nil: every peer matches.
  package var services: [BluetoothUUID]?
  /// The service UUIDs that a peer may solicit instead.
  package var solicitedServices: [BluetoothUUID]
  /// True if every packet is reported, false if each peer is reported once.
  package var allowsDuplicates: Bool
  /// The scan for packets as they are, which `packetReceived` reports in place of `discovered`, whatever the services;
  /// nil: an ordinary scan.
  package var packets: PacketScan?
  package init(services: [BluetoothUUID]?, solicitedServices: [BluetoothUUID], allowsDuplicates: Bool) {
    self.services = services
    self.solicitedServices = solicitedServices
    self.allowsDuplicates = allowsDuplicates
  }
}

/// The parameters of a scan for advertising packets as they are.
package struct PacketScan: Hashable, Sendable {
  /// True if the controller sends scan requests.
  package var isActive: Bool
  /// True if the controller also scans on LE Coded, if it has it.
  package var includesLECoded: Bool
  package init(isActive: Bool, includesLECoded: Bool) {
    self.isActive = isActive
    self.includesLECoded = includesLECoded
  }
}

/// An advertising packet or a scan response, as the controller has reported it.
package struct ReceivedPacket: Sendable {
  package var peer: PeerInfo
  package var report: AdvertisingReport
  /// The time of the report.
  package var time: Instant
  package init(peer: PeerInfo, report: AdvertisingReport, time: Instant) {
    self.peer = peer
    self.report = report
    self.time = time
  }
}

/// The connections that an app wants to be told of: those to one of `peers`, and those to peers that are known to offer
/// one of `services`.
package struct ConnectionEventFilter: Hashable, Sendable {
  /// The maximum number of services.
  package static let maximumServiceCount = 4

  package var peers: Set<PeerIdentifier>
  package var services: Set<BluetoothUUID>
  package init(peers: Set<PeerIdentifier>, services: Set<BluetoothUUID>) {
    self.peers = peers
    self.services = services
  }
}

/// A command from an app's central manager to the daemon.
package enum CentralCommand: Sendable {
  case scan(ScanRequest)
  case stopScan
  /// Synchronizes with a periodic train; answered by `synchronization` with this number.
  case synchronize(UInt32, SyncRequest)
  /// Ends a synchronization, or the attempt, without an event.
  case endSynchronization(UInt32)
  /// Connects after `delay` and keeps trying until it succeeds. Re-establishes a dropped link if `reconnects` is true.
  case connect(PeerHandle, delay: TimeSpan, reconnects: Bool)
  case cancelConnection(PeerHandle)
  /// Wants these alerts about the peer while the app is suspended, as long as the session uses the peer.
  case requestAlerts(PeerHandle, AlertKinds)
  /// Requires that the peer can get the notifications of the system, as long as the session uses the peer: the system
  /// pairs, and asks the user.
  case requireNotifications(PeerHandle)
  /// Requests an event for each connection that others make and that matches the filter; nil: for none.
  case registerForConnectionEvents(ConnectionEventFilter?)
  case readRSSI(PeerHandle)
  /// Requests `link` for all links of the session, as long as it is open.
  case observeLinks
  /// Requests other properties of a link. A session that observes its links gets the answer.
  case changeLink(PeerHandle, LinkRequest)
  /// Discovers the services with these UUIDs; nil or empty: all.
  case discoverServices(PeerHandle, [BluetoothUUID]?)
  case discoverIncludedServices(PeerHandle, RemoteAttributeID, [BluetoothUUID]?)
  case discoverCharacteristics(PeerHandle, RemoteAttributeID, [BluetoothUUID]?)
  case discoverDescriptors(PeerHandle, RemoteAttributeID)
  /// Reads the value of a characteristic or a descriptor.
  case read(PeerHandle, RemoteAttributeID)
  case write(PeerHandle, RemoteAttributeID, ByteSlice)
  /// Writes a value without response. The sender has taken one credit of
  /// `SessionCounters.writeCredits` for it.
  case writeWithoutResponse(PeerHandle, RemoteAttributeID, ByteSlice)
  /// The same for a characteristic that requires signed writes: the value is signed if the link is not encrypted.
  case signedWriteWithoutResponse(PeerHandle, RemoteAttributeID, ByteSlice)
  case setNotify(PeerHandle, RemoteAttributeID, Bool)
  /// Opens an L2CAP channel. Answered by `channelOpened`.
  case openChannel(PeerHandle, psm: UInt16)
  /// Answered by `barrierReached`. The client uses a barrier to keep its local answers in order with the daemon's
  /// answers.
  case barrier(UInt32)
  /// Asks the user to switch Bluetooth on if it is off.
  case askForPower
}

/// The data received from an advertiser: the advertisement merged with its scan response.
package struct DiscoveryInfo: Sendable {
  package var peer: PeerInfo
  package var isConnectable: Bool
  package var localName: String?
  package var txPowerLevel: Int8?
  package var services: [BluetoothUUID]
  package var overflowServices: [BluetoothUUID]
  package var solicitedServices: [BluetoothUUID]
  package var serviceData: [(BluetoothUUID, ByteSlice)]
  /// The manufacturer-specific data, company identifier first, as on the air.
  package var manufacturerData: ByteSlice?
  /// The signal strength in dBm; 127: not available.
  package var rssi: Int8
  package init(peer: PeerInfo, isConnectable: Bool, rssi: Int8) {
    self.peer = peer
    self.isConnectable = isConnectable
    self.rssi = rssi
    services = []
    overflowServices = []
    solicitedServices = []
    serviceData = []
  }
}

/// An event from the daemon to an app's central manager. A `ByteSlice` is valid only during the call: a client that
/// keeps it must copy it.
package enum CentralEvent: Sendable {
  /// The session continues a preserved one. The first event.
  indirect case restored(RestoredCentral)
  case stateChanged(AdapterState)
  indirect case discovered(DiscoveryInfo)
  /// A packet, for a session that scans for packets.
  indirect case packetReceived(ReceivedPacket)
  /// An event of the synchronization with this number, and its time.
  indirect case synchronization(UInt32, SyncEvent, at: Instant)
  /// The link is established. Writes without response may carry at most `maximumWriteLength` octets.
  case connected(PeerHandle, maximumWriteLength: Int)
  case connectionFailed(PeerHandle, SessionError)
  /// The link has ended. nil: because this app cancelled it. `isReconnecting`: the daemon re-establishes the link.
  case disconnected(PeerHandle, SessionError?, isReconnecting: Bool)
  /// A link that this session did not request has been established, or has ended; see `ConnectionEventFilter`.
  case connectionEvent(PeerInfo, isConnected: Bool)
  /// The maximum length of a write without response has changed. No callback.
  case maximumWriteLengthChanged(PeerHandle, Int)
  case nameChanged(PeerHandle, String?)
  /// An event for a session that observes its links.
  indirect case link(PeerHandle, LinkEvent)
  case rssiRead(PeerHandle, Result<Int8, SessionError>)
  case servicesDiscovered(PeerHandle, Result<[RemoteServiceInfo], SessionError>)
  case includedServicesDiscovered(PeerHandle, RemoteAttributeID, Result<[RemoteServiceInfo], SessionError>)
  case characteristicsDiscovered(PeerHandle, RemoteAttributeID, Result<[RemoteCharacteristicInfo], SessionError>)
  case descriptorsDiscovered(PeerHandle, RemoteAttributeID, Result<[RemoteDescriptorInfo], SessionError>)
  case valueRead(PeerHandle, RemoteAttributeID, Result<ByteSlice, SessionError>)
  /// A notification or an indication.
  case valueChanged(PeerHandle, RemoteAttributeID, ByteSlice)
  /// The app, in the background, has had almost as many values as its platform allows, or more.
  case valueLimitReached(PeerHandle, RemoteAttributeID, isExceeded: Bool)
  /// The user lets the peer get the notifications of the system now, or no longer: see `BondInfo`.
  case notificationSharingChanged(PeerHandle)
  case written(PeerHandle, RemoteAttributeID, SessionError?)
  case notifyStateChanged(PeerHandle, RemoteAttributeID, isNotifying: Bool, SessionError?)
  /// A credit is available again after the credits had run out.
  case readyToWriteWithoutResponse(PeerHandle)
  case channelOpened(PeerHandle, Result<ChannelInfo, SessionError>)
  /// The services with these IDs are no longer valid.
  case servicesModified(PeerHandle, [RemoteAttributeID])
  /// The answer to `barrier`, after the answers to all earlier commands that the daemon answers at once.
  case barrierReached(UInt32)
}

extension CentralEvent {
  /// The event with empty octets, for a client that has copied them and keeps the event.
  package var withoutOctets: CentralEvent {
    switch self {
    case .discovered(var discovery):
      discovery.serviceData = []
      discovery.manufacturerData = nil
      return .discovered(discovery)
    case .packetReceived(var packet):
      packet.report.data = ByteSlice()
      return .packetReceived(packet)
    case .synchronization(let number, .report(var report), let time):
      report.data = ByteSlice()
      return .synchronization(number, .report(report), at: time)
    case .valueRead(let peer, let attribute, .success): return .valueRead(peer, attribute, .success(ByteSlice()))
    case .valueChanged(let peer, let attribute, _): return .valueChanged(peer, attribute, ByteSlice())
    case .restored, .stateChanged, .synchronization, .connected, .connectionFailed, .disconnected, .connectionEvent,
      .maximumWriteLengthChanged, .nameChanged, .link, .rssiRead, .servicesDiscovered, .includedServicesDiscovered,
      .characteristicsDiscovered,
      .descriptorsDiscovered,
      .valueRead(_, _, .failure), .valueLimitReached, .written, .notifyStateChanged, .readyToWriteWithoutResponse,
      .notificationSharingChanged, .channelOpened,
      .servicesModified, .barrierReached:
      return self
    }
  }
}

/// The receiver of a session's events. `receive` runs on the adapter's executor with no lock held and in a consistent
/// state: it may send commands.
package protocol CentralClient: AnyObject, Sendable {
  func receive(_ event: CentralEvent)
  /// True if `receive` only queues events: the client then calls `Session.noteStateSeen` before it handles
  /// `stateChanged`.
  var queuesEvents: Bool { get }
}

extension CentralClient {
  package var queuesEvents: Bool { false }
}
