import BluetoothHost
import BluetoothWire

// Reports for the system's user: the uses of peers.
extension Daemon {
  /// Returns the peers that have a link or that sessions want to connect to, in the order of their handles.
  mutating func peerUsages(at now: Instant) -> [PeerUsage] {
    var reports: [PeerUsage] = []
    for handle in context.peers.handles {
      let link = context.links.index(of: handle)
      let peer = context.peers[handle]
      guard link != nil || !peer.users.isEmpty else { continue }
      var usage = PeerUsage(
        identifier: peer.info.identifier, address: peer.address, name: peer.info.name, isLinked: link != nil,
        isEnding: link.map { context.links[$0].isClosing } ?? false, users: [])
      for user in peer.users { usage.users.append(report(of: user, on: link, at: now)) }
      if let link { usage.served = served(on: link, at: now) }
      reports.append(usage)
    }
    return reports
  }

  private mutating func report(of user: PeerUser, on link: DaemonLinkIndex?, at now: Instant) -> PeerUsage.User {
    let central = context.sessions[.central(user.session)]
    let phase: PeerUsage.Phase =
      switch user.phase {
      case .delayed, .held: .delayed
      case .connecting: .connecting
      case .connected: .connected
      case .disconnecting: .disconnecting
      }
    var isBlocked = false
    if let link { isBlocked = context.links[link].heldFor.contains { $0 === central?.counters.backlog } }
    var report = PeerUsage.User(
      app: central?.app.map { context.apps[$0].name }, phase: phase,
      isPreserved: central?.preservation.isPreserved ?? false, reconnects: user.reconnects, isBlocked: isBlocked)
    if let link { report.pending = pending(of: user.session, on: link, at: now) }
    return report
  }

  /// Returns the oldest procedures on a link whose results a session waits for.
  private mutating func pending(
    of session: CentralSessionID, on link: DaemonLinkIndex, at now: Instant
  ) -> [PeerUsage.Pending] {
    let connection = context.links[link].link.handle
    let discovery = context.links[link].client.discovery
    let database = context.database(of: link)
    let entries = centrals.gattClient.operations.entries(on: connection).compactMap { entry -> PeerUsage.Pending? in
      let age = PeerUsage.Pending.age(since: entry.since, at: now)
      switch entry.operation {
      case .read(session, let attribute):
        return .init(.read, of: database.uuid(of: attribute.handle), milliseconds: age)
      case .write(session, let attribute):
        return .init(.write, of: database.uuid(of: attribute.handle), milliseconds: age)
      case .writeWithoutResponse(session, _): return .init(.writeWithoutResponse, of: nil, milliseconds: age)
      case .discovery(let procedure) where discovery.isAwaited(procedure, by: session):
        return .init(.discovery, of: nil, milliseconds: age)
      default: return nil
      }
    }
    return entries.oldest
  }

  /// Returns the apps whose services the peer uses over a link.
  private func served(on link: DaemonLinkIndex, at now: Instant) -> [PeerUsage.Served] {
    let connection = context.links[link].link.handle
    var result: [PeerUsage.Served] = []
    for (session, use) in peripherals.uses(by: connection, at: now) {
      let app = context.sessions.owner(of: session)
      let name = app.map { context.apps[$0].name }
      if let index = result.firstIndex(where: { $0.app == name }) {
        result[index].subscriptions += use.subscriptions
        result[index].pending = (result[index].pending + use.pending).oldest
      } else {
        result.append(PeerUsage.Served(app: name, subscriptions: use.subscriptions, pending: use.pending.oldest))
      }
    }
    return result
  }
}

extension PeerUsage.Pending {
  /// The maximum number of procedures of one app in a report.
  fileprivate static let maximumCount = 16

  /// Returns the time since the beginning of a procedure in milliseconds.
  static func age(since: Instant, at now: Instant) -> UInt32 {
    UInt32(clamping: (now - since).nanoseconds / 1_000_000)
  }
}

extension [PeerUsage.Pending] {
  /// The oldest of the procedures, in the order of their beginnings.
  fileprivate var oldest: [PeerUsage.Pending] {
    Array(sorted { $0.milliseconds > $1.milliseconds }.prefix(PeerUsage.Pending.maximumCount))
  }
}

extension RemoteDatabase {
  /// Returns the type of a known value or descriptor; nil: the attribute is not known any more.
  fileprivate func uuid(of handle: AttributeHandle) -> BluetoothUUID? {
    if let characteristic = characteristic(withValue: handle) { return characteristic.uuid }
    for service in primaryServices ?? [] where service.range.contains(handle) {
      for characteristic in characteristics(of: service.range.lowerBound) ?? [] {
        let descriptor = descriptors(ofValue: characteristic.value)?.first { $0.handle == handle }
        if let descriptor { return descriptor.uuid }
      }
    }
    return nil
  }
}
