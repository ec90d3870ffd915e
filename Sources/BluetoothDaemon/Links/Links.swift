import BluetoothHost
import BluetoothWire

/// The place of a link in `Links`, valid until a link is removed.
struct DaemonLinkIndex: Hashable {
  fileprivate let position: Int
}

/// A link, with the state of each part of the daemon that ends with it.
struct LinkState {
  let link: Link
  let peer: PeerHandle
  private var mtu: Int
  /// True if the daemon has asked the host to end the link.
  fileprivate(set) var isClosing = false
  /// The reason for the link's end, reported to the sessions that use it; nil: the daemon has not ended it with an
  /// error.
  fileprivate(set) var end: SessionError?
  /// The time of the latest request, value or channel data.
  fileprivate var lastTraffic: Instant
  /// The backlogs that must be low before the controller accepts data of the link again; see `holdIfFull`.
  fileprivate(set) var heldFor: [EventBacklog] = []

  /// The part of the `GATTClientBroker`.
  var client = ClientLink()
  /// The part of the `PeripheralBroker`.
  var server = ServedLink()
  /// The part of the `ChannelBroker`.
  var channels = LinkChannels()
  /// The part of the reports about links.
  var observed = ObservedLink()
  /// The part of the events about connections of others.
  var watch = ConnectionWatch()

  fileprivate init(link: Link, peer: PeerHandle, mtu: Int, at now: Instant) {
    self.link = link
    self.peer = peer
    self.mtu = mtu
    lastTraffic = now
  }

  /// The maximum length of a write without response, and of an update · Vol 3, Part F, 3.4.5.3, 3.4.7.1. It never
  /// exceeds the maximum length of an attribute, as the longest MTU does: a server ignores longer commands.
  var maximumValueLength: Int { min(ATT.maximumValueLength, max(ATT.defaultMTU, mtu) - 3) }

  mutating func setMTU(_ mtu: Int) { self.mtu = mtu }

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

/// The links of the adapter, in the order in which they were established.
struct Links {
  private(set) var all: [LinkState] = []
  /// True while a link is held.
  private(set) var holdsLinks = false
  /// True if the result of `takeHeldLinks` has changed.
  private(set) var heldLinksChanged = false

  var indices: some Sequence<DaemonLinkIndex> { all.indices.lazy.map { DaemonLinkIndex(position: $0) } }

  subscript(link: DaemonLinkIndex) -> LinkState {
    @inline(__always) get { all[link.position] }
    _modify { yield &all[link.position] }
  }

  // By index: the closure of `firstIndex` would get copies of whole links.

  /// Returns the link with this handle.
  func index(of connection: HCI.ConnectionHandle) -> DaemonLinkIndex? {
    for position in all.indices where all[position].link.handle == connection {
      return DaemonLinkIndex(position: position)
    }
    return nil
  }

  /// Returns the link to this peer.
  func index(of peer: PeerHandle) -> DaemonLinkIndex? {
    for position in all.indices where all[position].peer == peer { return DaemonLinkIndex(position: position) }
    return nil
  }

  /// The number of links to peripherals.
  var centralLinkCount: Int { all.indices.count { all[$0].link.role == .central } }

  /// Adds a link and returns its place.
  mutating func add(_ link: Link, to peer: PeerHandle, mtu: Int, at now: Instant) -> DaemonLinkIndex {
    all.append(LinkState(link: link, peer: peer, mtu: mtu, at: now))
    return DaemonLinkIndex(position: all.count - 1)
  }

  mutating func remove(_ link: DaemonLinkIndex) -> LinkState {
    if !all[link.position].heldFor.isEmpty { heldLinksChanged = true }
    return all.remove(at: link.position)
  }

  mutating func removeAll() {
    if holdsLinks { heldLinksChanged = true }
    all.removeAll()
  }

  // MARK: End

  /// Ends a link that no session uses any more.
  mutating func end(_ link: DaemonLinkIndex, at now: Instant, _ host: inout Host) {
    guard !all[link.position].isClosing else { return }
    all[link.position].isClosing = true
    host.disconnect(all[link.position].link.handle, at: now)
  }

  /// Ends a link with an error for the sessions that use it. Only the first reason is reported.
  mutating func end(_ link: DaemonLinkIndex, because error: SessionError, at now: Instant, _ host: inout Host) {
    guard all[link.position].end == nil else { return }
    all[link.position].end = error
    all[link.position].isClosing = true
    host.disconnect(all[link.position].link.handle, at: now)
  }

  /// Ends a link whose bond no longer exists, whatever else has ended it.
  mutating func endWithBond(_ link: DaemonLinkIndex, at now: Instant, _ host: inout Host) {
    all[link.position].end = nil
    end(link, because: .link(.connectionTerminatedByLocalHost), at: now, &host)
  }

  // MARK: Time

  /// Notes a request, a value or data of a channel.
  mutating func noteTraffic(on link: DaemonLinkIndex, at now: Instant) { all[link.position].lastTraffic = now }

  /// The earliest time at which a link has been idle for too long; nil: none will be.
  ///
  /// - Parameter devices: the peers whose links the system keeps.
  func idleDeadline(_ timeout: Duration, sparing devices: InputDevices) -> Instant? {
    var result: Instant?
    for position in all.indices where !all[position].isClosing && !devices.wants(all[position].peer) {
      result = earliest(result, all[position].lastTraffic + TimeSpan(timeout))
    }
    return result
  }

  /// Returns true if a link has been idle for too long.
  func isIdle(_ link: DaemonLinkIndex, _ timeout: Duration, at now: Instant) -> Bool {
    !all[link.position].isClosing && all[link.position].lastTraffic + TimeSpan(timeout) <= now
  }

  /// The earliest time at which a closed channel ends on any link; nil: none.
  var channelDeadline: Instant? {
    var result: Instant?
    for position in all.indices { result = earliest(result, all[position].channels.deadline) }
    return result
  }

  // MARK: Flow control

  /// Returns the links from which the controller must accept no data now.
  mutating func takeHeldLinks() -> [HCI.ConnectionHandle] {
    heldLinksChanged = false
    return indices.filter { !self[$0].heldFor.isEmpty }.map { self[$0].link.handle }
  }

  /// Holds a link until a backlog is low, unless the link is held for it already.
  mutating func hold(_ link: DaemonLinkIndex, for backlog: EventBacklog) {
    guard !all[link.position].heldFor.contains(where: { $0 === backlog }), backlog.awaitLow() else { return }
    all[link.position].heldFor.append(backlog)
    holdsLinks = true
    heldLinksChanged = true
  }

  /// Releases the links whose apps have caught up.
  mutating func releaseReady() {
    // A backlog that has grown again since it woke the daemon must wake it once more.
    if holdsLinks { release { _, backlog in !backlog.awaitLow() } }
  }

  /// Releases the links for which a function returns true of a backlog.
  mutating func release(where isReady: (DaemonLinkIndex, EventBacklog) -> Bool) {
    holdsLinks = false
    for link in indices where !self[link].heldFor.isEmpty {
      all[link.position].heldFor.removeAll { isReady(link, $0) }
      if self[link].heldFor.isEmpty { heldLinksChanged = true } else { holdsLinks = true }
    }
  }

  // MARK: Channels

  /// Closes the channels of a terminated app as the app itself would: the octets that it has written are sent before.
  func releaseChannels(of owner: AnySession) {
    for link in indices {
      for entry in self[link].channels.entries where entry.owner == owner { entry.pipe.close() }
    }
  }
}
