import BluetoothWire

// Reports for the system's user: the uses of peers.
extension DaemonContext {
  /// Returns the peers that have a link or that sessions want to connect to, in the order of their handles.
  mutating func peerUsages() -> [PeerUsage] {
    var reports: [PeerUsage] = []
    for handle in peers.handles {
      let link = links.index(of: handle)
      guard link != nil || !peers[handle].users.isEmpty else { continue }
      let peer = peers[handle]
      reports.append(
        PeerUsage(
          identifier: peer.info.identifier, address: peer.address, name: peer.info.name, isLinked: link != nil,
          isEnding: link.map { links[$0].isClosing } ?? false, users: peer.users.map { report(of: $0, on: link) }))
    }
    return reports
  }

  private func report(of user: PeerUser, on link: LinkIndex?) -> PeerUsage.User {
    let central = centrals.index(of: user.session.key).flatMap { centrals.values[$0] }
    let phase: PeerUsage.Phase =
      switch user.phase {
      case .delayed: .delayed
      case .connecting: .connecting
      case .connected: .connected
      case .disconnecting: .disconnecting
      }
    let isBlocked = link.map { link in links[link].heldFor.contains { $0 === central?.counters.backlog } } ?? false
    return PeerUsage.User(
      app: central?.app.map { apps[$0].name }, phase: phase, isPreserved: central?.preservation.isPreserved ?? false,
      reconnects: user.reconnects, isBlocked: isBlocked)
  }
}
