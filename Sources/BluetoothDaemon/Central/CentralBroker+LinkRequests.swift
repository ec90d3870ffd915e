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
    guard context.links[link].requests.append(request, of: session) else { return }
    context.host.changeLink(context.links[link].link.handle, request, at: now)
  }

  /// Reports the end of the request in progress, and starts the next one.
  mutating func linkRequestEnded(
    _ error: HostError?, on link: LinkIndex, at now: Instant, _ context: inout DaemonContext
  ) {
    guard let ended = context.links[link].requests.removeFirst() else { return }
    if let session = ended.session {
      let report = LinkEvent.requestEnded(ended.request.kind, error.map { SessionError($0) })
      context.report(report, of: context.links[link].peer, to: session)
    }
    guard let next = context.links[link].requests.first else { return }
    context.host.changeLink(context.links[link].link.handle, next, at: now)
  }
}
