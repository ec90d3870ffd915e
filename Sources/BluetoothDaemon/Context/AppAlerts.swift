import BluetoothWire
import DequeModule

/// The alerts about events for suspended apps. Of several apps that want an alert about the same event, the one that was in
/// the foreground last alerts the user.
struct AppAlerts {
  private struct Candidate {
    let kind: Alert.Kind
    let peer: PeerHandle
    var app: AppIndex
    var lastInFront: Int
  }

  /// The events of this input.
  private var candidates: [Candidate] = []
  /// The alerts that wait for the user interface; the oldest is dropped when there are more than `maximumCount`.
  private var raised: Deque<Alert> = []
  private static let maximumCount = 256

  /// True if `raise` returns alerts.
  var hasCandidates: Bool { !candidates.isEmpty }

  /// True if `take` returns an alert.
  var isEmpty: Bool { raised.isEmpty }

  /// The peers that the events of this input are about.
  var peers: [PeerHandle] { candidates.map(\.peer) }

  /// Notes an event of a suspended app, if the app wants an alert about it.
  mutating func note(
    _ event: CentralEvent, for session: CentralSessionID, of app: AppIndex, lastInFront: Int, _ peers: Peers
  ) {
    let (kind, peer, option): (Alert.Kind, PeerHandle, AlertKinds)
    switch event {
    case .connected(let handle, _): (kind, peer, option) = (.connected, handle, .connection)
    case .disconnected(let handle, _, _): (kind, peer, option) = (.disconnected, handle, .disconnection)
    case .valueChanged(let handle, _, _): (kind, peer, option) = (.notified, handle, .notification)
    default: return
    }
    guard peers.contains(peer), let user = peers[peer].userIndex(of: session),
      peers[peer].users[user].alerts.contains(option)
    else { return }
    add(kind, peer, for: app, lastInFront: lastInFront)
  }

  private mutating func add(_ kind: Alert.Kind, _ peer: PeerHandle, for app: AppIndex, lastInFront: Int) {
    guard let index = candidates.firstIndex(where: { $0.kind == kind && $0.peer == peer }) else {
      candidates.append(Candidate(kind: kind, peer: peer, app: app, lastInFront: lastInFront))
      return
    }
    if lastInFront > candidates[index].lastInFront {
      candidates[index].app = app
      candidates[index].lastInFront = lastInFront
    }
  }

  /// Turns the events of this input into alerts, and returns them.
  mutating func raise(at now: Instant, _ peers: Peers, _ apps: DaemonApps) -> [Alert] {
    let new = candidates.map { event in
      let info = peers[event.peer].info
      let name = info.name.flatMap { Prompt.Pairing.harmless($0) } ?? info.identifier.digits
      return Alert(kind: event.kind, app: apps[event.app].name, peripheral: name, time: now)
    }
    candidates.removeAll()
    raised += new
    if raised.count > Self.maximumCount { raised.removeFirst(raised.count - Self.maximumCount) }
    return new
  }

  /// Removes and returns the next alert.
  mutating func take() -> Alert? { raised.popFirst() }
}
