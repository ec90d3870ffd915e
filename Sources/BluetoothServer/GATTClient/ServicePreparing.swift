import BluetoothHost
import BluetoothWire

extension Service {
  /// Does the next of the system's own steps on a link that an app uses, if it is its turn.
  mutating func advancePreparation(of link: Int, at now: Instant) {
    guard links[link].preparation.isDue(openRequests: links[link].openRequests), links[link].isInUse(peers) else {
      return
    }
    let database = links[link].database
    guard let (step, task) = links[link].preparation.begin(database) else { return }
    switch task {
    case .discovery(let procedure): find(procedure, on: link, at: now)
    case .request(let request): send(request, for: .preparation(step), on: link, at: now)
    }
  }

  mutating func prepared(
    _ step: LinkPreparation.Step, _ result: Result<GATTResponse, GATTError>, on link: Int
  ) {
    links[link].preparation.ended()
    guard step == .readName, case .success(.value(let value)) = result,
      let name = value.withUnsafeBytes({ String(validating: $0, as: UTF8.self) }), !name.isEmpty
    else { return }
    let peer = links[link].peer
    peers[peer].hasDeviceName = true
    guard peers.setName(name, of: peer) else { return }
    for user in peers[peer].users where user.phase == .connected {
      deliver(.nameChanged(peer, name), to: user.session)
    }
  }
}

extension LinkState {
  fileprivate func isInUse(_ peers: PeerTable) -> Bool {
    !isClosing && peers[peer].users.contains { $0.phase == .connected }
  }
}
