import BluetoothHost
import BluetoothWire

extension GATTClientBroker {
  /// Starts the next step of background discovery on a link that an app uses, if the step is due.
  mutating func advancePreparation(of link: LinkIndex, at now: Instant, _ context: inout DaemonContext) {
    let openRequests = context.links[link].openRequests
    guard context.links[link].preparation.isDue(openRequests: openRequests, at: now), context.isInUse(link) else {
      return
    }
    let database = context.links[link].database
    guard let (step, task) = context.links[link].preparation.begin(database) else { return }
    switch task {
    case .discovery(let procedure): find(procedure, on: link, at: now, &context)
    case .request(let request): send(request, for: .preparation(step), on: link, at: now, &context)
    }
  }

  /// Starts the steps that are due on all links.
  mutating func advancePreparations(at now: Instant, _ context: inout DaemonContext) {
    for link in context.links.indices { advancePreparation(of: link, at: now, &context) }
  }

  /// Handles the result of a step of background discovery.
  mutating func prepared(
    _ step: BackgroundDiscovery.Step, _ result: Result<GATTResponse, GATTError>, on link: LinkIndex,
    _ context: inout DaemonContext
  ) {
    context.links[link].preparation.ended()
    guard step == .readName, case .success(.value(let value)) = result,
      let name = value.withUnsafeBytes({ String(validating: $0, as: UTF8.self) }), !name.isEmpty
    else { return }
    let peer = context.links[link].peer
    context.peers[peer].hasDeviceName = true
    guard context.peers.setName(name, of: peer) else { return }
    for user in context.peers[peer].users where user.phase == .connected {
      context.deliver(.nameChanged(peer, name), to: user.session)
    }
  }
}
