import BluetoothWire

/// What a host tells the service above it.
package enum HostEvent: Sendable {
  /// The controller became usable, unusable, or failed.
  case powerChanged(PowerState)
  /// Something is wrong with the controller; for the log.
  case trouble(HostTrouble)
  /// Advertising began (nil) or could not.
  case advertisingStarted(HostError?)
  /// Advertising in limited discoverable mode has ended by itself.
  case advertisingEnded
  /// An advertising packet or a scan response was received.
  case advertisingReport(AdvertisingReport)
  /// A link exists, in either role.
  case connected(Link)
  /// A connection that this host asked for could not be made. (An attempt that waits for ever is not a failure.)
  case connectionFailed(DeviceAddress, HCI.ErrorCode)
  /// A link is gone. Every request on it that is still open gets no answer.
  case disconnected(HCI.ConnectionHandle, HCI.ErrorCode)
  /// The answer to `readRSSI`, dBm; 127: not available.
  case rssiRead(HCI.ConnectionHandle, Result<Int8, HostError>)
  /// The answer to `discoverName`; nil: it could not be read.
  case nameDiscovered(DeviceAddress, String?)
  /// Something of the GATT client or server on a link.
  case gatt(HCI.ConnectionHandle, GATTEvent)
  /// Something of the Security Manager of a link.
  // What is rare and large is kept aside: the size of all events is that of the largest.
  indirect case security(HCI.ConnectionHandle, SecurityEvent)
  /// What is kept of a bonded peer has changed: the counters of signatures. (New bonds come with `SecurityEvent.paired`.)
  indirect case bondChanged(Bond)
  /// Something of the credit based channels of a link.
  case channel(HCI.ConnectionHandle, ChannelEvent)
}

package enum PowerState: Hashable, Sendable {
  case off
  case starting
  case on
  /// There is no way to the controller now; it starts when there is one again.
  case unreachable
  /// There is no controller, or it has no Low Energy.
  case unsupported
}

package enum HostError: Error, Hashable, Sendable {
  /// The controller refused a command with this code.
  case controller(HCI.ErrorCode)
  /// The controller did not answer a command in time.
  case commandTimeout
  /// There is no such link (any more).
  case notConnected
  /// There is no room: too many links, or too many octets of advertising data.
  case outOfSpace
}

/// A connection as the host knows it.
package struct Link: Hashable, Sendable {
  package enum Role: UInt8, Hashable, Sendable {
    case central = 0
    case peripheral = 1
  }

  package var handle: HCI.ConnectionHandle
  package var role: Role
  package var peer: DeviceAddress

  package init(handle: HCI.ConnectionHandle, role: Role, peer: DeviceAddress) {
    self.handle = handle
    self.role = role
    self.peer = peer
  }
}

/// One advertising packet or scan response as the controller reported it.
package struct AdvertisingReport: Sendable {
  package var address: DeviceAddress
  package var isConnectable: Bool
  package var isScannable: Bool
  package var isScanResponse: Bool
  package var data: ByteSlice
  /// dBm; 127: not available.
  package var rssi: Int8
  /// The end of the data was lost, or is beyond 1,650 octets.
  package var isTruncated = false
  /// The Advertising SID, 0xFF where there is none; nil: a legacy PDU.
  package var advertisingSet: UInt8?

  package init(
    address: DeviceAddress, isConnectable: Bool, isScannable: Bool, isScanResponse: Bool, data: ByteSlice, rssi: Int8
  ) {
    self.address = address
    self.isConnectable = isConnectable
    self.isScannable = isScannable
    self.isScanResponse = isScanResponse
    self.data = data
    self.rssi = rssi
  }
}
