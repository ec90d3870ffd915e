// Design: copies of the directory
//
// A `DirectoryObservation` collects what a program's copy of the `PeerDirectory` lacks. Its memory is limited by the
// number of peers: a later change of a peer replaces the former one. The `Outbox` puts the changes of the peers that a
// message names in front of it, in one step.

import BluetoothWire
import NIOConcurrencyHelpers

/// A change of a directory, for the copy of the directory in another process.
package enum DirectoryChange: Hashable, Sendable {
  /// A peer is new, or its identifier, its name, its address or its bond has changed.
  case peer(PeerInfo, DeviceAddress, BondInfo?)
  /// A link to the peer exists, over which these services are known to be offered. Replaces earlier services.
  case connected(PeerHandle, services: [BluetoothUUID])
  case disconnected(PeerHandle)
  /// The adapter has forgotten the peer.
  case removed(PeerHandle)
  case access(AppAccess)
  case features(AdapterFeatures)
}

/// The changes of a directory that its copy in another process does not have yet. At first these are all that the
/// directory holds.
///
/// The memory that this takes is limited by the number of peers, however many changes there are: a change that follows
/// another one of the same peer replaces it.
package final class DirectoryObservation: Sendable {
  /// The changes that the copy does not have yet.
  struct Pending {
    /// The number of slots whose peers the copy has got in their order.
    var slotCount = 0
    /// The peers beyond `slotCount` that the copy has got because an event refers to them.
    var early: Set<PeerHandle> = []
    /// The peers in slots below `slotCount` that the copy has not got, because they are newer than the count.
    var added: Set<PeerHandle> = []
    /// The peers that the copy has got and that the directory has no more.
    var removed: [PeerHandle] = []
    /// The peers that the copy has got and that have changed since.
    var changed: Set<PeerHandle> = []
    /// The peers whose links have been established, have ended or have other services.
    var links: [PeerHandle] = []
    var hasAccess = true
    var hasFeatures = true
    /// True if the observer has been called and has not taken the changes yet.
    var isAnnounced = false

    /// True if the copy has got the peer.
    func has(_ peer: PeerHandle) -> Bool {
      peer.slot < slotCount && !added.contains(peer) || early.contains(peer)
    }

    mutating func noteAddition(of peer: PeerHandle) {
      if peer.slot < slotCount { added.insert(peer) }
    }

    mutating func noteRemoval(of peers: [PeerHandle]) {
      links.removeAll(where: Set(peers).contains)
      for peer in peers {
        if has(peer) { removed.append(peer) }
        added.remove(peer)
        early.remove(peer)
        changed.remove(peer)
      }
    }

    mutating func noteChange(of peer: PeerHandle) {
      if has(peer) { changed.insert(peer) }
    }

    mutating func noteLink(of peer: PeerHandle) {
      if !links.contains(peer) { links.append(peer) }
    }
  }

  private let pending = NIOLockedValueBox(Pending())
  private let observer: @Sendable () -> Void

  /// The app in the other process, whose permission the copy has; nil: the permission of the adapter.
  let app: String?

  /// - Parameters:
  ///   - app: see above.
  ///   - observer: called on any thread, with no lock held, once for all changes until the next call of
  ///     `PeerDirectory.changes`.
  init(of app: String?, _ observer: @escaping @Sendable () -> Void) {
    self.app = app
    self.observer = observer
  }

  /// Calls `body` with the pending changes.
  func with<R>(_ body: (inout Pending) -> R) -> R { pending.withLockedValue(body) }

  /// Calls the observer, unless it has been called since the changes were taken.
  func announce() {
    let isFirst = pending.withLockedValue { pending in
      defer { pending.isAnnounced = true }
      return !pending.isAnnounced
    }
    if isFirst { observer() }
  }
}
