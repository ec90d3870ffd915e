/// The number of a peer, valid for one adapter and one run.
package struct PeerHandle: Hashable, Sendable {
  package let index: UInt32
  package init(index: UInt32) { self.index = index }
}

/// The properties of a peer that are visible to apps.
package struct PeerInfo: Hashable, Sendable {
  package var handle: PeerHandle
  package var identifier: PeerIdentifier
  package var name: String?
  package init(handle: PeerHandle, identifier: PeerIdentifier, name: String?) {
    self.handle = handle
    self.identifier = identifier
    self.name = name
  }
}
