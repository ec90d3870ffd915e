import BluetoothWire

/// An event that a host reports to the upper layer.
package enum HostEvent: Sendable {
  /// The controller has become usable or unusable, or has failed.
  case powerChanged(PowerState)
  /// The controller misbehaves; for the log.
  case trouble(HostDiagnostic)
  /// Advertising has begun (nil), or has failed to begin.
  case advertisingStarted(HostError?)
  /// Advertising has ended without a request, such as at the end of limited discoverable mode.
  case advertisingEnded
  /// The answer to `startAdvertising(_:on:at:)`; nil: the set advertises with its parameters and data.
  case advertisingSetStarted(HCI.AdvertisingHandle, HostError?)
  /// The advertising of a set has ended without a request.
  case advertisingSetEnded(HCI.AdvertisingHandle)
  /// An event of a synchronization to a periodic train.
  indirect case synchronization(SyncID, SyncEvent)
  /// The controller has received an advertising packet or a scan response.
  case advertisingReport(AdvertisingReport)
  /// A link has been established, in either role.
  case connected(Link)
  /// A connection that this host requested could not be established. (Attempts have no timeout, so waiting is not a
  /// failure.)
  case connectionFailed(DeviceAddress, HCI.ErrorCode)
  /// A link has ended. Requests on it that are still open get no answer.
  case disconnected(HCI.ConnectionHandle, HCI.ErrorCode)
  /// The properties of a link have changed; only while `Host.reportsLinkChanges` is true.
  case linkChanged(HCI.ConnectionHandle)
  /// The answer to `changeLink`; nil: the request has succeeded.
  case linkRequestEnded(HCI.ConnectionHandle, HostError?)
  /// The answer to `readRSSI`, in dBm; 127: not available.
  case rssiRead(HCI.ConnectionHandle, Result<Int8, HostError>)
  /// The answer to `discoverName`; nil: the name could not be read.
  case nameDiscovered(DeviceAddress, String?)
  /// An event of the GATT client or the GATT server on a link.
  case gatt(HCI.ConnectionHandle, GATTEvent)
  /// An event of the Security Manager on a link.
  // Rare and large payloads are indirect: the largest payload determines the size of every event.
  indirect case security(HCI.ConnectionHandle, SecurityEvent)
  /// The stored data of a bonded peer have changed: the sign counters. (New bonds come with `SecurityEvent.paired`.)
  indirect case bondChanged(HostBond)
  /// An event of the credit based channels of a link.
  case channel(HCI.ConnectionHandle, ChannelEvent)
}

extension HCI.AdvertisingHandle {
  /// The main advertising set, for which the legacy commands serve, too.
  static let main = HCI.AdvertisingHandle(rawValue: 0)
}

package enum PowerState: Hashable, Sendable {
  case off
  case starting
  case on
  /// The transport to the controller is down; the host starts when it is up again.
  case unreachable
  /// There is no controller, or it does not support Low Energy.
  case unsupported
}

package enum HostError: Error, Hashable, Sendable {
  /// The controller refused a command with this error code.
  case controller(HCI.ErrorCode)
  /// The controller did not answer a command in time.
  case commandTimeout
  /// The link does not exist, or no longer exists.
  case notConnected
  /// A limit is exceeded: too many links, or too many octets of advertising data.
  case outOfSpace
  /// The controller, or the role of this device, has no such procedure.
  case notSupported
}

/// A connection in the host's view.
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
  /// The RSSI in dBm; 127: not available.
  package var rssi: Int8
  /// True if the end of the data was lost or is beyond 1,650 octets.
  package var isTruncated = false
  /// The Advertising SID, 0xFF if there is none; nil: a legacy PDU.
  package var advertisingSet: UInt8?
  package var isDirected = false
  /// 1: LE 1M, 3: LE Coded.
  package var primaryPHY: UInt8 = 1
  /// 0: no packet on the secondary channels; 1: LE 1M, 2: LE 2M, 3: LE Coded.
  package var secondaryPHY: UInt8 = 0
  /// The TxPower field of an extended PDU in dBm; 127: not available.
  package var transmitPower: Int8 = 127
  /// The interval of the set's periodic advertising in units of 1.25 ms; 0: none.
  package var periodicInterval: UInt16 = 0

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
