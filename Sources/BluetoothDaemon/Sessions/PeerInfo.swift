/// The number of a peer, valid for one adapter and one run. It never names a later peer: a slot of the table of peers
/// that is used again has another generation.
package struct PeerHandle: Hashable, Sendable {
  /// The slot in the lower 20 bits, the generation above them.
  package let index: UInt32
  package init(index: UInt32) { self.index = index }

  private static let slotBits: UInt32 = 20
  /// The number of slots that handles can name.
  static let maximumSlots = 1 << slotBits

  /// The place of the peer in tables.
  var slot: Int { Int(index & (1 << Self.slotBits - 1)) }

  /// The number of peers before this one in the same slot; the count begins again after 4,095.
  var generation: Int { Int(index >> Self.slotBits) }

  /// The handle of the next peer in the same slot.
  var next: PeerHandle { PeerHandle(index: index &+ 1 << Self.slotBits) }
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
