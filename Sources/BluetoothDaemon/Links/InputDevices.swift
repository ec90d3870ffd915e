import BluetoothHost
import BluetoothWire

/// The bonded input devices that the system connects to by itself, without any app
/// (`PlatformPolicy.reconnectsInputDevices`).
struct InputDevices {
  /// The pause before the system repeats a failed attempt.
  private static let pause = TimeSpan.seconds(1)

  private struct Retry {
    let peer: PeerHandle
    let time: Instant
  }

  /// The input devices. The system has a link to each of them, or is connecting to it.
  private(set) var peers: [PeerHandle] = []
  /// The input devices whose links have ended because encryption has failed. The system connects to them no more until
  /// Bluetooth is switched on again, or until they pair again: a device that has lost its key would otherwise be
  /// connected and disconnected for ever.
  private var refused: [PeerHandle] = []
  private var retries: [Retry] = []
  /// True if bonds or services have changed since the last update.
  private(set) var needsUpdate = false

  /// Notes that bonds or services have changed.
  mutating func noteChange() { needsUpdate = true }

  /// True if the system wants a link to this peer.
  func wants(_ peer: PeerHandle) -> Bool { !peers.isEmpty && peers.contains(peer) && !refused.contains(peer) }

  /// Replaces the input devices. Returns the new ones and the former ones that are none any more.
  mutating func update(_ wanted: [PeerHandle]) -> (added: [PeerHandle], removed: [PeerHandle]) {
    needsUpdate = false
    let added = wanted.filter { !peers.contains($0) }
    let removed = peers.filter { !wanted.contains($0) }
    peers = wanted
    refused.removeAll { removed.contains($0) }
    retries.removeAll { removed.contains($0.peer) }
    return (added, removed)
  }

  /// Notes that the link to a peer has ended because encryption has failed.
  mutating func refuse(_ peer: PeerHandle) {
    if peers.contains(peer), !refused.contains(peer) { refused.append(peer) }
  }

  /// Notes that a peer has paired again.
  mutating func accept(_ peer: PeerHandle) { refused.removeAll { $0 == peer } }

  /// Repeats the attempt to connect to a peer after a pause.
  mutating func retryLater(_ peer: PeerHandle, at now: Instant) {
    retries.append(Retry(peer: peer, time: now + Self.pause))
  }

  /// The time of the next repetition; nil: none.
  var deadline: Instant? { retries.reduce(nil) { earliest($0, $1.time) } }

  /// Removes and returns the peers whose attempts are repeated now.
  mutating func takeDue(at now: Instant) -> [PeerHandle] {
    guard let deadline, deadline <= now else { return [] }
    let due = retries.filter { $0.time <= now }.map(\.peer)
    retries.removeAll { $0.time <= now }
    return due
  }

  /// Forgets everything, because the adapter has gone off. The next update finds the input devices again.
  mutating func dropAll() {
    self = InputDevices()
    needsUpdate = true
  }
}
