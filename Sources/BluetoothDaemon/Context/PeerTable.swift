// Design: forgotten peers
//
// The table of peers forgets devices that nothing uses (`DaemonContext.enter`). A `PeerHandle` has a slot and a
// generation, so that it never names another device. Copies of the directory are told, and an attempt to connect to a
// forgotten device introduces it again.

import BluetoothCrypto
import BluetoothWire

/// The peers of one adapter: their addresses, the identifiers by which apps know them, and the sessions that use them.
struct PeerTable {
  /// The maximum number of peers. The ones that nothing uses and that have not been heard for the longest time make
  /// room for new ones.
  static let limit = 65_536
  /// The maximum number of peers if sessions use so many that none can make room for a new link.
  static let linkLimit = 2 * limit
  /// The number of peers that make room at once, so that a flood of addresses costs little for each address.
  static let evictionCount = limit / 8
  /// The maximum number of peers that the clients of one user have introduced and that have not been heard since.
  static let introductionLimit = 256

  /// The peers by the slots of their handles. Those of vacant slots have no users.
  private(set) var peers: [Peer] = []
  private(set) var count = 0
  /// The number of uses so far, which is the time of the latest use.
  private var useCount: UInt64 = 0
  /// The numbers of peers that the clients of each user have introduced and that have not been heard since.
  private var introductions: [ClientUser: Int] = [:]
  private var byAddress: [DeviceAddress: PeerHandle] = [:]
  /// The identifiers from bond records, by identity address. A bonded peer keeps its identifier across runs.
  private var recalled: [DeviceAddress: PeerIdentifier] = [:]
  private let identifiers: RandomStream
  /// The number of times that the user has reset the identifiers.
  private(set) var generation: UInt32
  private let directory: PeerDirectory

  init(identifiers: RandomStream, generation: UInt32 = 0, directory: PeerDirectory) {
    self.identifiers = identifiers
    self.generation = generation
    self.directory = directory
  }

  /// True if a peer must make room for a new one.
  var isFull: Bool { count >= Self.limit }

  func handle(of address: DeviceAddress) -> PeerHandle? { byAddress[address] }

  /// Returns the peer with `address`, of which there is a sign of life now; nil: there is none.
  mutating func hear(_ address: DeviceAddress) -> PeerHandle? {
    guard let handle = byAddress[address] else { return nil }
    use(handle)
    setIntroducer(nil, of: handle)
    return handle
  }

  /// Notes that a peer is used now.
  mutating func use(_ handle: PeerHandle) {
    useCount += 1
    peers[handle.slot].lastUse = useCount
  }

  private mutating func setIntroducer(_ user: ClientUser?, of handle: PeerHandle) {
    if let former = peers[handle.slot].introducer {
      let rest = introductions[former, default: 0] - 1
      introductions[former] = rest > 0 ? rest : nil
    }
    peers[handle.slot].introducer = user
    if let user { introductions[user, default: 0] += 1 }
  }

  /// Returns the peer with `address`, adding it if it is new; nil if the table is full.
  ///
  /// - Parameter introducer: the user whose client has introduced a new peer; nil: the peer has been heard or is used.
  mutating func enter(_ address: DeviceAddress, isLinked: Bool = false, introducer: ClientUser? = nil) -> PeerHandle? {
    if let handle = hear(address) { return handle }
    guard count < (isLinked ? Self.linkLimit : Self.limit) else { return nil }
    let info = directory.add(recalled[address] ?? identifier(of: "\(address)"), address, name: nil)
    let peer = Peer(address: address, info: info)
    if info.handle.slot < peers.count { peers[info.handle.slot] = peer } else { peers.append(peer) }
    count += 1
    byAddress[address] = info.handle
    use(info.handle)
    setIntroducer(introducer, of: info.handle)
    return info.handle
  }

  /// Returns the peers that nothing uses, the one that has not been heard for the longest time first.
  ///
  /// - Parameters:
  ///   - named: the peers that something names.
  ///   - introducer: the user whose clients have introduced the peers; nil: all peers.
  func idle(sparing named: Set<PeerHandle>, introducedBy introducer: ClientUser? = nil) -> [PeerHandle] {
    peers.filter { peer in
      !peer.isVacant && peer.users.isEmpty && (introducer == nil || peer.introducer == introducer)
        && !named.contains(peer.info.handle)
    }
    .sorted { $0.lastUse < $1.lastUse }.map(\.info.handle)
  }

  /// The number of peers that the clients of a user have introduced and that have not been heard since.
  func introductionCount(of user: ClientUser) -> Int { introductions[user, default: 0] }

  /// Forgets peers that nothing uses.
  mutating func remove(_ handles: [PeerHandle]) {
    for handle in handles where contains(handle) {
      setIntroducer(nil, of: handle)
      peers[handle.slot].isVacant = true
      count -= 1
    }
    byAddress = byAddress.filter { contains($0.value) }
    directory.remove(handles)
  }

  /// Restores a peer from the bond that a former run stored.
  mutating func recall(_ record: BondRecord) {
    recalled[record.identity] = record.identifier
    if let handle = enter(record.identity, isLinked: true) { _ = setName(record.name, of: handle) }
  }

  /// Records the identity address of a peer that was first seen with a private address. The peer keeps its identifier.
  /// Returns the peer entry that had this identity address before, if any: the entry is now replaced, and no device
  /// will be found under its identifier again.
  mutating func identify(_ handle: PeerHandle, as identity: DeviceAddress) -> PeerHandle? {
    peers[handle.slot].address = identity
    peers[handle.slot].isReplaced = false
    directory.setAddress(identity, of: handle)
    guard let former = byAddress.updateValue(handle, forKey: identity), former != handle else { return nil }
    peers[former.slot].isReplaced = true
    return former
  }

  /// Gives all peers new identifiers, and forgets those of bonds. No peer is found under its former identifier.
  mutating func resetIdentifiers() {
    generation &+= 1
    recalled.removeAll()
    for handle in handles {
      let peer = peers[handle.slot]
      // A replaced peer has the address of the peer that has replaced it.
      let label = peer.isReplaced ? "\(peer.address) \(handle.index)" : "\(peer.address)"
      peers[handle.slot].info.identifier = identifier(of: label)
      directory.setIdentifier(peers[handle.slot].info.identifier, of: handle)
    }
  }

  /// True if `handle` names a peer of this adapter.
  func contains(_ handle: PeerHandle) -> Bool {
    handle.slot < peers.count && peers[handle.slot].info.handle == handle && !peers[handle.slot].isVacant
  }

  subscript(handle: PeerHandle) -> Peer {
    @inline(__always) get { peers[handle.slot] }
    _modify { yield &peers[handle.slot] }
  }

  var handles: [PeerHandle] { peers.lazy.filter { !$0.isVacant }.map(\.info.handle) }

  /// Changes the peer's name. Returns false if the peer already has this name.
  mutating func setName(_ name: String?, of handle: PeerHandle) -> Bool {
    guard peers[handle.slot].info.name != name else { return false }
    peers[handle.slot].info.name = name
    directory.setName(name, of: handle)
    return true
  }

  /// Returns a random UUID (version 4) that depends only on the address, the adapter's seed and the number of resets,
  /// so that it is the same in every run with that seed, in whatever order peers appear.
  private func identifier(of address: String) -> PeerIdentifier {
    let identifiers = generation == 0 ? identifiers : identifiers.split("reset \(generation)")
    var generator = identifiers.split(address)
    let high = generator.next() & ~0xF000 | 0x4000
    let low = generator.next() & ~(0b11 << 62) | 0b10 << 62
    return PeerIdentifier(high: high, low: low)
  }
}

extension RandomStream {
  /// Creates the generator of peer identifiers from the adapter's secret key. An identifier therefore reveals nothing
  /// of the address behind it.
  init(identifiersOf identityKey: Block) {
    self.init(seed: AES128.cmac(Array("identifiers".utf8), key: identityKey).high)
  }
}

/// A remote device, as the daemon knows it.
struct Peer {
  fileprivate(set) var address: DeviceAddress
  /// True if another entry turned out to be the same device and has taken over its identity address.
  fileprivate(set) var isReplaced = false
  var info: PeerInfo
  /// True if the peer has been forgotten: its slot is vacant.
  fileprivate var isVacant = false
  /// The number of the latest use.
  fileprivate var lastUse: UInt64 = 0
  /// The user whose client has introduced the peer; nil: the peer has been heard or linked.
  fileprivate var introducer: ClientUser?
  /// True if the name was read from the peer's GAP service; a name in its advertising data does not replace it.
  var hasDeviceName = false
  /// The service UUIDs in the peer's latest advertisement.
  var advertisedServices: [BluetoothUUID] = []
  /// The sessions that are connected to the peer or want to be, in the order of their requests.
  var users: [PeerUser] = []

  init(address: DeviceAddress, info: PeerInfo) {
    self.address = address
    self.info = info
  }

  func userIndex(of session: CentralSessionID) -> Int? { users.firstIndex { $0.session == session } }
}

/// The use of one connection by one session.
struct PeerUser {
  enum Phase: Equatable {
    /// The attempt begins later: because of the StartDelay option, or as a pause after a failure.
    case delayed(until: Instant)
    /// The attempt begins when the app is in the foreground.
    case held
    case connecting
    case connected
    /// The session has cancelled and the daemon is ending the link for it; `again`: the session has since requested a
    /// new connection.
    case disconnecting(again: Bool)
  }

  let session: CentralSessionID
  /// The session's credits for writes without response on this connection.
  var credits: TransmitCredits
  var phase: Phase
  /// True if the daemon re-establishes a dropped link.
  var reconnects: Bool
  /// The alerts that the session wants while its app is suspended.
  var alerts: AlertKinds = []
  /// True if the session requires that the peer can get the notifications of the system.
  var requiresNotifications = false
  /// True if the session has had this link before and waits for its re-establishment.
  var hasBeenConnected = false
  /// The services reported to the session over this link; nil: the session has not discovered services yet.
  var discoveredServices: Set<RemoteAttributeID>?
}
