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
