import BluetoothCrypto
import BluetoothWire

/// The peers of one adapter: addresses, the identifiers that apps see instead, and who uses which.
struct PeerTable {
  /// Further addresses are not taken in: an air full of made-up ones must not fill the memory.
  static let limit = 65_536
  /// So many of those that have a link are: it takes far longer to make up one of them.
  static let linkLimit = 2 * limit

  private(set) var peers: [Peer] = []
  private var byAddress: [DeviceAddress: PeerHandle] = [:]
  /// Those of bonded peers, whichever run they are from.
  private var recalled: [DeviceAddress: PeerIdentifier] = [:]
  private let identifiers: SplitGenerator
  private let directory: PeerDirectory

  init(identifiers: SplitGenerator, directory: PeerDirectory) {
    self.identifiers = identifiers
    self.directory = directory
  }

  func handle(of address: DeviceAddress) -> PeerHandle? { byAddress[address] }

  /// The peer with `address`, new if need be; nil when there is no room for another.
  mutating func enter(_ address: DeviceAddress, isLinked: Bool = false) -> PeerHandle? {
    if let handle = byAddress[address] { return handle }
    guard peers.count < (isLinked ? Self.linkLimit : Self.limit) else { return nil }
    let info = directory.add(recalled[address] ?? identifier(of: address), name: nil)
    peers.append(Peer(address: address, info: info))
    byAddress[address] = info.handle
    return info.handle
  }

  /// A peer that a run before has bonded with.
  mutating func recall(_ record: BondRecord) {
    recalled[record.identity] = record.identifier
    if let handle = enter(record.identity, isLinked: true) { _ = setName(record.name, of: handle) }
  }

  /// The peer, met under a private address, has said who it is: it keeps its identifier, and is known by its identity. The
  /// result is who was known by that before, and is not any more: nobody will be found under that identifier again.
  mutating func identify(_ handle: PeerHandle, as identity: DeviceAddress) -> PeerHandle? {
    peers[Int(handle.index)].address = identity
    peers[Int(handle.index)].isReplaced = false
    guard let former = byAddress.updateValue(handle, forKey: identity), former != handle else { return nil }
    peers[Int(former.index)].isReplaced = true
    return former
  }

  /// Whether `handle` is one of this adapter's.
  func contains(_ handle: PeerHandle) -> Bool { Int(handle.index) < peers.count }

  subscript(handle: PeerHandle) -> Peer {
    _read { yield peers[Int(handle.index)] }
    _modify { yield &peers[Int(handle.index)] }
  }

  var handles: [PeerHandle] { peers.indices.map { PeerHandle(index: UInt32($0)) } }

  /// Changes the name; false: it had this one already.
  mutating func setName(_ name: String?, of handle: PeerHandle) -> Bool {
    guard peers[Int(handle.index)].info.name != name else { return false }
    peers[Int(handle.index)].info.name = name
    directory.setName(name, of: handle)
    return true
  }

  /// A random UUID (version 4) that depends on the address and the adapter's seed alone, so that it is the same in every
  /// run with that seed, whichever peer comes first.
  private func identifier(of address: DeviceAddress) -> PeerIdentifier {
    var generator = identifiers.split("\(address)")
    let high = generator.next() & ~0xF000 | 0x4000
    let low = generator.next() & ~(0b11 << 62) | 0b10 << 62
    return PeerIdentifier(high: high, low: low)
  }
}

extension SplitGenerator {
  /// Where the identifiers of an adapter's peers come from, which is the adapter's own secret: who knows an identifier learns
  /// nothing of the address behind it.
  init(identifiersOf identityKey: Block) {
    self.init(seed: AES128.cmac(Array("identifiers".utf8), key: identityKey).high)
  }
}

/// Another device, as the service knows it.
struct Peer {
  fileprivate(set) var address: DeviceAddress
  /// Another peer has turned out to be this one.
  fileprivate(set) var isReplaced = false
  var info: PeerInfo
  /// The name was read from the peer's GAP service; what it advertises does not replace it.
  var hasDeviceName = false
  /// What it has advertised last.
  var advertisedServices: [BluetoothUUID] = []
  /// The sessions that are connected to it or want to be, in the order in which they asked.
  var users: [PeerUser] = []

  init(address: DeviceAddress, info: PeerInfo) {
    self.address = address
    self.info = info
  }

  func userIndex(of session: CentralSlot) -> Int? { users.firstIndex { $0.session == session } }
}

/// A session's part in a connection.
struct PeerUser {
  enum Phase: Equatable {
    /// The attempt begins later: StartDelay, or a pause after a failure.
    case delayed(until: Instant)
    case connecting
    case connected
    /// The session has cancelled and the link is being ended for it; `again`: it has asked anew since.
    case disconnecting(again: Bool)
  }

  let session: CentralSlot
  /// For writes without response on this connection.
  let credits: TransmitCredits
  var phase: Phase
  /// A dropped link is made again.
  var reconnects: Bool
  /// The session has had this link before and waits for it to be made again.
  var hasBeenConnected = false
  /// The services that the session was told of over this link; nil: it has not asked yet.
  var discoveredServices: Set<RemoteAttributeID>?
}
