import BluetoothHost
import BluetoothWire
import NIOConcurrencyHelpers

/// A local service or characteristic, numbered by the app's side of the session.
package struct LocalAttributeID: Hashable, Sendable {
  package let number: UInt32
  package init(number: UInt32) { self.number = number }
}

package struct LocalService: Sendable {
  package var id: LocalAttributeID
  package var uuid: BluetoothUUID
  package var isPrimary: Bool
  /// Services that were added before.
  package var includes: [LocalAttributeID]
  package var characteristics: [LocalCharacteristic]
  package init(
    id: LocalAttributeID, uuid: BluetoothUUID, isPrimary: Bool, includes: [LocalAttributeID],
    characteristics: [LocalCharacteristic]
  ) {
    self.id = id
    self.uuid = uuid
    self.isPrimary = isPrimary
    self.includes = includes
    self.characteristics = characteristics
  }
}

package struct LocalCharacteristic: Sendable {
  package var id: LocalAttributeID
  package var definition: GATTCharacteristicDefinition
  package init(id: LocalAttributeID, definition: GATTCharacteristicDefinition) {
    self.id = id
    self.definition = definition
  }
}

/// A central that uses the local database, for the time of one connection.
package struct CentralInfo: Hashable, Sendable {
  package var handle: PeerHandle
  package var identifier: PeerIdentifier
  /// ATT_MTU − 3.
  package var maximumUpdateLength: Int
  package init(handle: PeerHandle, identifier: PeerIdentifier, maximumUpdateLength: Int) {
    self.handle = handle
    self.identifier = identifier
    self.maximumUpdateLength = maximumUpdateLength
  }
}

/// Names a request of a central that waits for `PeripheralCommand.respond`.
package struct CentralRequestID: Hashable, Sendable {
  package let number: UInt64
  package init(number: UInt64) { self.number = number }
}

package struct CentralWrite: Sendable {
  package var characteristic: LocalAttributeID
  package var offset: Int
  package var value: ByteSlice
  package init(characteristic: LocalAttributeID, offset: Int, value: ByteSlice) {
    self.characteristic = characteristic
    self.offset = offset
    self.value = value
  }
}

/// How soon the link to a central should react.
package enum ConnectionLatency: Hashable, Sendable { case low, medium, high }

/// What an app's peripheral manager asks of the service.
package enum PeripheralCommand: Sendable {
  case startAdvertising(localName: String?, services: [BluetoothUUID])
  case stopAdvertising
  case addService(LocalService)
  case removeService(LocalAttributeID)
  case removeAllServices
  /// `value` answers a read: what the attribute holds from the request's offset on.
  case respond(CentralRequestID, ATT.ErrorCode?, value: ByteSlice)
  /// One credit of `PeripheralSession.updateCredits` was taken for it. nil: all subscribed centrals.
  case update(LocalAttributeID, ByteSlice, [PeerHandle]?)
  case setConnectionLatency(ConnectionLatency, PeerHandle)
  case publishChannel(isEncrypted: Bool)
  case unpublishChannel(psm: UInt16)
  /// See `CentralCommand.echo`.
  case echo(UInt32)
  /// See `CentralCommand.askForPower`.
  case askForPower
}

/// What the service tells an app's peripheral manager. `ByteSlice`s are only lent: whoever keeps one copies it.
package enum PeripheralEvent: Sendable {
  case stateChanged(AdapterState)
  case advertisingStarted(SessionError?)
  case serviceAdded(LocalAttributeID, SessionError?)
  case subscribed(CentralInfo, LocalAttributeID)
  case unsubscribed(CentralInfo, LocalAttributeID)
  /// No callback: the longest update that this central gets whole is now another.
  case maximumUpdateLengthChanged(CentralInfo)
  case readRequested(CentralRequestID, CentralInfo, LocalAttributeID, offset: Int)
  /// All or nothing. The request is nil for a write without response.
  case writeRequested(CentralRequestID?, CentralInfo, [CentralWrite])
  /// The central is gone: its requests are void. No callback.
  case centralDisconnected(CentralInfo)
  case channelPublished(psm: UInt16, SessionError?)
  case channelUnpublished(psm: UInt16, SessionError?)
  /// A central has opened a channel that this session offers.
  case channelOpened(CentralInfo, OpenChannel)
  /// After the credits had run out there is one again.
  case readyToUpdate
  /// The answer to `echo`.
  case echoed(UInt32)
}

/// Where a session's events go; see `CentralClient`.
package protocol PeripheralClient: AnyObject, Sendable {
  func receive(_ event: PeripheralEvent)
  /// True if `receive` only queues events: the client then calls `StateCounter.noteSeen` before it handles `stateChanged`.
  var queuesEvents: Bool { get }
}

extension PeripheralClient {
  package var queuesEvents: Bool { false }
}

/// An app's peripheral manager's way into the service. Every method may be called on any thread, at any time.
package final class PeripheralSession: Sendable {
  private struct State {
    weak var client: (any PeripheralClient)?
    var isClosed = false
  }

  /// For `PeripheralCommand.update`: one for each call, however many centrals it goes to.
  package let updateCredits = TransmitCredits(capacity: SessionLimits.updates)

  package let states = StateCounter()

  /// The events that wait on the app's queue.
  package let backlog = EventBacklog()

  /// Where the service keeps what belongs to this session; nil: not opened yet, or closed. The executor's alone.
  nonisolated(unsafe) var slot: PeripheralSlot?

  private let mailbox: Mailbox
  private let state: NIOLockedValueBox<State>

  /// Opens a session; for adapters, which answer `openPeripheralSession` with it.
  package init(client: any PeripheralClient, mailbox: Mailbox) {
    self.mailbox = mailbox
    state = NIOLockedValueBox(State(client: client))
    mailbox.post(.peripheralOpened(self))
  }

  /// Asks for something. Commands are taken in order, after the ones that were sent before on any session.
  package func send(_ command: PeripheralCommand) { mailbox.post(.peripheral(self, command, seenStates: states.seen)) }

  /// Counts an event that waits on the app's queue from now on. In virtual time none does.
  package func eventQueued() { backlog.append() }

  /// Counts an event that was queued and that the app has handled.
  package func eventHandled() {
    if backlog.removeFirst() { mailbox.wake() }
  }

  /// Ends the session: its advertising and its services. No event comes any more, except one that is being delivered
  /// now.
  package func close() {
    let wasOpen = state.withLockedValue { state in
      defer { state.isClosed = true }
      return !state.isClosed
    }
    if wasOpen { mailbox.post(.peripheralClosed(self)) }
  }

  /// Who gets the events; nil: nobody any more.
  var client: (any PeripheralClient)? {
    state.withLockedValue { state in state.isClosed ? nil : state.client }
  }
}
