// Design: the check of each request
//
// A request reaches a broker with a `SessionLink`, which only `DaemonContext.link` makes after it has checked that the
// session uses the link. `SharedResource` has what users share, and `DaemonContext.mayTake` is the one check of all
// shares.

import BluetoothHost
import BluetoothWire

/// A link that a session uses. Only `DaemonContext` makes one, from the handle in a request, so that no request reaches
/// a broker with the link of another app.
struct SessionLink<Role: SessionRole> {
  let index: DaemonLinkIndex
  let session: SessionID<Role>

  fileprivate init(_ index: DaemonLinkIndex, _ session: SessionID<Role>) {
    self.index = index
    self.session = session
  }
}

extension DaemonContext {
  /// Returns the link over which a session may use `peer`; nil: the session is not connected to the peer. The daemon
  /// then drops the session's commands for the peer, as the session's client does.
  func link(to peer: PeerHandle, for session: CentralSessionID) -> SessionLink<CentralRole>? {
    guard peers.contains(peer), let user = peers[peer].userIndex(of: session),
      peers[peer].users[user].phase == .connected
    else { return nil }
    return links.index(of: peer).map { SessionLink($0, session) }
  }

  /// Returns the link over which a session serves `central`; nil: the central has not used an attribute or a channel of
  /// the session, and another app serves centrals, or a central manager of another app uses the link.
  func link(to central: PeerHandle, for session: PeripheralSessionID) -> SessionLink<PeripheralRole>? {
    guard peers.contains(central), let link = links.index(of: central),
      let client = sessions.client(of: .peripheral(session)),
      links[link].server.isUsed(of: session) || !isServedByOthers(than: client),
      !isUsedByOthers(link, than: client)
    else { return nil }
    return SessionLink(link, session)
  }

  // MARK: Clients

  /// True if a central manager of another client uses the link, or the system does.
  private func isUsedByOthers(_ link: DaemonLinkIndex, than client: SessionClient) -> Bool {
    let peer = links[link].peer
    if inputDevices.wants(peer) { return true }
    return peers[peer].users.contains { user in
      user.phase == .connected
        && sessions.client(of: .central(user.session)).map { client.differs(from: $0, shares) } ?? false
    }
  }

  /// True if another client has a peripheral manager and may use Bluetooth.
  private func isServedByOthers(than client: SessionClient) -> Bool {
    sessions.peripherals.values.contains { peripheral in
      guard let session = peripheral?.session, !(session.app.map { apps[$0].isDenied } ?? false) else { return false }
      return client.differs(from: session.client, shares)
    }
  }

  /// True if others than a client depend on the link, and must not wait for that client.
  func isShared(_ link: DaemonLinkIndex, beside client: SessionClient) -> Bool {
    isUsedByOthers(link, than: client) || links[link].link.role == .peripheral && isServedByOthers(than: client)
  }
}
