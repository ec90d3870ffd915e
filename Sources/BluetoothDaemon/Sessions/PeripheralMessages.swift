import BluetoothHost
import BluetoothWire

/// The ID of a local service or characteristic, assigned by the app's side of the session.
package struct LocalAttributeID: Hashable, Sendable {
  package let number: UInt32
  package init(number: UInt32) { self.number = number }
}

package struct LocalServiceInfo: Hashable, Sendable {
  package var id: LocalAttributeID
  package var uuid: BluetoothUUID
  package var isPrimary: Bool
  /// The included services, all of which were added before.
  package var includes: [LocalAttributeID]
  package var characteristics: [LocalCharacteristicInfo]
  /// The handle of the declaration; nil: the next one.
  package var handle: AttributeHandle?
  package init(
    id: LocalAttributeID, uuid: BluetoothUUID, isPrimary: Bool, includes: [LocalAttributeID],
    characteristics: [LocalCharacteristicInfo], handle: AttributeHandle? = nil
  ) {
    self.id = id
    self.uuid = uuid
    self.isPrimary = isPrimary
    self.includes = includes
    self.characteristics = characteristics
    self.handle = handle
  }

  /// True if the service or one of its attributes has a fixed handle.
  package var hasFixedHandles: Bool {
    handle != nil
      || characteristics.contains { characteristic in
        characteristic.definition.handle != nil || characteristic.definition.descriptors.contains { $0.handle != nil }
      }
  }
}

package struct LocalCharacteristicInfo: Hashable, Sendable {
  package var id: LocalAttributeID
  package var definition: GATTCharacteristicDefinition
  package init(id: LocalAttributeID, definition: GATTCharacteristicDefinition) {
    self.id = id
    self.definition = definition
  }
}

/// A central that uses the local database, during one connection.
package struct CentralInfo: Hashable, Sendable {
  package var handle: PeerHandle
  package var identifier: PeerIdentifier
  /// The maximum length of an update in octets: ATT_MTU − 3.
  package var maximumUpdateLength: Int
  package init(handle: PeerHandle, identifier: PeerIdentifier, maximumUpdateLength: Int) {
    self.handle = handle
    self.identifier = identifier
    self.maximumUpdateLength = maximumUpdateLength
  }
}

/// The ID of a central's request that waits for `PeripheralCommand.respond`.
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

/// The desired latency of the link to a central.
package enum ConnectionLatency: Hashable, Sendable { case low, medium, high }

/// The ID of an advertising set, assigned by the app's side of the session.
package struct LocalSetID: Hashable, Sendable {
  package let number: UInt32
  package init(number: UInt32) { self.number = number }
}

/// A command from an app's peripheral manager to the daemon.
package enum PeripheralCommand: Sendable {
  case startAdvertising(localName: String?, services: [BluetoothUUID])
  /// Advertises with these parameters and data, which the session alone chooses: other sessions can't advertise
  /// meanwhile. Answered by `advertisingStarted`.
  indirect case advertise(HostAdvertising)
  case stopAdvertising
  /// Starts an advertising set beside all other advertising, or changes it. Answered by `advertisingSetStarted`; a
  /// failure ends the set.
  indirect case startSet(LocalSetID, HostAdvertising)
  /// Stops an advertising set with its periodic train.
  case stopSet(LocalSetID)
  case addService(LocalServiceInfo)
  /// Adds a service whose attributes have fixed handles. Answered by `serviceAdded`.
  case addServiceAt(LocalServiceInfo)
  case removeService(LocalAttributeID)
  case removeAllServices
  /// Answers a request. In the answer to a read, `value` is the attribute's value from the request's offset on.
  case respond(CentralRequestID, ATT.ErrorCode?, value: ByteSlice)
  /// Sends an updated value to these centrals; nil: to all subscribed centrals. The sender has taken one credit of
  /// `SessionCounters.updateCredits` for it.
  case update(LocalAttributeID, ByteSlice, [PeerHandle]?)
  case setConnectionLatency(ConnectionLatency, PeerHandle)
  /// Requests `link` for all links, as long as the session is open.
  case observeLinks
  /// Requests other properties of the link to a central, which `link` answers.
  case changeLink(PeerHandle, LinkRequest)
  /// Ends the link to a central, unless another session or the system uses the link. The session gets
  /// `centralDisconnected` in every case: after the link's end, or at once if the link stays.
  case disconnect(PeerHandle)
  case publishChannel(isEncrypted: Bool)
  case unpublishChannel(psm: UInt16)
  /// Answered by `barrierReached`; see `CentralCommand.barrier`.
  case barrier(UInt32)
  /// Asks the user to switch Bluetooth on if it is off; see `CentralCommand.askForPower`.
  case askForPower
}

/// An event from the daemon to an app's peripheral manager. A `ByteSlice` is valid only during the call: a client that
/// keeps it must copy it.
package enum PeripheralEvent: Sendable {
  /// The session continues a preserved one. The first event.
  indirect case restored(RestoredPeripheral)
  case stateChanged(AdapterState)
  case advertisingStarted(SessionError?)
  /// The answer to `startSet`; nil: the set advertises.
  case advertisingSetStarted(LocalSetID, SessionError?)
  /// The advertising of a set has ended without a request.
  case advertisingSetEnded(LocalSetID)
  /// An event of a link for a session that observes links: each link's properties when it is established, each change,
  /// and the reason for its end, before `centralDisconnected`.
  indirect case link(CentralInfo, LinkEvent)
  case serviceAdded(LocalAttributeID, SessionError?)
  /// A client has subscribed. A session that observes links also gets this event when a client changes from notifications
  /// to indications or back, or repeats the subscription that a bond has kept from an earlier link.
  case subscribed(CentralInfo, LocalAttributeID)
  case unsubscribed(CentralInfo, LocalAttributeID)
  /// The maximum length of an untruncated update to this central has changed. No callback.
  case maximumUpdateLengthChanged(CentralInfo)
  case readRequested(CentralRequestID, CentralInfo, LocalAttributeID, offset: Int)
  /// A write of all parts or none. The request is nil for a write without response.
  case writeRequested(CentralRequestID?, CentralInfo, [CentralWrite])
  /// The central has disconnected: its requests are void. No callback.
  case centralDisconnected(CentralInfo)
  case channelPublished(psm: UInt16, SessionError?)
  case channelUnpublished(psm: UInt16, SessionError?)
  /// A central has opened a channel that this session publishes.
  case channelOpened(CentralInfo, ChannelInfo)
  /// A credit is available again after the credits had run out.
  case readyToUpdate
  /// For a session that observes links: a central has confirmed an indication of a characteristic that has no
  /// notifications, or has unsubscribed before the indication was sent. No callback.
  case indicationConfirmed(CentralInfo, LocalAttributeID)
  /// The answer to `barrier`.
  case barrierReached(UInt32)
}

extension PeripheralEvent {
  /// The event without its octets; see `CentralEvent.withoutOctets`.
  package var withoutOctets: PeripheralEvent {
    if case .writeRequested(let request, let central, _) = self { return .writeRequested(request, central, []) }
    return self
  }
}

/// The receiver of a session's events; see `CentralClient`.
package protocol PeripheralClient: AnyObject, Sendable {
  func receive(_ event: PeripheralEvent)
  /// True if `receive` only queues events: the client then calls `Session.noteStateSeen` before it handles
  /// `stateChanged`.
  var queuesEvents: Bool { get }
}

extension PeripheralClient {
  package var queuesEvents: Bool { false }
}
