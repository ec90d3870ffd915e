import BluetoothCrypto
import BluetoothHost
import BluetoothWire

/// All that is kept of a bonded peer from one run to the next. No key of it is ever in a description.
package struct BondRecord: Hashable, Sendable {
  /// When the peer's identity address is taken in place of its private ones · Vol 6, Part B, 4.7.
  package enum PrivacyMode: String, Hashable, Sendable, CaseIterable {
    /// Only its private addresses, where it has given an Identity Resolving Key.
    case network
    /// Both.
    case device
  }

  package var bond: Bond
  /// Under which apps know the peer, in every run.
  package var identifier: PeerIdentifier
  package var name: String?
  /// Counts the bonds of an adapter in the order in which they were made, from 1 on; 0: not counted yet. Of two keys that
  /// resolve one address the older bond's is the one.
  package var number: Int64 = 0
  /// Seconds since 1970-01-01 00:00:00 UTC; nil: nobody has said when they paired.
  package var pairedAt: Int64?
  /// False if the peer wanted to pair and a fixed rule has let it: neither a user nor an app of this device chose it.
  package var isConfirmed = true
  package var privacyMode = PrivacyMode.network
  /// What the peripheral has asked for last.
  package var connectionParameters: ConnectionParameters?
  /// What the peer has configured on this device's server; nil: nothing.
  package var clientRecord: GATTClientRecord?
  /// What is known of the peer's server; nil: nothing.
  package var cache: GATTCache?

  package init(_ bond: Bond, identifier: PeerIdentifier, name: String? = nil) {
    self.bond = bond
    self.identifier = identifier
    self.name = name
  }

  /// The peer's identity address, which names the record in its store.
  package var identity: DeviceAddress { bond.identity }
}

/// What an adapter keeps for itself: peers know it by that, so it is made once.
package struct AdapterSecrets: Hashable, Sendable {
  /// Its identity address; nil: the public address of its controller is.
  package var identity: DeviceAddress?
  /// Its Identity Resolving Key, with which peers resolve its private addresses.
  package var identityKey: Block

  package init(identity: DeviceAddress?, identityKey: Block) {
    self.identity = identity
    self.identityKey = identityKey
  }

  /// Drawn from `generator`.
  ///
  /// - Parameter needsAddress: the controller has no public address, so that a static one is drawn, too.
  package static func make(needsAddress: Bool, using generator: inout some RandomNumberGenerator) -> AdapterSecrets {
    // A key of zeros is no key.
    let key = Block(high: generator.next() | 1, low: generator.next())
    return AdapterSecrets(
      identity: needsAddress ? .randomStatic(using: &generator) : nil, identityKey: key)
  }
}

extension BondRecord: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Without the keys.
  package var description: String { "BondRecord(\(identity)\(name.map { ", " + $0.debugDescription } ?? ""))" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: []) }
}

extension AdapterSecrets: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Without the key.
  package var description: String { "AdapterSecrets(\(identity.map { "\($0)" } ?? "public address"))" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
