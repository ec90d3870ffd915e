import BluetoothHost
import BluetoothWire

extension GATTClientBroker {
  /// Notes that an app has begun to use a link.
  mutating func linkWasAdopted(_ link: DaemonLinkIndex, at now: Instant, _ context: inout DaemonContext) {
    context.host.noteUse(of: context.links[link].link.handle, at: now)
    awaitTurn(on: link, at: now, &context)
  }

  /// Starts the next step of background discovery on a link that an app uses.
  mutating func backgroundTurn(on link: DaemonLinkIndex, at now: Instant, _ context: inout DaemonContext) {
    guard context.isInUse(link) else { return }
    let database = context.database(of: link)
    guard
      let (step, task) = context.links[link].client.preparation.begin(database, context.links[link].client.discovery)
    else {
      return
    }
    switch task {
    case .discovery(let procedure):
      let connection = context.links[link].link.handle
      if let token = operations.token(of: procedure, on: connection) {
        // An app has requested the discovery already.
        context.host.setPriority(.background, of: [token], on: connection)
      } else {
        find(procedure, for: nil, on: link, at: now, &context)
      }
    case .request(let request): send(request, for: .preparation(step), of: nil, on: link, at: now, &context)
    }
  }

  /// Ends the running step of background discovery.
  mutating func endStep(on link: DaemonLinkIndex, at now: Instant, _ context: inout DaemonContext) {
    context.links[link].client.preparation.ended()
    awaitTurn(on: link, at: now, &context)
  }

  private mutating func awaitTurn(on link: DaemonLinkIndex, at now: Instant, _ context: inout DaemonContext) {
    guard context.links[link].client.preparation.isWaiting else { return }
    context.host.awaitBackgroundTurn(on: context.links[link].link.handle, at: now)
  }

  /// Handles the result of a step of background discovery.
  mutating func prepared(
    _ step: BackgroundDiscovery.Step, _ result: Result<GATTResponse, GATTError>, on link: DaemonLinkIndex,
    at now: Instant, _ context: inout DaemonContext
  ) {
    endStep(on: link, at: now, &context)
    guard step == .readName, case .success(.value(let value)) = result else { return }
    let name = String(received: value)
    guard !name.isEmpty else { return }
    let peer = context.links[link].peer
    guard context.peers.setDeviceName(name, of: peer) else { return }
    for user in context.peers[peer].users where user.phase == .connected {
      context.deliver(.nameChanged(peer, name), to: user.session)
    }
  }
}
