import BluetoothHost
import BluetoothWire
import NIOConcurrencyHelpers

/// A peer as one adapter numbers it in one run.
package struct PeerHandle: Hashable, Sendable {
  package let index: UInt32
  package init(index: UInt32) { self.index = index }
}

/// The identifier under which apps know a peer: random, stable, never the address.
package struct PeerIdentifier: Hashable, Sendable {
  package let high: UInt64
  package let low: UInt64
  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }
}

extension PeerIdentifier {
  /// Nobody has given one yet.
  package static let unknown = PeerIdentifier(high: 0, low: 0)

  /// As UUIDs are printed.
  package var digits: String { BluetoothUUID(high: high, low: low).description }
}

/// What an app may know of a peer.
package struct PeerInfo: Hashable, Sendable {
  package var handle: PeerHandle
  package var identifier: PeerIdentifier
  package var name: String?
  package init(handle: PeerHandle, identifier: PeerIdentifier, name: String?) {
    self.handle = handle
    self.identifier = identifier
    self.name = name
  }
}

/// The adapter's state as apps see it.
package enum AdapterState: Hashable, Sendable {
  case unknown, resetting, unsupported, unauthorized, poweredOff, poweredOn
}

/// An attribute of a peer, named for the time of one connection.
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
  package var properties: GATTProperties
  package init(id: RemoteAttributeID, uuid: BluetoothUUID, properties: GATTProperties) {
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

/// Why something that an app asked for did not happen.
package enum SessionError: Error, Hashable, Sendable {
  /// The peer answered with this ATT code.
  case att(ATT.ErrorCode)
  /// The link ended, or could not be made, for this reason.
  case link(HCI.ErrorCode)
  /// The peer did not answer in time.
  case timeout
  /// The peer broke the protocol.
  case invalidResponse
  /// This version, or this adapter, does not have it.
  case notSupported
  /// The arguments were refused.
  case invalidParameters
  /// A UUID that the system keeps for itself.
  case uuidNotAllowed
  /// Advertising has started already.
  case alreadyAdvertising
  /// There is no room for it.
  case outOfSpace
  /// There are too many links.
  case connectionLimitReached
  /// The link could not be encrypted in time.
  case encryptionTimedOut
  /// There is no room for another bond.
  case tooManyPairedDevices
  /// The peer refuses, without a reason that apps have a code for.
  case refused
  /// The peer goes by another identifier since it has said who it is.
  case unknownPeer
}

/// What an app's scan asks for.
package struct ScanRequest: Sendable {
  /// A peer must advertise one of these; nil: every peer is wanted.
  package var services: [BluetoothUUID]?
  /// Or solicit one of these.
  package var solicitedServices: [BluetoothUUID]
  /// Every packet is reported, not one for each peer.
  package var allowsDuplicates: Bool
  package init(services: [BluetoothUUID]?, solicitedServices: [BluetoothUUID], allowsDuplicates: Bool) {
    self.services = services
    self.solicitedServices = solicitedServices
    self.allowsDuplicates = allowsDuplicates
  }
}

/// What an app's central manager asks of the service.
package enum CentralCommand: Sendable {
  case scan(ScanRequest)
  case stopScan
  /// Keep trying, from `delay` on; a dropped link is made again when `reconnects`.
  case connect(PeerHandle, delay: TimeSpan, reconnects: Bool)
  case cancelConnection(PeerHandle)
  case readRSSI(PeerHandle)
  /// nil or empty: all.
  case discoverServices(PeerHandle, [BluetoothUUID]?)
  case discoverIncludedServices(PeerHandle, RemoteAttributeID, [BluetoothUUID]?)
  case discoverCharacteristics(PeerHandle, RemoteAttributeID, [BluetoothUUID]?)
  case discoverDescriptors(PeerHandle, RemoteAttributeID)
  /// A characteristic's or a descriptor's value.
  case read(PeerHandle, RemoteAttributeID)
  case write(PeerHandle, RemoteAttributeID, ByteSlice)
  /// One credit of `CentralSession.writeCredits` was taken for it.
  case writeWithoutResponse(PeerHandle, RemoteAttributeID, ByteSlice)
  /// The same for a characteristic that wants signatures: signed where the link is not encrypted.
  case signedWriteWithoutResponse(PeerHandle, RemoteAttributeID, ByteSlice)
  case setNotify(PeerHandle, RemoteAttributeID, Bool)
  /// Answered by `channelOpened`.
  case openChannel(PeerHandle, psm: UInt16)
  /// Answered by `echoed`: what the app's side can answer by itself takes its turn among the other answers this way.
  case echo(UInt32)
  /// The user is asked to turn Bluetooth on, if it is off.
  case askForPower
}

/// What was received from an advertiser: the advertisement merged with its scan response.
package struct Discovery: Sendable {
  package var peer: PeerInfo
  package var isConnectable: Bool
  package var localName: String?
  package var txPowerLevel: Int8?
  package var services: [BluetoothUUID]
  package var overflowServices: [BluetoothUUID]
  package var solicitedServices: [BluetoothUUID]
  package var serviceData: [(BluetoothUUID, ByteSlice)]
  /// Company identifier first, as on the air.
  package var manufacturerData: ByteSlice?
  /// dBm; 127: not available.
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

/// What the service tells an app's central manager. `ByteSlice`s are only lent: whoever keeps one copies it.
package enum CentralEvent: Sendable {
  case stateChanged(AdapterState)
  indirect case discovered(Discovery)
  /// The link is there; commands without response of at most `maximumWriteLength` octets fit.
  case connected(PeerHandle, maximumWriteLength: Int)
  case connectionFailed(PeerHandle, SessionError)
  /// nil: because this app cancelled. `isReconnecting`: the service makes the link again by itself.
  case disconnected(PeerHandle, SessionError?, isReconnecting: Bool)
  /// No callback: the longest write without response is now this.
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
  /// After the credits had run out there is one again.
  case readyToWriteWithoutResponse(PeerHandle)
  case channelOpened(PeerHandle, Result<OpenChannel, SessionError>)
  /// These services are not valid any more.
  case servicesModified(PeerHandle, [RemoteAttributeID])
  /// The answer to `echo`.
  case echoed(UInt32)
}

/// Where a session's events go. `receive` runs on the adapter's executor, with no lock held and nothing half changed:
/// it may send commands.
package protocol CentralClient: AnyObject, Sendable {
  func receive(_ event: CentralEvent)
  /// True if `receive` only queues events: the client then calls `StateCounter.noteSeen` before it handles `stateChanged`.
  var queuesEvents: Bool { get }
}

extension CentralClient {
  package var queuesEvents: Bool { false }
}

/// An app's central manager's way into the service. Every method may be called on any thread, at any time.
package final class CentralSession: Sendable {
  private struct State {
    weak var client: (any CentralClient)?
    var isClosed = false
    var writeCredits: [PeerHandle: TransmitCredits] = [:]
  }

  package let states = StateCounter()

  /// The events that wait on the app's queue.
  package let backlog = EventBacklog()

  /// Where the service keeps what belongs to this session; nil: not opened yet, or closed. The executor's alone.
  nonisolated(unsafe) var slot: CentralSlot?

  private let mailbox: Mailbox
  private let state: NIOLockedValueBox<State>

  /// Opens a session; for adapters, which answer `openCentralSession` with it.
  package init(client: any CentralClient, mailbox: Mailbox) {
    self.mailbox = mailbox
    state = NIOLockedValueBox(State(client: client))
    mailbox.post(.centralOpened(self))
  }

  /// Asks for something. Commands are taken in order, after the ones that were sent before on any session.
  package func send(_ command: CentralCommand) { mailbox.post(.central(self, command, seenStates: states.seen)) }

  /// Counts an event that waits on the app's queue from now on. In virtual time none does.
  package func eventQueued() { backlog.append() }

  /// Counts an event that was queued and that the app has handled.
  package func eventHandled() {
    if backlog.removeFirst() { mailbox.wake() }
  }

  /// Ends the session: its scan, its attempts and its share of links. No event comes any more, except one that is being
  /// delivered now.
  package func close() {
    let wasOpen = state.withLockedValue { state in
      defer { state.isClosed = true }
      return !state.isClosed
    }
    if wasOpen { mailbox.post(.centralClosed(self)) }
  }

  /// The credits for writes without response to `peer`. They are the same object for as long as the session lives; all
  /// that a link's end leaves unsent comes back.
  package func writeCredits(for peer: PeerHandle) -> TransmitCredits {
    state.withLockedValue { state in
      if let credits = state.writeCredits[peer] { return credits }
      let credits = TransmitCredits(capacity: SessionLimits.writesWithoutResponse)
      state.writeCredits[peer] = credits
      return credits
    }
  }

  /// Who gets the events; nil: nobody any more.
  var client: (any CentralClient)? {
    state.withLockedValue { state in state.isClosed ? nil : state.client }
  }
}
