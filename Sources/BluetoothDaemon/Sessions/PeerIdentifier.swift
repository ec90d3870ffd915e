// Design: the identifiers of peers
//
// - Apps know peers by identifiers, which are derived from the address and the adapter's own secret: its seed, or its
//   Identity Resolving Key if that key is the same in every run. So a public or a static address has one permanent
//   identifier, a bonded peer keeps the identifier under which it has paired, and an unknown device under a new private
//   address is a new peer. Connecting to its old identifier waits for an address that will not be used again. If a peer
//   turns out to be one that had another identifier, connecting by the older identifier fails, because no peer would
//   ever be found under it.
// - Identifiers. Apps know peers by identifiers that are derived from the adapter's by a keyed hash with the app's name
//   (`PeerDirectory.identifier(_:ofApp:)`), at the border of CoreBluetooth. The daemon has one identifier for each
//   peer. A reset of the network settings counts up the generation of the identifiers (`Peers.resetIdentifiers`),
//   which is stored with the adapter's secrets. For apps it is a power cycle of the host in the state `resetting`.

import BluetoothWire

/// The identifier by which apps know a peer: random, stable, never the address.
package struct PeerIdentifier: Hashable, Sendable {
  package let high: UInt64
  package let low: UInt64
  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }
}

extension PeerIdentifier {
  /// The placeholder for a peer without an identifier.
  package static let unknown = PeerIdentifier(high: 0, low: 0)

  /// The identifier in the text form of a UUID.
  package var digits: String { BluetoothUUID(high: high, low: low).description }
}
