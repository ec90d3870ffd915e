import BluetoothHost
import BluetoothWire
import NIOConcurrencyHelpers

/// The identity of a remote attribute, valid during one connection.
package struct RemoteAttributeID: Hashable, Sendable {
  let handle: AttributeHandle
  package init(_ handle: AttributeHandle) { self.handle = handle }
}

package struct RemoteService: Hashable, Sendable {
  package var id: RemoteAttributeID
  package var uuid: BluetoothUUID
  package var isPrimary: Bool
  package init(id: RemoteAttributeID, uuid: BluetoothUUID, isPrimary: Bool) {
    self.id = id
    self.uuid = uuid
    self.isPrimary = isPrimary
  }
}

package struct RemoteCharacteristic: Hashable, Sendable {
  package var id: RemoteAttributeID
  package var uuid: BluetoothUUID
  package var properties: CharacteristicProperties
  package init(id: RemoteAttributeID, uuid: BluetoothUUID, properties: CharacteristicProperties) {
    self.id = id
    self.uuid = uuid
    self.properties = properties
  }
}

package struct RemoteDescriptor: Hashable, Sendable {
  package var id: RemoteAttributeID
  package var uuid: BluetoothUUID
  package init(id: RemoteAttributeID, uuid: BluetoothUUID) {
    self.id = id
    self.uuid = uuid
  }
}

/// The parameters of an app's scan.
package struct ScanRequest: Sendable {
  /// The service UUIDs of which a peer must advertise at least one; nil: every peer matches.
  package var services: [BluetoothUUID]?
  /// The service UUIDs that a peer may solicit instead.
  package var solicitedServices: [BluetoothUUID]
  /// True if every packet is reported, false if each peer is reported once.
  package var allowsDuplicates: Bool
  package init(services: [BluetoothUUID]?, solicitedServices: [BluetoothUUID], allowsDuplicates: Bool) {
    self.services = services
    self.solicitedServices = solicitedServices
    self.allowsDuplicates = allowsDuplicates
  }
}

/// A command from an app's central manager to the daemon.
package enum CentralCommand: Sendable {
  case scan(ScanRequest)
  case stopScan
  /// Connects after `delay` and keeps trying until it succeeds. Re-establishes a dropped link if `reconnects` is true.
  case connect(PeerHandle, delay: TimeSpan, reconnects: Bool)
  case cancelConnection(PeerHandle)
  case readRSSI(PeerHandle)
  /// Discovers the services with these UUIDs; nil or empty: all.
  case discoverServices(PeerHandle, [BluetoothUUID]?)
  case discoverIncludedServices(PeerHandle, RemoteAttributeID, [BluetoothUUID]?)
  case discoverCharacteristics(PeerHandle, RemoteAttributeID, [BluetoothUUID]?)
  case discoverDescriptors(PeerHandle, RemoteAttributeID)
  /// Reads the value of a characteristic or a descriptor.
  case read(PeerHandle, RemoteAttributeID)
  case write(PeerHandle, RemoteAttributeID, ByteSlice)
  /// Writes a value without response. The sender has taken one credit of `CentralSession.writeCredits` for it.
  case writeWithoutResponse(PeerHandle, RemoteAttributeID, ByteSlice)
  /// The same for a characteristic that requires signed writes: the value is signed if the link is not encrypted.
  case signedWriteWithoutResponse(PeerHandle, RemoteAttributeID, ByteSlice)
  case setNotify(PeerHandle, RemoteAttributeID, Bool)
  /// Opens an L2CAP channel. Answered by `channelOpened`.
  case openChannel(PeerHandle, psm: UInt16)
  /// Answered by `echoed`. The client uses it to keep answers that it can give by itself in order with the other
  /// answers.
  case echo(UInt32)
  /// Asks the user to switch Bluetooth on if it is off.
  case askForPower
}

/// The data received from an advertiser: the advertisement merged with its scan response.
package struct Discovery: Sendable {
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
  case stateChanged(AdapterState)
  indirect case discovered(Discovery)
  /// The link is established. Writes without response may carry at most `maximumWriteLength` octets.
  case connected(PeerHandle, maximumWriteLength: Int)
  case connectionFailed(PeerHandle, SessionError)
  /// The link has ended. nil: because this app cancelled it. `isReconnecting`: the daemon re-establishes the link.
  case disconnected(PeerHandle, SessionError?, isReconnecting: Bool)
  /// The maximum length of a write without response has changed. No callback.
  case maximumWriteLengthChanged(PeerHandle, Int)
  case nameChanged(PeerHandle, String?)
  case rssiRead(PeerHandle, Result<Int8, SessionError>)
  case servicesDiscovered(PeerHandle, Result<[RemoteService], SessionError>)
  case includedServicesDiscovered(PeerHandle, RemoteAttributeID, Result<[RemoteService], SessionError>)
  case characteristicsDiscovered(PeerHandle, RemoteAttributeID, Result<[RemoteCharacteristic], SessionError>)
  case descriptorsDiscovered(PeerHandle, RemoteAttributeID, Result<[RemoteDescriptor], SessionError>)
  case valueRead(PeerHandle, RemoteAttributeID, Result<ByteSlice, SessionError>)
  /// A notification or an indication.
  case valueChanged(PeerHandle, RemoteAttributeID, ByteSlice)
  case written(PeerHandle, RemoteAttributeID, SessionError?)
  case notifyStateChanged(PeerHandle, RemoteAttributeID, isNotifying: Bool, SessionError?)
  /// A credit is available again after the credits had run out.
  case readyToWriteWithoutResponse(PeerHandle)
  case channelOpened(PeerHandle, Result<OpenChannel, SessionError>)
  /// The services with these IDs are no longer valid.
  case servicesModified(PeerHandle, [RemoteAttributeID])
  /// The answer to `echo`.
  case echoed(UInt32)
}

/// The receiver of a session's events. `receive` runs on the adapter's executor with no lock held and in a consistent
/// state: it may send commands.
package protocol CentralClient: AnyObject, Sendable {
  func receive(_ event: CentralEvent)
  /// True if `receive` only queues events: the client then calls `StateCounter.noteSeen` before it handles
  /// `stateChanged`.
  var queuesEvents: Bool { get }
}

extension CentralClient {
  package var queuesEvents: Bool { false }
}

/// The interface of an app's central manager to the daemon. Every method may be called on any thread, at any time.
package final class CentralSession: Sendable {
  private struct State {
    weak var client: (any CentralClient)?
    var isClosed = false
    var writeCredits: [PeerHandle: TransmitCredits] = [:]
  }

  package let states = StateCounter()

  /// The number of events that wait on the app's queue.
  package let backlog = EventBacklog()

  /// The daemon's slot for this session; nil: not opened yet, or closed. Only the executor uses it.
  nonisolated(unsafe) var slot: CentralSlot?

  private let mailbox: Mailbox
  private let state: NIOLockedValueBox<State>

  /// Opens a session. Adapters call it to implement `openCentralSession`.
  package init(client: any CentralClient, mailbox: Mailbox) {
    self.mailbox = mailbox
    state = NIOLockedValueBox(State(client: client))
    mailbox.post(.centralOpened(self))
  }

  /// Sends a command. The daemon handles commands in order, after the commands sent before on any session.
  package func send(_ command: CentralCommand) { mailbox.post(.central(self, command, seenStates: states.seen)) }

  /// Counts an event that is now waiting on the app's queue. In virtual time no event waits.
  package func eventQueued() { backlog.append() }

  /// Counts a queued event that the app has handled.
  package func eventHandled() {
    if backlog.removeFirst() { mailbox.wake() }
  }

  /// Ends the session: its scan, its connection attempts and its share of links. No event follows, except one that is
  /// being delivered now.
  package func close() {
    let wasOpen = state.withLockedValue { state in
      defer { state.isClosed = true }
      return !state.isClosed
    }
    if wasOpen { mailbox.post(.centralClosed(self)) }
  }

  /// Returns the credits for writes without response to `peer`. The object is the same throughout the session; when a
  /// link ends, the credits of all unsent writes come back.
  package func writeCredits(for peer: PeerHandle) -> TransmitCredits {
    state.withLockedValue { state in
      if let credits = state.writeCredits[peer] { return credits }
      let credits = TransmitCredits(capacity: SessionLimits.writesWithoutResponse)
      state.writeCredits[peer] = credits
      return credits
    }
  }

  /// The receiver of the events; nil: the session is closed or the client has been deallocated.
  var client: (any CentralClient)? {
    state.withLockedValue { state in state.isClosed ? nil : state.client }
  }
}
