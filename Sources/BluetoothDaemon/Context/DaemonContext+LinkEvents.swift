import BluetoothHost
import BluetoothWire

/// Reports about links for the sessions that observe theirs.
extension DaemonContext {
  /// Starts the reports to a session. A session of a peripheral manager gets reports about all links.
  mutating func observeLinks(for session: AnySession) {
    sessions.observeLinks(session)
    host.reportsLinkChanges = true
    guard case .peripheral(let session) = session else { return }
    for link in links.indices {
      guard let info = linkInfo(of: link) else { continue }
      links[link].observed.noteReport(info)
      report(info, of: link, to: session)
    }
  }

  /// Gives a request to the host, or queues it. A session with too many requests gets an error.
  mutating func request(
    _ request: LinkRequest, on link: DaemonLinkIndex, for requester: AnySession, at now: Instant
  ) {
    guard !links[link].observed.requests.isFull(for: requester) else {
      return reportEnd(of: request, .outOfSpace, on: link, to: requester)
    }
    guard links[link].observed.requests.append(request, of: requester) else { return }
    host.changeLink(links[link].link.handle, request, at: now)
  }

  /// Reports the end of a request to the session that has made it.
  mutating func reportEnd(
    of request: LinkRequest, _ error: SessionError?, on link: DaemonLinkIndex, to requester: AnySession
  ) {
    let event = LinkEvent.requestEnded(request.kind, error)
    switch requester {
    case .central(let session): report(event, of: links[link].peer, to: session)
    case .peripheral(let session): deliver(.link(centralInfo(of: link), event), to: session)
    }
  }

  /// Reports on a link to a session, if the session observes its links.
  mutating func report(_ event: LinkEvent, of peer: PeerHandle, to session: CentralSessionID) {
    if sessions.observesLinks(session) { deliver(.link(peer, event), to: session) }
  }

  /// Returns the properties of a link; nil: the host does not have it any more.
  func linkInfo(of link: DaemonLinkIndex) -> LinkInfo? {
    let handle = links[link].link.handle
    return host.properties(of: handle).map {
      LinkInfo(properties: $0, mtu: host.mtu(of: handle), security: host.security(of: handle))
    }
  }

  /// Reports the properties of a new link to the sessions of peripheral managers that observe links.
  mutating func reportToPeripherals(newLink connection: HCI.ConnectionHandle) {
    guard host.reportsLinkChanges, sessions.peripherals.values.contains(where: { $0?.session.observesLinks == true }),
      let link = links.index(of: connection), let info = linkInfo(of: link)
    else { return }
    links[link].observed.noteReport(info)
    reportToPeripherals(info, of: link)
  }

  private mutating func reportToPeripherals(_ info: LinkInfo, of link: DaemonLinkIndex) {
    for session in sessions.observingPeripherals { report(info, of: link, to: session) }
  }

  /// Reports the properties of a link to a session, unless the session has too many events and has not heard of the
  /// link.
  private mutating func report(_ info: LinkInfo, of link: DaemonLinkIndex, to session: PeripheralSessionID) {
    guard links[link].server.isKnown(to: session) || sessions.counters(of: session)?.backlog.isFull == false else {
      return
    }
    links[link].server.noteEvent(for: session)
    deliver(.link(centralInfo(of: link), .changed(info)), to: session)
  }

  /// Reports the properties of a link to the sessions that use it, if the properties have changed.
  mutating func reportChanges(of link: DaemonLinkIndex) {
    guard let reported = links[link].observed.reported, let info = linkInfo(of: link), info != reported else { return }
    links[link].observed.noteReport(info)
    let peer = links[link].peer
    for user in peers[peer].users where user.phase == .connected { report(.changed(info), of: peer, to: user.session) }
    reportToPeripherals(info, of: link)
  }
}
