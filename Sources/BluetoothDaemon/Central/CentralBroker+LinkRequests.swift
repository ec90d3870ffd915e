import BluetoothHost
import BluetoothWire

/// Requests of sessions for other properties of a link.
extension CentralBroker {
  /// Requests other properties of a link.
  mutating func changeLink(
    _ request: LinkRequest, of used: SessionLink<CentralRole>, at now: Instant, _ context: inout DaemonContext
  ) {
    let (link, session) = (used.index, used.session)
    // A session that uses the peer as peripheral waits for new parameters; the peer, as central, may only agree to some.
    if case .connectionParameters = request, context.links[link].link.role == .peripheral {
      return context.report(.requestEnded(request.kind, .notSupported), of: context.links[link].peer, to: session)
    }
    context.request(request, on: link, for: .central(session), at: now)
  }

  /// Reports the end of the request in progress, and starts the next one.
  mutating func linkRequestEnded(
    _ error: HostError?, on link: DaemonLinkIndex, at now: Instant, _ context: inout DaemonContext
  ) {
    guard let ended = context.links[link].observed.requests.removeFirst() else { return }
    if let requester = ended.requester {
      context.reportEnd(of: ended.request, error.map { SessionError($0) }, on: link, to: requester)
    }
    guard let next = context.links[link].observed.requests.first else { return }
    context.host.changeLink(context.links[link].link.handle, next, at: now)
  }
}
