import BluetoothHost
import BluetoothWire
import DequeModule

/// A link, with all state that ends with it.
struct LinkState {
  let link: Link
  let peer: PeerHandle
  var mtu: Int
  /// True if the daemon has asked the host to end the link.
  var isClosing = false
  /// The reason for the link's end, reported to the sessions that use it; nil: the daemon has not ended it with an
  /// error.
  var end: SessionError?
  /// The time of the latest request, value or channel data.
  var lastTraffic = Instant.zero
  /// The open question to the user about pairing.
  var prompt: PromptID?
  /// True if a user, or an app of this device, wants the pairing in progress.
  var isConfirmed = false
  /// The user whose app has requested the pairing in progress, if a fixed rule answers the questions; nil: none.
  var requester: ClientUser?
  /// True if a session that requires notifications for the peer has caused pairing on this link.
  var hasDemandedSecurity = false

  /// The services for which the directory lists the link; nil: it does not list the link.
  var publishedServices: [BluetoothUUID]?
  /// The sessions that registered for events about the link, and get one about its end.
  var eventReceivers: [CentralSessionID] = []

  /// The backlogs that must be low before the controller accepts data of the link again; see `holdIfFull`.
  var heldFor: [EventBacklog] = []

  // GATT client
  var discovery = DiscoveryQueue()
  var notifications = NotificationTable()
  var preparation = BackgroundDiscovery()
  /// The sessions that wait for the RSSI.
  var rssiReaders: [CentralSessionID] = []

  var channels = LinkChannels()

  /// The properties that sessions know; nil: no session observes its links.
  var reported: LinkInfo?
  var requests = LinkRequestQueue()

  // GATT server
  /// The sessions that have had an event about the central on this link; true: the central has used an attribute or a
  /// channel of the session.
  var knownTo: [PeripheralSessionID: Bool] = [:]
  /// The updates that wait for the controller or for a confirmation, in order.
  var updates = Deque<OutstandingUpdate>()

  init(link: Link, peer: PeerHandle, mtu: Int) {
    self.link = link
    self.peer = peer
    self.mtu = mtu
  }

  /// The maximum length of a write without response, and of an update · Vol 3, Part F, 3.4.5.3, 3.4.7.1. It never
  /// exceeds the maximum length of an attribute, as the longest MTU does: a server ignores longer commands.
  var maximumValueLength: Int { min(ATT.maximumValueLength, max(ATT.defaultMTU, mtu) - 3) }

  /// Returns the reason of the link's end for the apps at this end of its channels.
  func channelEnd(after reason: HCI.ErrorCode) -> ChannelEnd {
    if let end { return .lost(end) }
    switch reason {
    case .connectionTerminatedByLocalHost: return isClosing ? .closed : .lost(.timeout)
    case .remoteUserTerminatedConnection, .remoteDeviceTerminatedLowResources, .remoteDeviceTerminatedPowerOff:
      return .closed
    default: return .lost(.link(reason))
    }
  }
}
