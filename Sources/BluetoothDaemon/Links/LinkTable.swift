import BluetoothHost
import BluetoothWire

/// The place of a link in the `LinkTable`, valid until a link is removed.
struct LinkIndex: Hashable {
  fileprivate let position: Int
}

/// The links of the adapter, in the order in which they were established.
struct LinkTable {
  private(set) var all: [LinkState] = []

  var indices: some Sequence<LinkIndex> { all.indices.lazy.map { LinkIndex(position: $0) } }

  subscript(link: LinkIndex) -> LinkState {
    @inline(__always) get { all[link.position] }
    _modify { yield &all[link.position] }
  }

  // By index: the closure of `firstIndex` would get copies of whole links.

  /// Returns the link with this handle.
  func index(of connection: HCI.ConnectionHandle) -> LinkIndex? {
    for position in all.indices where all[position].link.handle == connection { return LinkIndex(position: position) }
    return nil
  }

  /// Returns the link to this peer.
  func index(of peer: PeerHandle) -> LinkIndex? {
    for position in all.indices where all[position].peer == peer { return LinkIndex(position: position) }
    return nil
  }

  /// Adds a link and returns its place.
  mutating func append(_ link: LinkState) -> LinkIndex {
    all.append(link)
    return LinkIndex(position: all.count - 1)
  }

  mutating func remove(_ link: LinkIndex) -> LinkState { all.remove(at: link.position) }

  mutating func removeAll() { all.removeAll() }
}
