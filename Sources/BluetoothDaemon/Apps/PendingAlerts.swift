import BluetoothWire

/// The events of one input for which suspended apps want alerts. Of several apps, the one that was in the foreground
/// last alerts the user.
struct PendingAlerts {
  private struct Candidate {
    let kind: Alert.Kind
    let peer: PeerHandle
    var app: AppIndex
    var lastInFront: Int
  }

  private var candidates: [Candidate] = []

  var isEmpty: Bool { candidates.isEmpty }

  /// The peers that the events are about.
  var peers: [PeerHandle] { candidates.map(\.peer) }

  /// Adds an event for an app that wants an alert.
  mutating func add(_ kind: Alert.Kind, _ peer: PeerHandle, for app: AppIndex, lastInFront: Int) {
    guard let index = candidates.firstIndex(where: { $0.kind == kind && $0.peer == peer }) else {
      candidates.append(Candidate(kind: kind, peer: peer, app: app, lastInFront: lastInFront))
      return
    }
    if lastInFront > candidates[index].lastInFront {
      candidates[index].app = app
      candidates[index].lastInFront = lastInFront
    }
  }

  /// Removes and returns the events with their apps.
  mutating func take() -> [(kind: Alert.Kind, peer: PeerHandle, app: AppIndex)] {
    defer { candidates.removeAll() }
    return candidates.map { ($0.kind, $0.peer, $0.app) }
  }
}
