import BluetoothHost
import BluetoothWire

/// The broker of synchronizations with periodic trains: sessions that request the same train share one synchronization
/// of the controller, with the parameters of the first request.
struct TrainBroker {
  private struct User: Equatable {
    let session: CentralSessionID
    let number: UInt32
  }

  private struct Train {
    let id: SyncID
    let request: SyncRequest
    var users: [User]
    /// nil: the controller is not synchronized yet.
    var properties: SyncProperties?
  }

  private var trains: [Train] = []
  private var lastID: UInt32 = 0

  /// Synchronizes with a train for a session.
  mutating func start(
    _ number: UInt32, _ request: SyncRequest, for session: CentralSessionID, at now: Instant,
    _ context: inout DaemonContext
  ) {
    let user = User(session: session, number: number)
    let count = trains.reduce(0) { $0 + $1.users.count { $0.session == session } }
    let taken = trains.flatMap { $0.users.map { (session: AnySession.central($0.session), count: 1) } }
    guard count < SessionLimits.synchronizations,
      context.mayTake(of: .synchronizations, for: .central(session), beside: taken)
    else {
      return context.deliver(.synchronization(number, .ended(.refused(.outOfSpace)), at: now), to: session)
    }
    if let index = trains.firstIndex(where: { $0.request.isSameTrain(as: request) }) {
      trains[index].users.append(user)
      guard let properties = trains[index].properties else { return }
      return context.deliver(.synchronization(number, .established(properties), at: now), to: session)
    }
    lastID &+= 1
    trains.append(Train(id: SyncID(rawValue: lastID), request: request, users: [user]))
    context.host.synchronize(SyncID(rawValue: lastID), with: request, at: now)
  }

  /// Ends a session's synchronization.
  mutating func stop(
    _ number: UInt32, of session: CentralSessionID, at now: Instant, _ host: inout Host
  ) {
    removeUsers(at: now, &host) { $0 == User(session: session, number: number) }
  }

  /// Ends all synchronizations of a session.
  mutating func stopAll(of session: CentralSessionID, at now: Instant, _ host: inout Host) {
    removeUsers(at: now, &host) { $0.session == session }
  }

  private mutating func removeUsers(
    at now: Instant, _ host: inout Host, where isLeaving: (User) -> Bool
  ) {
    for index in trains.indices { trains[index].users.removeAll(where: isLeaving) }
    for train in trains where train.users.isEmpty { host.endSynchronization(train.id, at: now) }
    trains.removeAll { $0.users.isEmpty }
  }

  /// Passes an event of the host to the sessions that use the train.
  mutating func handle(_ event: SyncEvent, of id: SyncID, at now: Instant, _ context: inout DaemonContext) {
    guard let index = trains.firstIndex(where: { $0.id == id }) else { return }
    let users = trains[index].users
    var isReport = false
    switch event {
    case .established(let properties): trains[index].properties = properties
    case .report: isReport = true
    case .ended: trains.remove(at: index)
    }
    for user in users {
      // An app that does not keep up misses reports: the train repeats or replaces its data.
      if isReport, context.sessions.counters(of: user.session)?.backlog.isFull == true { continue }
      context.deliver(.synchronization(user.number, event, at: now), to: user.session)
    }
  }
}
