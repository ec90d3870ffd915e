import NIOConcurrencyHelpers
import Synchronization

/// The counters of one session that its client reads without waiting for the daemon: credits, the states that the app
/// has seen, and the events that wait on its queue.
///
/// Both ends of a session, the client and the daemon, access the counters. In one process, both ends share one object,
/// so a credit needs no message. A transport between processes gives each end a separate object and forwards the
/// changes: the daemon's `put` as a message to the client, the client's counts as messages to the daemon.
package final class SessionCounters: Sendable {
  package let backlog = EventBacklog()

  /// The credits for `PeripheralCommand.update`: one for each call, regardless of the number of centrals.
  package let updateCredits = TransmitCredits(capacity: SessionLimits.updates)

  private struct WriteCredits {
    var byPeer: [PeerHandle: TransmitCredits] = [:]
    var observer: (@Sendable (PeerHandle?, Int) -> Void)?
  }

  private let writeCredits = NIOLockedValueBox(WriteCredits())
  private let seenStateCount = Atomic<UInt32>(0)

  package init() {}

  /// Returns the credits for writes without response to `peer`; the object is always the same.
  package func writeCredits(for peer: PeerHandle) -> TransmitCredits {
    writeCredits.withLockedValue { all in
      if let credits = all.byPeer[peer] { return credits }
      let credits = TransmitCredits(capacity: SessionLimits.writesWithoutResponse)
      if let observer = all.observer { credits.observe { observer(peer, $0) } }
      all.byPeer[peer] = credits
      return credits
    }
  }

  /// Forgets the credits for peers that nothing uses.
  func forget(_ peers: Set<PeerHandle>) {
    writeCredits.withLockedValue { all in all.byPeer = all.byPeer.filter { !peers.contains($0.key) } }
  }

  /// Returns all credits, because nothing that the client has submitted is pending any more: the way to the daemon in
  /// another process is lost.
  package func returnAllCredits() {
    for credits in writeCredits.withLockedValue({ Array($0.byPeer.values) }) { _ = credits.put(credits.capacity) }
    _ = updateCredits.put(updateCredits.capacity)
  }

  /// Calls `observer` whenever credits are returned; see `Session.observeCredits`.
  func observeCredits(_ observer: @escaping @Sendable (PeerHandle?, Int) -> Void) {
    writeCredits.withLockedValue { $0.observer = observer }
    updateCredits.observe { observer(nil, $0) }
  }

  /// The number of state changes that the app has seen. Each command carries this count as of the time it was sent:
  /// the daemon drops commands that the app sent before it knew the adapter's current state, as it drops everything
  /// else of the former state. A connection attempt that crosses a reset would establish a link for which the app has
  /// no peripheral.
  var seenStates: UInt32 { seenStateCount.load(ordering: .acquiring) }

  /// Counts a state change that the app is about to see: commands sent from now on, including those sent in the
  /// callback, belong to the new state.
  func noteStateSeen() { seenStateCount.wrappingAdd(1, ordering: .acquiringAndReleasing) }
}
