// Design: forgotten peers
//
// The table of peers forgets devices that nothing uses (`DaemonContext.enter`). A `PeerHandle` has a slot and a
// generation, so that it never names another device. Copies of the directory are told, and an attempt to connect to a
// forgotten device introduces it again.

import BluetoothCrypto
import BluetoothWire

/// The peers of one adapter: their addresses, the identifiers by which apps know them, and the sessions that use them.
struct Peers {
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
  private(set) var all: [Peer] = []
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
  /// The peers whose notifications must be prepared, because a session has required them or the security of the link has
  /// changed.
  private(set) var awaitingNotifications: [PeerHandle] = []

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
    all[handle.slot].lastUse = useCount
  }

  private mutating func setIntroducer(_ user: ClientUser?, of handle: PeerHandle) {
    if let former = all[handle.slot].introducer {
      let rest = introductions[former, default: 0] - 1
      introductions[former] = rest > 0 ? rest : nil
    }
    all[handle.slot].introducer = user
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
    if info.handle.slot < all.count { all[info.handle.slot] = peer } else { all.append(peer) }
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
    all.filter { peer in
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
      all[handle.slot].isVacant = true
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
    all[handle.slot].address = identity
    all[handle.slot].isReplaced = false
    directory.setAddress(identity, of: handle)
    guard let former = byAddress.updateValue(handle, forKey: identity), former != handle else { return nil }
    all[former.slot].isReplaced = true
    return former
  }

  /// Gives all peers new identifiers, and forgets those of bonds. No peer is found under its former identifier.
  mutating func resetIdentifiers() {
    generation &+= 1
    recalled.removeAll()
    for handle in handles {
      let peer = all[handle.slot]
      // A replaced peer has the address of the peer that has replaced it.
      let label = peer.isReplaced ? "\(peer.address) \(handle.index)" : "\(peer.address)"
      all[handle.slot].info.identifier = identifier(of: label)
      directory.setIdentifier(all[handle.slot].info.identifier, of: handle)
    }
  }

  /// True if `handle` names a peer of this adapter.
  func contains(_ handle: PeerHandle) -> Bool {
    handle.slot < all.count && all[handle.slot].info.handle == handle && !all[handle.slot].isVacant
  }

  subscript(handle: PeerHandle) -> Peer {
    @inline(__always) get { all[handle.slot] }
  }

  var handles: [PeerHandle] { all.lazy.filter { !$0.isVacant }.map(\.info.handle) }

  /// Changes the peer's name. Returns false if the peer already has this name.
  mutating func setName(_ name: String?, of handle: PeerHandle) -> Bool {
    guard all[handle.slot].info.name != name else { return false }
    all[handle.slot].info.name = name
    directory.setName(name, of: handle)
    return true
  }

  /// Records the name from the peer's GAP service. Returns false if the peer already has this name.
  mutating func setDeviceName(_ name: String, of handle: PeerHandle) -> Bool {
    all[handle.slot].hasDeviceName = true
    return setName(name, of: handle)
  }

  /// Records the content of an advertisement. The advertised name is used until the name in the GAP service is known.
  mutating func learn(_ content: AdvertisingFields, of handle: PeerHandle) {
    all[handle.slot].advertisedServices = content.services
    if let name = content.localName, !all[handle.slot].hasDeviceName { _ = setName(name, of: handle) }
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

// MARK: Users

extension Peers {
  /// Adds a session that wants a connection to a peer.
  mutating func add(_ user: PeerUser, to peer: PeerHandle) { all[peer.slot].users.append(user) }

  /// Removes and returns a user of a peer.
  @discardableResult
  mutating func removeUser(_ index: Int, of peer: PeerHandle) -> PeerUser { all[peer.slot].users.remove(at: index) }

  /// Removes the users whose attempts to connect to a peer are in progress.
  mutating func removeConnectingUsers(of peer: PeerHandle) {
    all[peer.slot].users.removeAll { $0.phase == .connecting }
  }

  /// Removes the users of all peers.
  mutating func removeAllUsers() {
    for slot in all.indices where !all[slot].users.isEmpty { all[slot].users.removeAll() }
  }

  mutating func setPhase(_ phase: PeerUser.Phase, ofUser index: Int, of peer: PeerHandle) {
    all[peer.slot].users[index].phase = phase
  }

  /// Notes that a user waits for another link, because the former one has ended.
  mutating func reconnect(_ index: Int, of peer: PeerHandle) {
    let wasConnected = all[peer.slot].users[index].phase == .connected
    all[peer.slot].users[index].phase = .connecting
    all[peer.slot].users[index].hasBeenConnected = wasConnected
    // With automatic reconnection, the app goes on using what it has discovered.
    if !wasConnected { all[peer.slot].users[index].discoveredServices = nil }
  }

  mutating func setReconnects(_ reconnects: Bool, ofUser index: Int, of peer: PeerHandle) {
    all[peer.slot].users[index].reconnects = reconnects
  }

  /// Gives a user the credits of the client that continues its session.
  mutating func setCredits(_ credits: TransmitCredits, ofUser index: Int, of peer: PeerHandle) {
    all[peer.slot].users[index].credits = credits
  }

  /// Sets the alerts that a session wants about a peer while its app is suspended.
  mutating func setAlerts(_ alerts: AlertKinds, of session: CentralSessionID, for peer: PeerHandle) {
    guard contains(peer), let user = all[peer.slot].userIndex(of: session) else { return }
    all[peer.slot].users[user].alerts = alerts
  }

  /// Notes that a session requires that a peer can get the notifications of the system. Returns false if the session does
  /// not use the peer.
  mutating func requireNotifications(of session: CentralSessionID, for peer: PeerHandle) -> Bool {
    guard contains(peer), let user = all[peer.slot].userIndex(of: session) else { return false }
    all[peer.slot].users[user].requiresNotifications = true
    return true
  }

  /// Restores what a session of a former run had with a peer.
  mutating func restore(_ stored: StoredApp.Connection, of session: CentralSessionID, for peer: PeerHandle) {
    guard let user = all[peer.slot].userIndex(of: session) else { return }
    all[peer.slot].users[user].hasBeenConnected = stored.reconnects && stored.hasBeenConnected
    all[peer.slot].users[user].alerts = stored.alerts
    all[peer.slot].users[user].requiresNotifications = stored.requiresNotifications
  }

  /// Records the services reported to a session.
  mutating func noteDiscovered(
    _ services: [RemoteServiceInfo], by session: CentralSessionID, of peer: PeerHandle
  ) {
    guard let user = all[peer.slot].userIndex(of: session) else { return }
    // Modify the set in place, because a peer may have tens of thousands of services.
    if all[peer.slot].users[user].discoveredServices == nil { all[peer.slot].users[user].discoveredServices = [] }
    all[peer.slot].users[user].discoveredServices?.formUnion(services.lazy.map(\.id))
  }

  /// Removes and returns the services that a user has discovered and that have changed; nil: the user has not discovered
  /// services.
  mutating func takeDiscovered(
    ofUser index: Int, of peer: PeerHandle, where hasChanged: (RemoteAttributeID) -> Bool
  ) -> Set<RemoteAttributeID>? {
    guard let known = all[peer.slot].users[index].discoveredServices else { return nil }
    let modified = known.filter(hasChanged)
    all[peer.slot].users[index].discoveredServices = known.subtracting(modified)
    return modified
  }

  /// Has the notifications of the system prepared for a peer.
  mutating func awaitNotifications(for peer: PeerHandle) { awaitingNotifications.append(peer) }

  /// Removes and returns a peer whose notifications must be prepared; nil: none.
  mutating func takeAwaitingNotifications() -> PeerHandle? { awaitingNotifications.popLast() }
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
  fileprivate(set) var info: PeerInfo
  /// True if the peer has been forgotten: its slot is vacant.
  fileprivate var isVacant = false
  /// The number of the latest use.
  fileprivate var lastUse: UInt64 = 0
  /// The user whose client has introduced the peer; nil: the peer has been heard or linked.
  fileprivate var introducer: ClientUser?
  /// True if the name was read from the peer's GAP service; a name in its advertising data does not replace it.
  fileprivate(set) var hasDeviceName = false
  /// The service UUIDs in the peer's latest advertisement.
  fileprivate(set) var advertisedServices: [BluetoothUUID] = []
  /// The sessions that are connected to the peer or want to be, in the order of their requests.
  fileprivate(set) var users: [PeerUser] = []

  init(address: DeviceAddress, info: PeerInfo) {
    self.address = address
    self.info = info
  }

  func userIndex(of session: CentralSessionID) -> Int? { users.firstIndex { $0.session == session } }

  /// True if a session is connected to the peer.
  var isUsed: Bool { users.contains { $0.phase == .connected } }

  /// True if an attempt of a session to connect to the peer is in progress.
  var isAwaited: Bool { users.contains { $0.phase == .connecting } }
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
  fileprivate(set) var credits: TransmitCredits
  fileprivate(set) var phase: Phase
  /// True if the daemon re-establishes a dropped link.
  fileprivate(set) var reconnects: Bool
  /// The alerts that the session wants while its app is suspended.
  fileprivate(set) var alerts: AlertKinds = []
  /// True if the session requires that the peer can get the notifications of the system.
  fileprivate(set) var requiresNotifications = false
  /// True if the session has had this link before and waits for its re-establishment.
  fileprivate(set) var hasBeenConnected = false
  /// The services reported to the session over this link; nil: the session has not discovered services yet.
  fileprivate(set) var discoveredServices: Set<RemoteAttributeID>?
}
