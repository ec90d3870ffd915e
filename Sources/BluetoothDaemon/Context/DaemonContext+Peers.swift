import BluetoothHost
import BluetoothWire
import DequeModule

// Room in the table of peers. A peer that a link, a session, an event or an object of an app names stays.
extension DaemonContext {
  /// Returns the peer with `address`, which has been heard or is used; nil if so many are in use that there is no room.
  mutating func enter(_ address: DeviceAddress, isLinked: Bool = false) -> PeerHandle? {
    if let known = peers.hear(address) { return known }
    if peers.isFull {
      limitNotes.note("\(Peers.limit) devices are known: those not heard for the longest time are forgotten")
      forget(Array(peers.idle(sparing: namedPeers).prefix(Peers.evictionCount)))
    }
    return peers.enter(address, isLinked: isLinked)
  }

  /// Makes a device a peer for a client that knows it from before. Each user has a share of such peers, and only takes
  /// the place of their own ones.
  mutating func introduce(_ address: DeviceAddress, for user: ClientUser) {
    guard peers.handle(of: address) == nil else { return }
    if peers.introductionCount(of: user) >= Peers.introductionLimit {
      limitNotes.note(
        "\(user): \(Peers.introductionLimit) devices are introduced and not heard: the oldest ones are forgotten")
      let idle = peers.idle(sparing: namedPeers, introducedBy: user)
      // All are in use. The limits of connections bound their number.
      guard !idle.isEmpty else { return }
      forget(Array(idle.prefix((idle.count + 1) / 2)))
    }
    _ = peers.enter(address, introducer: user)
  }

  /// Forgets peers that nothing uses, with what is known of them.
  private mutating func forget(_ forgotten: [PeerHandle]) {
    guard !forgotten.isEmpty else { return }
    for handle in forgotten { host.forgetRemoteDatabase(of: peers[handle].address) }
    peers.remove(forgotten)
    let handles = Set(forgotten)
    sessions.forget(handles)
    for app in apps.indices { apps[app].events.forget(handles) }
  }

  /// The peers that something other than a use by a session names.
  private var namedPeers: Set<PeerHandle> {
    var named = Set(links.all.map(\.peer)).union(inputDevices.peers).union(peers.awaitingNotifications)
    named.formUnion(directory.heldPeers)
    named.formUnion(directory.bondedPeers.map(\.peer.handle))
    for central in sessions.centrals.values { named.formUnion(central?.restored?.peers.map(\.info.handle) ?? []) }
    for event in events {
      switch event {
      case .central(_, let event): if let peer = event.peer { named.insert(peer) }
      case .peripheral(_, let event): if let peer = event.peer { named.insert(peer) }
      case .channel, .app, .system: break
      }
    }
    for app in apps.indices { named.formUnion(apps[app].events.peers) }
    named.formUnion(alerts.peers)
    return named
  }
}
