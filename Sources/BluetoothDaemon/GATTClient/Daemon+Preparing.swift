import BluetoothHost
import BluetoothWire

extension Daemon {
  /// Starts the next step of background discovery on a link that an app uses, if the step is due.
  mutating func advancePreparation(of link: Int, at now: Instant) {
    let openRequests = links[link].openRequests
    guard links[link].preparation.isDue(openRequests: openRequests, at: now), isInUse(link) else { return }
    let database = links[link].database
    guard let (step, task) = links[link].preparation.begin(database) else { return }
    switch task {
    case .discovery(let procedure): find(procedure, on: link, at: now)
    case .request(let request): send(request, for: .preparation(step), on: link, at: now)
    }
  }

  /// The time when the next step of background discovery is due on any link; nil: none.
  var preparationDeadline: Instant? {
    // Read in place: see `deadline`.
    mutating get {
      var result: Instant?
      for link in links.indices {
        let openRequests = links[link].openRequests
        guard let deadline = links[link].preparation.deadline(openRequests: openRequests), isInUse(link) else {
          continue
        }
        result = earliest(result, deadline)
      }
      return result
    }
  }

  mutating func advancePreparations(at now: Instant) {
    for link in links.indices { advancePreparation(of: link, at: now) }
  }

  private func isInUse(_ link: Int) -> Bool {
    !links[link].isClosing && peers[links[link].peer].users.contains { $0.phase == .connected }
  }

  mutating func prepared(
    _ step: BackgroundDiscovery.Step, _ result: Result<GATTResponse, GATTError>, on link: Int
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
