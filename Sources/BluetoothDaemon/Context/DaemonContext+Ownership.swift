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
  let index: LinkIndex
  let session: SessionID<Role>

  fileprivate init(_ index: LinkIndex, _ session: SessionID<Role>) {
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
    guard peers.contains(central), let link = links.index(of: central), let client = client(of: .peripheral(session)),
      links[link].server.isUsed(of: session) || !isServedByOthers(than: client),
      !isUsedByOthers(link, than: client)
    else { return nil }
    return SessionLink(link, session)
  }

  // MARK: Clients

  /// The client of a session, for comparisons: the sessions of one app are one client.
  struct Client {
    let backlog: EventBacklog
    let app: AppIndex?
  }

  /// Returns the client of a session; nil: the session is closed.
  func client(of session: AnySession) -> Client? {
    sessions[session].map { Client(backlog: $0.counters.backlog, app: $0.app) }
  }

  /// Returns the client whose session has this backlog; nil: the session is closed.
  func client(with backlog: EventBacklog) -> Client? {
    let session = sessions.all.first { $0.session.counters.backlog === backlog }?.session
    return session.map { Client(backlog: backlog, app: $0.app) }
  }

  /// Returns true if two sessions belong to different clients. The sessions without an app belong to one client, unless
  /// several programs share the adapter.
  private func areDifferent(_ client: Client, _ other: Client) -> Bool {
    guard client.backlog !== other.backlog else { return false }
    return client.app != other.app || client.app == nil && shares.hasSeveralPrograms
  }

  /// True if a central manager of another client uses the link, or the system does.
  private func isUsedByOthers(_ link: LinkIndex, than client: Client) -> Bool {
    let peer = links[link].peer
    if inputDevices.wants(peer) { return true }
    return peers[peer].users.contains { user in
      user.phase == .connected && self.client(of: .central(user.session)).map { areDifferent(client, $0) } ?? false
    }
  }

  /// True if another client has a peripheral manager and may use Bluetooth.
  private func isServedByOthers(than client: Client) -> Bool {
    sessions.peripherals.values.contains { peripheral in
      guard let session = peripheral?.session, !(session.app.map { apps[$0].isDenied } ?? false) else { return false }
      return areDifferent(client, Client(backlog: session.counters.backlog, app: session.app))
    }
  }

  /// True if others than a client depend on the link, and must not wait for that client.
  func isShared(_ link: LinkIndex, beside client: Client) -> Bool {
    isUsedByOthers(link, than: client) || links[link].link.role == .peripheral && isServedByOthers(than: client)
  }
}
