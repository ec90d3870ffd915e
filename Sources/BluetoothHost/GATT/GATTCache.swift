import BluetoothWire

/// What a discovery finds, whichever UUIDs it is narrowed to.
package enum GATTDiscovery: Hashable, Sendable {
  case primaryServices
  case includedServices(in: ClosedRange<AttributeHandle>)
  case characteristics(in: ClosedRange<AttributeHandle>)
  case descriptors(in: ClosedRange<AttributeHandle>)
}

/// What was found out about a server's database, for the next link to it: as long as its Database Hash is the same, so is
/// all of it · Vol 3, Part G, 2.5.2, 7.3.
package struct GATTCache: Hashable, Sendable {
  /// How much of one server is kept: discoveries, and the attributes that they have found.
  package static let maximumCount = 1024

  /// Database Hash, in a storage of its own.
  package let hash: ByteSlice
  package let attributes: GATTServiceAttributes
  package private(set) var responses: [GATTDiscovery: GATTResponse] = [:]
  package private(set) var count = 0

  /// Knows of nothing but the GATT service yet. Who writes a cache down makes it anew with this and `add`.
  package init(hash: ByteSlice, attributes: GATTServiceAttributes) {
    self.hash = hash
    self.attributes = attributes
  }

  /// Adds what a discovery has found, if there is room for it.
  package mutating func add(_ response: GATTResponse, to discovery: GATTDiscovery) {
    let size = 1 + response.attributeCount
    let old = responses[discovery].map { 1 + $0.attributeCount } ?? 0
    guard count - old + size <= Self.maximumCount else { return }
    count += size - old
    responses[discovery] = response
  }

  /// The result of a discovery; nil: it is not known.
  func response(to discovery: GATTDiscovery, only uuid: BluetoothUUID?) -> GATTResponse? {
    let response = responses[discovery]
    guard let uuid else { return response }
    switch response {
    case .services(let services)?: return .services(services.filter { $0.uuid == uuid })
    case .characteristics(let all)?: return .characteristics(all.filter { $0.uuid == uuid })
    default: return response
    }
  }
}

/// Where the attributes stand that tell of changes: those of the GATT service · Vol 3, Part G, 7.
package struct GATTServiceAttributes: Hashable, Sendable {
  package var serviceChanged: AttributeHandle?
  /// The Client Characteristic Configuration of Service Changed.
  package var configuration: AttributeHandle?
  package var clientSupportedFeatures: AttributeHandle?
  package var databaseHash: AttributeHandle?
  package var serverSupportedFeatures: AttributeHandle?

  package init() {}

  /// Found in all attributes of the service: the type of a characteristic's value is the characteristic's UUID.
  init(_ attributes: [GATTDescriptor]) {
    var isServiceChanged = false
    for attribute in attributes {
      switch attribute.uuid {
      case GATTType.characteristic: isServiceChanged = false
      case GATTType.serviceChanged:
        isServiceChanged = true
        serviceChanged = attribute.handle
      case GATTType.clientCharacteristicConfiguration where isServiceChanged: configuration = attribute.handle
      case GATTType.clientSupportedFeatures: clientSupportedFeatures = attribute.handle
      case GATTType.databaseHash: databaseHash = attribute.handle
      case GATTType.serverSupportedFeatures: serverSupportedFeatures = attribute.handle
      default: break
      }
    }
  }

  func overlap(_ range: ClosedRange<AttributeHandle>) -> Bool {
    [serviceChanged, configuration, clientSupportedFeatures, databaseHash, serverSupportedFeatures]
      .contains { $0.map(range.contains) ?? false }
  }
}

extension GATTResponse {
  fileprivate var attributeCount: Int {
    switch self {
    case .services(let list): return list.count
    case .includedServices(let list): return list.count
    case .characteristics(let list): return list.count
    case .descriptors(let list): return list.count
    case .values(let list): return list.count
    case .value, .done: return 0
    }
  }
}

/// The caches of servers that are not connected, by their identity.
struct GATTCacheStore {
  /// How many servers are remembered: those seen last.
  static let maximumCount = 64

  private struct Entry {
    let peer: DeviceAddress
    let cache: GATTCache
    /// It is from a link that was encrypted with a bond's key. Others prove nothing: anybody can use an address, and
    /// repeat a hash.
    let isBonded: Bool
  }

  /// The one seen last stands last.
  private var entries: [Entry] = []

  subscript(peer: DeviceAddress) -> GATTCache? { entries.first { $0.peer == peer }?.cache }

  /// What a link that was encrypted with the bond's key has left.
  func bonded(_ peer: DeviceAddress) -> GATTCache? { entries.first { $0.peer == peer && $0.isBonded }?.cache }

  /// Nothing is known of a server any more.
  mutating func forget(_ peer: DeviceAddress) { entries.removeAll { $0.peer == peer } }

  /// Remembers a server, or forgets it. Who has a private address is nobody that could be known again.
  ///
  /// What is from a bonded link is overwritten, forgotten and pushed out only by what is from another.
  mutating func keep(_ cache: GATTCache?, of peer: DeviceAddress, isBonded: Bool) {
    if let index = entries.firstIndex(where: { $0.peer == peer }) {
      let old = entries.remove(at: index)
      if old.isBonded, !isBonded { return entries.append(old) }
    }
    guard let cache, peer.kind == .public || peer.randomKind == .static else { return }
    if entries.count == Self.maximumCount {
      guard let oldest = entries.firstIndex(where: { !$0.isBonded }) ?? (isBonded ? 0 : nil) else { return }
      entries.remove(at: oldest)
    }
    entries.append(Entry(peer: peer, cache: cache, isBonded: isBonded))
  }
}

/// What the host's GATT clients know of servers from one link to the next.
extension Host {
  /// What a link that was encrypted with the key of a bond has left of the peer's server; nil: nothing.
  package func serverCache(of identity: DeviceAddress) -> GATTCache? { caches.bonded(identity) }

  /// Takes back what was kept of a bonded peer's server.
  package mutating func setServerCache(_ cache: GATTCache, of identity: DeviceAddress) {
    caches.keep(cache, of: identity, isBonded: true)
  }

  /// A link has come about, also one that is not wanted: what it does not change is kept when it ends.
  mutating func offerCache(on index: Int) {
    if let cache = caches[allLinks[index].identity] { allLinks[index].bearer.offer(cache) }
  }

  /// The link is encrypted with the bond's key from now on.
  mutating func offerBondedCache(on index: Int, at now: Instant) {
    allLinks[index].bearer.becameBonded(caches.bonded(allLinks[index].identity), at: now)
  }

  /// A link is over.
  mutating func keepCache(of link: HostLink) {
    caches.keep(link.bearer.cache, of: link.identity, isBonded: link.bearer.security.isBonded)
  }
}
