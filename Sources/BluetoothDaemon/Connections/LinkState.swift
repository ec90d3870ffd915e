import BluetoothHost
import BluetoothWire
import DequeModule

/// A link and all that ends with it.
struct LinkState {
  let link: Link
  let peer: PeerHandle
  var mtu: Int
  /// The host was told to end it.
  var isClosing = false
  /// Why the service ends it, for those who use it.
  var end: SessionError?
  /// What the user is asked about the pairing.
  var prompt: PromptID?
  /// True if a user, or an app of this device, has wanted the pairing that is under way.
  var isConfirmed = false

  /// The backlogs that have to be low before the controller takes data of the link again; see `holdIfFull`.
  var heldFor: [EventBacklog] = []

  // GATT client
  var database = RemoteDatabase()
  var discovery = DiscoveryQueue()
  var notifications = NotificationTable()
  var preparation = LinkPreparation()
  /// Requests of apps that wait for the peer.
  var openRequests = 0
  /// The sessions that wait for the signal level.
  var rssiReaders: [CentralSlot] = []

  var channels = LinkChannels()

  // GATT server
  /// Updates that wait for the controller or for a confirmation, in order.
  var updates = Deque<OutstandingUpdate>()

  init(link: Link, peer: PeerHandle, mtu: Int) {
    self.link = link
    self.peer = peer
    self.mtu = mtu
  }

  /// The longest write without response, and the longest update · Vol 3, Part F, 3.4.5.3, 3.4.7.1.
  /// Not more than an attribute can hold, which the longest MTU exceeds: a server ignores longer commands.
  var maximumValueLength: Int { min(ATT.maximumValueLength, max(ATT.defaultMTU, mtu) - 3) }
}
