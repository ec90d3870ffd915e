import BluetoothHost
import BluetoothWire

/// Requests of sessions for other properties of a link.
extension CentralBroker {
  /// Requests other properties of the link to `peer`.
  mutating func changeLink(
    _ request: LinkRequest, to peer: PeerHandle, for session: CentralSessionID, at now: Instant,
    _ context: inout DaemonContext
  ) {
    guard let link = context.usedLink(of: peer, by: session) else { return }
    // A session that uses the peer as peripheral waits for new parameters; the peer, as central, may only agree to some.
    if case .connectionParameters = request, context.links[link].link.role == .peripheral {
      return context.report(.requestEnded(request.kind, .notSupported), of: peer, to: session)
    }
    context.request(request, on: link, for: .central(session), at: now)
  }

  /// Reports the end of the request in progress, and starts the next one.
  mutating func linkRequestEnded(
    _ error: HostError?, on link: LinkIndex, at now: Instant, _ context: inout DaemonContext
  ) {
    guard let ended = context.links[link].requests.removeFirst() else { return }
    let report = LinkEvent.requestEnded(ended.request.kind, error.map { SessionError($0) })
    switch ended.requester {
    case .central(let session): context.report(report, of: context.links[link].peer, to: session)
    case .peripheral(let session): context.deliver(.link(context.centralInfo(of: link), report), to: session)
    case nil: break
    }
    guard let next = context.links[link].requests.first else { return }
    context.host.changeLink(context.links[link].link.handle, next, at: now)
  }
}
