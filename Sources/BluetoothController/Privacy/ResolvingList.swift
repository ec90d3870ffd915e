import BluetoothCrypto
import BluetoothWire

/// Who somebody is whose address has come over the air.
struct PeerIdentity: Equatable {
  /// The address on the air: who is answered.
  let address: DeviceAddress
  /// The identity address, if the other one was resolved; else the same.
  let identity: DeviceAddress
  /// True for the identity address of a device in network privacy mode, whose packets are ignored · Vol 6, Part B, 4.7.
  let isIgnored: Bool

  var isResolved: Bool { address != identity }
  /// As events carry it.
  var hciAddress: HCI.PeerAddress { isResolved ? HCI.PeerAddress(identity: identity) : HCI.PeerAddress(address) }
}

/// The resolving list, and what has been resolved with it · Vol 6, Part B, 6; Vol 4, Part E, 7.8.38 to 7.8.45, 7.8.77.
///
/// An address is resolved when it is heard (`learn`), whether or not it was heard before; who somebody is (`identify`) is
/// then only looked up.
struct ResolvingList {
  static let capacity = 16
  static let timeouts: ClosedRange<UInt16> = 0x0001...0x0E10

  private struct Entry {
    let identity: DeviceAddress
    let peerValue: Secret<UInt128>
    let peerKey: IdentityResolvingKey?
    let localKey: IdentityResolvingKey?
    var usesDevicePrivacy = false

    /// What this device is called to that peer.
    var local: DeviceAddress?
    /// What directed advertising calls the peer.
    var target: DeviceAddress?
    /// What the peer was called when it was heard last.
    var heard: DeviceAddress?
    /// What the peer has called this device.
    var heardTarget: DeviceAddress?
  }

  private var entries: [Entry] = []
  /// Whether addresses of peers are resolved.
  var isEnabled = false
  /// How long a private address of this device is used, seconds.
  private var timeout: UInt16 = 900
  /// When all private addresses change; nil: there are none.
  private var renewal: Instant?
  private var strangers = StrangerCache()

  var isEmpty: Bool { entries.isEmpty }

  private func index(of identity: DeviceAddress?) -> Int? {
    guard let identity else { return nil }
    return entries.firstIndex { $0.identity == identity }
  }

  // MARK: The host's commands

  /// Adds a device, whose random address must be static: neither it nor its key may be there already · 7.8.38.
  mutating func add(_ peer: HCI.PeerAddress, peerIRK: UInt128, localIRK: UInt128) -> HCI.ErrorCode {
    guard peer.type <= 1, let identity = peer.deviceAddress, identity.isIdentity, index(of: identity) == nil,
      peerIRK == 0 || !entries.contains(where: { $0.peerValue.value == peerIRK })
    else { return .invalidHCICommandParameters }
    guard entries.count < Self.capacity else { return .memoryCapacityExceeded }
    entries.append(
      Entry(
        identity: identity, peerValue: Secret(peerIRK), peerKey: IdentityResolvingKey(Block(peerIRK)),
        localKey: IdentityResolvingKey(Block(localIRK))))
    strangers.removeAll()
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
    strangers.removeAll()
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

  /// The private address that the peer uses, or is called; nil: there is none.
  func peerAddress(of peer: HCI.PeerAddress) -> DeviceAddress? {
    guard let index = index(of: peer.deviceAddress) else { return nil }
    return entries[index].heard ?? entries[index].target
  }

  // MARK: Own addresses

  /// All private addresses end when the timeout is over.
  private mutating func renew(at now: Instant) {
    if let renewal, now < renewal { return }
    renewal = now + .seconds(Int64(timeout))
    for index in entries.indices {
      entries[index].local = nil
      entries[index].target = nil
    }
  }

  /// What this device is called to the peer with this identity; nil: it has no private address there.
  mutating func localAddress(
    for identity: DeviceAddress?, at now: Instant, random: inout SplitGenerator
  ) -> DeviceAddress? {
    guard let index = index(of: identity), let key = entries[index].localKey else { return nil }
    renew(at: now)
    if entries[index].local == nil {
      entries[index].local = DeviceAddress(key.newAddress(using: &random), .random)
    }
    return entries[index].local
  }

  /// The private address there is another one from now on.
  mutating func changeLocalAddress(for identity: DeviceAddress?) {
    if let index = index(of: identity) { entries[index].local = nil }
  }

  /// What directed advertising calls the peer with this identity; nil: it has no private address.
  mutating func targetAddress(
    for identity: DeviceAddress?, at now: Instant, random: inout SplitGenerator
  ) -> DeviceAddress? {
    guard let index = index(of: identity), let key = entries[index].peerKey else { return nil }
    renew(at: now)
    if entries[index].target == nil {
      entries[index].target = DeviceAddress(key.newAddress(using: &random), .random)
    }
    return entries[index].target
  }

  // MARK: Addresses of others

  /// Takes in the address of somebody who was heard.
  mutating func learn(_ address: DeviceAddress) {
    guard isEnabled, !entries.isEmpty, address.randomKind == .resolvablePrivate,
      !entries.contains(where: { $0.heard == address }), !strangers.contains(address)
    else { return }
    if let index = entries.firstIndex(where: { $0.peerKey?.resolves(address.value) == true }) {
      entries[index].heard = address
    } else {
      strangers.insert(address)
    }
  }

  /// Takes in what `advertiser` calls a device that may be this one. The local IRK of the advertiser's entry resolves it;
  /// those of other entries do not count · 6.3, 6.4.
  mutating func learn(target: DeviceAddress, of advertiser: DeviceAddress) {
    guard isEnabled, !entries.isEmpty, target.randomKind == .resolvablePrivate,
      let index = index(of: identify(advertiser).identity), entries[index].heardTarget != target,
      entries[index].localKey?.resolves(target.value) == true
    else { return }
    entries[index].heardTarget = target
  }

  /// Returns the identity of the device with this address. Private addresses are resolved if the host has enabled that;
  /// the privacy modes hold in any case · Vol 4, Part E, 7.8.44, 7.8.77.
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

  /// Whether this device has private addresses to the peer with this identity, and knows its own when it hears them.
  func hidesIdentity(from identity: DeviceAddress) -> Bool {
    guard isEnabled, let index = index(of: identity) else { return false }
    return entries[index].localKey != nil
  }

  /// True for the private addresses that this device uses now.
  func isOwn(_ address: DeviceAddress) -> Bool { entries.contains { $0.local == address } }

  /// True if `target` is a private address by which `advertiser` may call this device.
  func isOwn(_ target: DeviceAddress, calledBy advertiser: DeviceAddress) -> Bool {
    guard !entries.isEmpty, let index = index(of: identify(advertiser).identity) else { return false }
    return entries[index].local == target || isEnabled && entries[index].heardTarget == target
  }
}

/// Private addresses of others that were tried with all keys in vain, so that it is not done for each of their packets.
private struct StrangerCache {
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
  /// An identity address in place of the private one that was resolved.
  init(identity: DeviceAddress) { self.init(type: identity.kind.rawValue | 2, value: identity.value) }
}
