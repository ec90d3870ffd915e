import BluetoothCrypto
import BluetoothWire

/// The peers of one adapter: their addresses, the identifiers by which apps know them, and the sessions that use them.
struct PeerTable {
  /// The maximum number of peers without a link. Further addresses are ignored, so that forged advertising addresses
  /// cannot exhaust memory.
  static let limit = 65_536
  /// The maximum number of peers when the new one has a link. It is higher because forging a linked peer takes far
  /// longer than forging an advertising address.
  static let linkLimit = 2 * limit

  private(set) var peers: [Peer] = []
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

  func handle(of address: DeviceAddress) -> PeerHandle? { byAddress[address] }

  /// Returns the peer with `address`, adding it if it is new; nil if the table is full.
  mutating func enter(_ address: DeviceAddress, isLinked: Bool = false) -> PeerHandle? {
    if let handle = byAddress[address] { return handle }
    guard peers.count < (isLinked ? Self.linkLimit : Self.limit) else { return nil }
    let info = directory.add(recalled[address] ?? identifier(of: "\(address)"), address, name: nil)
    peers.append(Peer(address: address, info: info))
    byAddress[address] = info.handle
    return info.handle
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
    peers[Int(handle.index)].address = identity
    peers[Int(handle.index)].isReplaced = false
    directory.setAddress(identity, of: handle)
    guard let former = byAddress.updateValue(handle, forKey: identity), former != handle else { return nil }
    peers[Int(former.index)].isReplaced = true
    return former
  }

  /// Gives all peers new identifiers, and forgets those of bonds. No peer is found under its former identifier.
  mutating func resetIdentifiers() {
    generation &+= 1
    recalled.removeAll()
    for index in peers.indices {
      let handle = PeerHandle(index: UInt32(index))
      // A replaced peer has the address of the peer that has replaced it.
      let label = peers[index].isReplaced ? "\(peers[index].address) \(index)" : "\(peers[index].address)"
      peers[index].info.identifier = identifier(of: label)
      directory.setIdentifier(peers[index].info.identifier, of: handle)
    }
  }

  /// True if `handle` names a peer of this adapter.
  func contains(_ handle: PeerHandle) -> Bool { Int(handle.index) < peers.count }

  subscript(handle: PeerHandle) -> Peer {
    @inline(__always) _read { yield peers[Int(handle.index)] }
    _modify { yield &peers[Int(handle.index)] }
  }

  var handles: [PeerHandle] { peers.indices.map { PeerHandle(index: UInt32($0)) } }

  /// Changes the peer's name. Returns false if the peer already has this name.
  mutating func setName(_ name: String?, of handle: PeerHandle) -> Bool {
    guard peers[Int(handle.index)].info.name != name else { return false }
    peers[Int(handle.index)].info.name = name
    directory.setName(name, of: handle)
    return true
  }

  /// Returns a random UUID (version 4) that depends only on the address, the adapter's seed and the number of resets, so
  /// that it is the same in every run with that seed, in whatever order peers appear.
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
