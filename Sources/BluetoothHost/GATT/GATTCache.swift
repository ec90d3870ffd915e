// Design: the knowledge of a server between links
//
// While there is no link, confirmed results are a `GATTCache`, which the host keeps by the peer's identity (64 peers,
// 1,024 entries each), the daemon stores with a bond, and the host offers to the next link. On that link the first
// discovery waits for one read of the hash. If the hash is the known one, discoveries are answered without air traffic.
// Servers without a hash are asked each time: only a bond would be a reason to trust them. An error that says that a
// handle from the cache is unknown ends the trust in the hash.
//
// Any device can use an address and repeat a hash. So the results of a link without a bond are worth as much as such a
// link. They save air traffic where no peer has proven its identity, are not used once a link is encrypted with the key
// of a bond, and never replace the results of such a link. When a link becomes bonded, the client finds the GATT
// service and the hash again, and keeps only what it finds from then on; an entry of the bond is compared once more. If
// its hash is the same but results found before encryption differ from it, everything found is reported as changed. A
// cancelled link, a timeout and a failing controller say nothing about a database, and remove nothing from the cache.

import BluetoothWire

/// The target of a discovery, regardless of the UUIDs that it is limited to.
package enum GATTDiscovery: Hashable, Sendable {
  case primaryServices
  case includedServices(in: ClosedRange<AttributeHandle>)
  case characteristics(in: ClosedRange<AttributeHandle>)
  case descriptors(in: ClosedRange<AttributeHandle>)
}

/// The confirmed results of a `RemoteDatabase`, for the next link to the server. They are valid as long as the server's
/// Database Hash is the same · Vol 3, Part G, 2.5.2, 7.3.
package struct GATTCache: Hashable, Sendable {
  /// The maximum size of one server's cache: the number of discoveries plus the attributes that they have found.
  package static let maximumCount = 1024

  /// The Database Hash, in its own storage.
  package let hash: ByteSlice
  package let attributes: GATTServiceAttributes
  package private(set) var responses: [GATTDiscovery: GATTResponse] = [:]
  package private(set) var count = 0

  /// Creates a cache with the GATT service only. A stored cache is restored with this initializer and `add`.
  package init(hash: ByteSlice, attributes: GATTServiceAttributes) {
    self.hash = hash
    self.attributes = attributes
  }

  /// Adds the result of a discovery if there is room for it. A list of services in another order than that of their
  /// handles is not a result of a discovery, and is not added.
  package mutating func add(_ response: GATTResponse, to discovery: GATTDiscovery) {
    if case .services(let list) = response, !list.isInOrder { return }
    let size = response.cachedSize
    let old = responses[discovery]?.cachedSize ?? 0
    guard count - old + size <= Self.maximumCount else { return }
    count += size - old
    responses[discovery] = response
  }
}

/// The handles of those attributes of the GATT service that indicate changes · Vol 3, Part G, 7.
package struct GATTServiceAttributes: Hashable, Sendable {
  package var serviceChanged: AttributeHandle?
  /// The Client Characteristic Configuration of Service Changed.
  package var configuration: AttributeHandle?
  package var clientSupportedFeatures: AttributeHandle?
  package var databaseHash: AttributeHandle?
  package var serverSupportedFeatures: AttributeHandle?

  package init() {}

  /// Finds the handles in all attributes of the service: the attribute type of a characteristic's value is the
  /// characteristic's UUID.
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
  /// The size of the response in a `GATTCache`.
  var cachedSize: Int { 1 + attributeCount }

  private var attributeCount: Int {
    switch self {
    case .services(let list): return list.count
    case .includedServices(let list): return list.count
    case .characteristics(let list): return list.count
    case .descriptors(let list): return list.count
    case .values(let list): return list.count
    case .value, .done: return 0
    }
  }

  /// Returns the part of a discovery's result that has this UUID; nil: all UUIDs.
  func limited(to uuid: BluetoothUUID?) -> GATTResponse {
    guard let uuid else { return self }
    switch self {
    case .services(let services): return .services(services.filter { $0.uuid == uuid })
    case .characteristics(let all): return .characteristics(all.filter { $0.uuid == uuid })
    default: return self
    }
  }
}

extension [GATTService] {
  fileprivate var isInOrder: Bool { zip(self, dropFirst()).allSatisfy { $0.range.lowerBound < $1.range.lowerBound } }
}

/// The caches of servers without a link, by their identity.
struct GATTCacheStore {
  /// The maximum number of servers; those connected least recently are removed first.
  static let maximumCount = 64

  private struct Entry {
    let peer: DeviceAddress
    let cache: GATTCache
    /// True if the cache is from a link that was encrypted with a bond's key. Other caches are unauthenticated: any
    /// device can use an address and repeat a hash.
    let isBonded: Bool
  }

  /// The caches in the order of their last connection, the most recent one last.
  private var entries: [Entry] = []

  subscript(peer: DeviceAddress) -> GATTCache? { entries.first { $0.peer == peer }?.cache }

  /// Returns the cache of a link that was encrypted with the bond's key.
  func bonded(_ peer: DeviceAddress) -> GATTCache? { entries.first { $0.peer == peer && $0.isBonded }?.cache }

  /// Removes the cache of a server.
  mutating func forget(_ peer: DeviceAddress) { entries.removeAll { $0.peer == peer } }

  /// Stores the cache of a server, or removes it (nil). Servers with private addresses are not stored, because they
  /// cannot be recognized later.
  ///
  /// The cache of a bonded link is replaced or removed only on behalf of another bonded link.
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
