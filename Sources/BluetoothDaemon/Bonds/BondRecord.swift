import BluetoothCrypto
import BluetoothHost
import BluetoothWire

/// The data about a bonded peer that is kept across runs. Descriptions of it never contain keys.
package struct BondRecord: Hashable, Sendable {
  /// The privacy mode: the conditions for accepting the peer's identity address · Vol 6, Part B, 4.7.
  package enum PrivacyMode: String, Hashable, Sendable, CaseIterable {
    /// Network privacy mode: only the peer's private addresses are accepted, if it has distributed an Identity
    /// Resolving Key.
    case network
    /// Device privacy mode: private addresses and the identity address are accepted.
    case device
  }

  package var bond: HostBond
  /// The identifier by which apps know the peer, in every run.
  package var identifier: PeerIdentifier
  package var name: String?
  /// The sequence number of the bond among the adapter's bonds, counted from 1; 0: not assigned yet. If the keys of two
  /// bonds resolve the same address, the older bond is used.
  package var number: Int64 = 0
  /// The time of pairing in seconds since 1970-01-01 00:00:00 UTC; nil: unknown.
  package var pairedAt: Int64?
  /// False if the peer wanted to pair and a fixed rule accepted: neither a user nor an app of this device chose the
  /// peer.
  package var isConfirmed = true
  /// The user whose app has requested the bond, if a fixed rule accepted it: the bond is a part of this user's share; nil:
  /// it belongs to no share.
  package var requester: ClientUser?
  /// True if the peer offers the Human Interface Device service.
  package var isInputDevice = false
  /// True if the user lets the peer get the notifications of the system; nil: the user was not asked.
  package var getsNotifications: Bool?
  package var privacyMode = PrivacyMode.network
  /// The connection parameters that the peripheral requested last.
  package var connectionParameters: LinkParameters?
  /// The peer's configuration of this device's GATT server; nil: none.
  package var clientRecord: GATTClientRecord?
  /// The cached database of the peer's GATT server; nil: none.
  package var cache: GATTCache?

  package init(_ bond: HostBond, identifier: PeerIdentifier, name: String? = nil) {
    self.bond = bond
    self.identifier = identifier
    self.name = name
  }

  /// Returns the record after the peer has paired again.
  ///
  /// - Parameters:
  ///   - isConfirmed: a user or an app of this device has chosen the peer this time.
  ///   - replacesUnproven: the peer has not proven that it has the former key. What was stored for it is not its own.
  func renewed(_ bond: HostBond, isConfirmed: Bool, replacesUnproven: Bool) -> BondRecord {
    var record = self
    record.bond = bond
    record.isConfirmed = isConfirmed || (self.isConfirmed && !replacesUnproven)
    if replacesUnproven {
      (record.clientRecord, record.cache) = (nil, nil)
      record.getsNotifications = nil
    }
    return record
  }

  /// The peer's identity address, which identifies the record in its store.
  package var identity: DeviceAddress { bond.identity }
}

/// The adapter's own identity. Peers recognize the adapter by it, so it is created only once.
package struct AdapterSecrets: Hashable, Sendable {
  /// The identity address; nil: the public address of the controller.
  package var identity: DeviceAddress?
  /// The Identity Resolving Key, with which peers resolve the adapter's private addresses.
  package var identityKey: Block
  /// The number of times that the user has reset the identifiers of peers.
  package var identifierGeneration: UInt32 = 0
  /// True if the user has switched the adapter off in the settings of a server: later servers start with it off.
  package var isSwitchedOff = false

  package init(identity: DeviceAddress?, identityKey: Block) {
    self.identity = identity
    self.identityKey = identityKey
  }

  /// Creates secrets with random numbers from `generator`.
  ///
  /// - Parameter needsAddress: true if the controller has no public address: a static random address is then created,
  ///   too.
  package static func make(needsAddress: Bool, using generator: inout some RandomNumberGenerator) -> AdapterSecrets {
    // A key of zeros would count as no key.
    let key = Block(high: generator.next() | 1, low: generator.next())
    return AdapterSecrets(
      identity: needsAddress ? .randomStatic(using: &generator) : nil, identityKey: key)
  }
}

extension BondRecord: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// A description without the keys.
  package var description: String { "BondRecord(\(identity)\(name.map { ", " + $0.debugDescription } ?? ""))" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: []) }
}

extension AdapterSecrets: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// A description without the key.
  package var description: String { "AdapterSecrets(\(identity.map { "\($0)" } ?? "public address"))" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
