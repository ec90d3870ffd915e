// Design: privacy in the controller
//
// A resolvable private address is tried with all keys once, when it is first received (`ResolvingList.learn`). After
// that, the identity is only looked up (`identify`). The local IRK of the advertiser's entry resolves the target of
// directed advertising. The privacy modes apply without address resolution, too. On the air, addresses stay as they
// are; lists, filters, reports and connections use identities. Own private addresses have no timer: an advertising set
// changes its address before the first event after the timeout.

import BluetoothCrypto
import BluetoothWire

/// The identity behind an address received over the air.
struct PeerIdentity: Equatable {
  /// The address on the air, to which answers are sent.
  let address: DeviceAddress
  /// The identity address if `address` was resolved; else the same as `address`.
  let identity: DeviceAddress
  /// True if the address is the identity address of a device in network privacy mode, whose packets are ignored · Vol
  /// 6, Part B, 4.7.
  let isIgnored: Bool

  var isResolved: Bool { address != identity }
  /// The address as HCI events carry it.
  var hciAddress: HCI.PeerAddress { isResolved ? HCI.PeerAddress(identity: identity) : HCI.PeerAddress(address) }
}

/// The resolving list, and the addresses that have been resolved with it · Vol 6, Part B, 6; Vol 4, Part E, 7.8.38 to
/// 7.8.45, 7.8.77.
///
/// `learn` resolves every address when it is received; `identify` looks up the result.
struct ResolvingList {
  static let capacity = 16
  static let timeouts: ClosedRange<UInt16> = 0x0001...0x0E10

  private struct Entry {
    let identity: DeviceAddress
    let peerValue: Secret<UInt128>
    let peerKey: IdentityResolvingKey?
    let localKey: IdentityResolvingKey?
    var usesDevicePrivacy = false

    /// The private address of this device towards the peer.
    var local: DeviceAddress?
    /// The private address of the peer in directed advertising of this device.
    var target: DeviceAddress?
    /// The private address of the peer in its last packet received.
    var heard: DeviceAddress?
    /// The private address of this device in packets of the peer.
    var heardTarget: DeviceAddress?
  }

  private var entries: [Entry] = []
  /// True while address resolution is enabled.
  var isEnabled = false
  /// The lifetime of this device's private addresses, seconds.
  private var timeout: UInt16 = 900
  /// The time at which all private addresses change; nil: there are none.
  private var renewal: Instant?
  private var unresolvedAddresses = UnresolvedAddressCache()

  var isEmpty: Bool { entries.isEmpty }

  private func index(of identity: DeviceAddress?) -> Int? {
    guard let identity else { return nil }
    return entries.firstIndex { $0.identity == identity }
  }

  // MARK: HCI commands

  /// Adds a device, whose random address must be static. Neither its identity address nor its IRK may be in the list
  /// already · 7.8.38.
  mutating func add(_ peer: HCI.PeerAddress, peerIRK: UInt128, localIRK: UInt128) -> HCI.ErrorCode {
    guard peer.type <= 1, let identity = peer.deviceAddress, identity.isIdentity, index(of: identity) == nil,
      peerIRK == 0 || !entries.contains(where: { $0.peerValue.value == peerIRK })
    else { return .invalidHCICommandParameters }
    guard entries.count < Self.capacity else { return .memoryCapacityExceeded }
    entries.append(
      Entry(
        identity: identity, peerValue: Secret(peerIRK), peerKey: IdentityResolvingKey(Block(peerIRK)),
        localKey: IdentityResolvingKey(Block(localIRK))))
    unresolvedAddresses.removeAll()
    return .success
  }

  mutating func remove(_ peer: HCI.PeerAddress) -> HCI.ErrorCode {
    guard peer.type <= 1 else { return .invalidHCICommandParameters }
    guard let index = index(of: peer.deviceAddress) else { return .unknownConnectionIdentifier }
    entries.remove(at: index)
    return .success
  }

  mutating func removeAll() {
    entries.removeAll()
    unresolvedAddresses.removeAll()
  }

  mutating func setPrivacyMode(of peer: HCI.PeerAddress, usesDevicePrivacy: Bool) -> HCI.ErrorCode {
    guard peer.type <= 1 else { return .invalidHCICommandParameters }
    guard let index = index(of: peer.deviceAddress) else { return .unknownConnectionIdentifier }
    entries[index].usesDevicePrivacy = usesDevicePrivacy
    return .success
  }

  mutating func setTimeout(_ seconds: UInt16, at now: Instant) -> HCI.ErrorCode {
    guard Self.timeouts ~= seconds else { return .invalidHCICommandParameters }
    timeout = seconds
    if renewal != nil { renewal = now + .seconds(Int64(seconds)) }
    return .success
  }

  /// Returns the last private address received from the peer, or else the one that this device uses for the peer in
  /// directed advertising; nil: there is none.
  func peerAddress(of peer: HCI.PeerAddress) -> DeviceAddress? {
    guard let index = index(of: peer.deviceAddress) else { return nil }
    return entries[index].heard ?? entries[index].target
  }

  // MARK: Local private addresses

  /// Discards all private addresses when the timeout has expired.
  private mutating func renew(at now: Instant) {
    if let renewal, now < renewal { return }
    renewal = now + .seconds(Int64(timeout))
    for index in entries.indices {
      entries[index].local = nil
      entries[index].target = nil
    }
  }

  /// Returns this device's private address towards the peer with this identity; nil: the list has no local IRK for
  /// the peer.
  mutating func localAddress(
    for identity: DeviceAddress?, at now: Instant, random: inout RandomStream
  ) -> DeviceAddress? {
    guard let index = index(of: identity), let key = entries[index].localKey else { return nil }
    renew(at: now)
    if entries[index].local == nil {
      entries[index].local = DeviceAddress(key.newAddress(using: &random), .random)
    }
    return entries[index].local
  }

  /// Replaces this device's private address towards the peer with this identity.
  mutating func changeLocalAddress(for identity: DeviceAddress?) {
    if let index = index(of: identity) { entries[index].local = nil }
  }

  /// Returns the private address of the peer with this identity for directed advertising; nil: the list has no IRK of
  /// the peer.
  mutating func targetAddress(
    for identity: DeviceAddress?, at now: Instant, random: inout RandomStream
  ) -> DeviceAddress? {
    guard let index = index(of: identity), let key = entries[index].peerKey else { return nil }
    renew(at: now)
    if entries[index].target == nil {
      entries[index].target = DeviceAddress(key.newAddress(using: &random), .random)
    }
    return entries[index].target
  }

  // MARK: Addresses of peers

  /// Resolves an address received over the air.
  mutating func learn(_ address: DeviceAddress) {
    guard isEnabled, !entries.isEmpty, address.randomKind == .resolvablePrivate,
      !entries.contains(where: { $0.heard == address }), !unresolvedAddresses.contains(address)
    else { return }
    if let index = entries.firstIndex(where: { $0.peerKey?.resolves(address.value) == true }) {
      entries[index].heard = address
    } else {
      unresolvedAddresses.insert(address)
    }
  }

  /// Resolves the target address in a packet of `advertiser`; the target may be this device. Only the local IRK of the
  /// advertiser's entry is tried · 6.3, 6.4.
  mutating func learn(target: DeviceAddress, of advertiser: DeviceAddress) {
    guard isEnabled, !entries.isEmpty, target.randomKind == .resolvablePrivate,
      let index = index(of: identify(advertiser).identity), entries[index].heardTarget != target,
      entries[index].localKey?.resolves(target.value) == true
    else { return }
    entries[index].heardTarget = target
  }

  /// Returns the identity of the device with this address. Private addresses are resolved if the host has enabled
  /// that; the privacy modes apply in any case · Vol 4, Part E, 7.8.44, 7.8.77.
  func identify(_ address: DeviceAddress) -> PeerIdentity {
    for index in entries.indices {
      if isEnabled, entries[index].heard == address {
        return PeerIdentity(address: address, identity: entries[index].identity, isIgnored: false)
      }
      if entries[index].identity == address {
        let isIgnored = entries[index].peerKey != nil && !entries[index].usesDevicePrivacy
        return PeerIdentity(address: address, identity: address, isIgnored: isIgnored)
      }
    }
    return PeerIdentity(address: address, identity: address, isIgnored: false)
  }

  /// True if this device uses private addresses towards the peer with this identity, and resolves these addresses in
  /// received packets.
  func hidesIdentity(from identity: DeviceAddress) -> Bool {
    guard isEnabled, let index = index(of: identity) else { return false }
    return entries[index].localKey != nil
  }

  /// True if this device uses the private address now.
  func isOwn(_ address: DeviceAddress) -> Bool { entries.contains { $0.local == address } }

  /// True if `target` is a private address that `advertiser` may use for this device.
  func isOwn(_ target: DeviceAddress, calledBy advertiser: DeviceAddress) -> Bool {
    guard !entries.isEmpty, let index = index(of: identify(advertiser).identity) else { return false }
    return entries[index].local == target || isEnabled && entries[index].heardTarget == target
  }
}

/// A cache of private addresses that no IRK of the list resolves. It avoids trying all keys again for each packet from
/// such an address.
private struct UnresolvedAddressCache {
  private static let capacity = 64
  private var slots: [UInt64] = []

  private func slot(_ address: DeviceAddress) -> Int { Int(address.value % UInt64(Self.capacity)) }

  func contains(_ address: DeviceAddress) -> Bool { !slots.isEmpty && slots[slot(address)] == address.value }

  mutating func insert(_ address: DeviceAddress) {
    if slots.isEmpty { slots = Array(repeating: 0, count: Self.capacity) }
    slots[slot(address)] = address.value
  }

  mutating func removeAll() { slots = [] }
}

extension HCI.PeerAddress {
  /// Creates the identity address that replaces a resolved private address.
  init(identity: DeviceAddress) { self.init(type: identity.kind.rawValue | 2, value: identity.value) }
}
