import BluetoothHost
import BluetoothWire

// The system keeps this state of a central manager's session when it terminates the app.
extension CentralBroker {
  /// Prepares a session to go on without its app, and returns its state. Links, attempts, the scan, subscriptions and
  /// requests go on. L2CAP channels end when the octets that the app had written have been sent, and synchronizations end
  /// at once, because only objects of the app's process can use them.
  mutating func preserve(
    _ session: CentralSessionID, at now: Instant, _ context: inout DaemonContext
  ) -> RestoredCentral {
    trains.stopAll(of: session, at: now, &context.host)
    var peers: [RestoredCentral.RestoredPeer] = []
    for peer in context.peers.handles {
      guard let index = context.peers[peer].userIndex(of: session) else { continue }
      if let link = context.links.index(of: peer) {
        context.links[link].channels.forgetOpenings(of: session)
      }
      if let restored = restoredPeer(context.peers[peer].users[index], peer, &context) { peers.append(restored) }
    }
    context.links.releaseChannels(of: .central(session))
    return RestoredCentral(peers: peers, scan: context.sessions.scanRequest(of: session))
  }

  /// Gives a preserved session the credits of the client that continues it.
  mutating func resume(_ session: CentralSessionID, _ counters: SessionCounters, _ peers: inout Peers) {
    for peer in peers.handles {
      guard let index = peers[peer].userIndex(of: session) else { continue }
      peers.setCredits(counters.writeCredits(for: peer), ofUser: index, of: peer)
    }
  }

  /// Returns a peer as the app knew it; nil: the app had cancelled the connection.
  private func restoredPeer(
    _ user: PeerUser, _ peer: PeerHandle, _ context: inout DaemonContext
  ) -> RestoredCentral.RestoredPeer? {
    var restored = RestoredCentral.RestoredPeer(info: context.peers[peer].info, reconnects: user.reconnects)
    switch user.phase {
    case .disconnecting(again: false): return nil
    case .delayed, .held, .connecting, .disconnecting(again: true): return restored
    case .connected: break
    }
    guard let link = context.links.index(of: peer) else { return restored }
    restored.maximumWriteLength = context.links[link].maximumValueLength
    restored.services = user.discoveredServices.map { known in
      restoredServices(known, for: user.session, on: link, &context)
    }
    return restored
  }

  private func restoredServices(
    _ known: Set<RemoteAttributeID>, for session: CentralSessionID, on link: DaemonLinkIndex,
    _ context: inout DaemonContext
  ) -> [RestoredCentral.Service] {
    let database = context.database(of: link)
    return known.sorted { $0.handle < $1.handle }.compactMap { id in
      guard let service = database.service(at: id.handle) else { return nil }
      let isPrimary = database.isPrimary(id.handle) ?? true
      var restored = RestoredCentral.Service(service: RemoteServiceInfo(service, isPrimary: isPrimary))
      restored.characteristics = database.characteristics(of: id.handle)?.map { characteristic in
        let notifications = context.links[link].client.notifications
        let entry = notifications.index(of: characteristic.value).map { notifications[$0] }
        return RestoredCentral.Characteristic(
          characteristic: RemoteCharacteristicInfo(characteristic),
          isNotifying: entry?.subscribers.contains(session) ?? false,
          descriptors: database.descriptors(ofValue: characteristic.value)?.map {
            RemoteDescriptorInfo(id: RemoteAttributeID($0.handle), uuid: $0.uuid)
          })
      }
      return restored
    }
  }
}
