// Design: the knowledge of a server during a link
//
// The host has one database of each linked peer, the `RemoteDatabase` of the link's GATT client. Each result of a
// discovery is in it once, and is *found*, *confirmed* or both. Found results are those that the daemon may answer apps
// with: found on this link, or used on it. Confirmed results belong to the Database Hash: the client answers
// discoveries with them. The daemon has no copy. It asks the host (`Host.remoteDatabase`), and remembers only which
// discoveries run and which sessions wait for them. The validation alone decides when results are forgotten.
//
// An event has this effect:
// - Service Changed, Error 0x12, another hash. Found results: those in the range, all includes and the list of services
//   are forgotten; `GATTEvent.servicesChanged` names the services. Confirmed results: all are forgotten.
// - Services found again differ from the reported ones. Found results: the same, in the range of the difference.
//   Confirmed results: stay until the hash is read again.
// - The link becomes bonded, a cached handle is unknown, the hash can't be read. Found results: stay. Confirmed
//   results: all are forgotten.
// - The link ends. Found results: forgotten. Confirmed results: become the peer's `GATTCache`.
//
// Service Changed and Error 0x12 are reported at once (0x12 for all handles), and the hash is read again. Requests that
// wait for handles in the range, or that have started and would continue, fail with 0x12 instead of reaching another
// attribute. Prepared writes in the range are cancelled. A discovery of all services starts again; a discovery in the
// range fails. Notifications of several values are accepted, although the client does not claim the feature.

import BluetoothWire

/// The attributes of one server that are known during a link to it. Each result of a discovery is stored once, with two
/// properties that begin and end independently:
///
/// - It is *found* while the upper layer may use it: from a discovery on this link until the attributes change or the
///   link ends. All apps share the found attributes, so that each is discovered only once.
/// - It is *confirmed* while it belongs to the server's Database Hash. Confirmed results answer the discoveries of this
///   link and the next.
///
/// A found result is *stale* if it is from an earlier link and was not found on this one yet: apps whose connection was
/// re-established may use the attributes, but a discovery does not rely on them.
///
/// `DatabaseCacheValidator` decides about both. A `GATTCache` holds the confirmed results while there is no link.
package struct RemoteDatabase {
  private enum Trust {
    /// The result is used on this link only.
    case untrusted
    /// The result was found after the Database Hash was read, and waits for `confirm`.
    case unverified
    case confirmed
  }

  private struct Result {
    var response: GATTResponse
    var isFound: Bool
    var trust: Trust
    var isStale = false

    /// The result without trust; nil: the upper layer may not use it, so it is worth nothing.
    var untrusted: Result? {
      guard isFound else { return nil }
      var result = self
      result.trust = .untrusted
      return result
    }
  }

  private struct Service {
    let service: GATTService
    let isPrimary: Bool
  }

  private var results: [GATTDiscovery: Result] = [:]
  /// The found services that are not in a complete list of primary services, sorted by declaration: services that an
  /// include has named, and primary services that were found before a change of other services.
  private var otherServices: [Service] = []
  /// The discoveries whose results wait for confirmation, in the order of their completion.
  private var unverified: [GATTDiscovery] = []
  /// The size of the confirmed results, counted as in a `GATTCache`.
  private var confirmedCount = 0

  package init() {}

  // MARK: Earlier links

  /// Returns the found results, for the next link to the server: untrusted there.
  ///
  /// - Parameter isStale: true if a discovery on that link does not rely on them.
  func forNextLink(isStale: Bool) -> RemoteDatabase {
    var next = RemoteDatabase()
    next.otherServices = otherServices
    next.results = results.compactMapValues { result in
      result.isFound ? Result(response: result.response, isFound: true, trust: .untrusted, isStale: isStale) : nil
    }
    return next
  }

  /// True if nothing is known.
  var isEmpty: Bool { results.isEmpty && otherServices.isEmpty }

  /// True if some results are stale.
  var hasStaleResults: Bool { results.values.contains { $0.isStale } }

  /// Returns true if the result of a discovery is stale.
  package func isStale(_ discovery: GATTDiscovery) -> Bool { results[discovery]?.isStale ?? false }

  /// Returns the handles at which a result of this link differs from the stale one; nil: there is no stale result, or
  /// they are equal.
  func difference(of response: GATTResponse, by discovery: GATTDiscovery) -> ClosedRange<AttributeHandle>? {
    guard let old = results[discovery], old.isStale, old.response != response else { return nil }
    switch discovery {
    case .primaryServices:
      guard case .services(let now) = response else { return nil }
      return now.difference(from: primaryServices ?? [])
    case .includedServices(let range), .characteristics(let range), .descriptors(let range): return range
    }
  }

  // MARK: Found attributes

  /// The primary services; nil: not discovered yet.
  package var primaryServices: [GATTService]? {
    if case .services(let list)? = result(of: .primaryServices) { list } else { nil }
  }

  package func service(at declaration: AttributeHandle) -> GATTService? { lookUp(declaration)?.service }

  /// Returns true for a primary service; nil: no known service has this declaration.
  package func isPrimary(_ declaration: AttributeHandle) -> Bool? { lookUp(declaration)?.isPrimary }

  package func includes(of declaration: AttributeHandle) -> [GATTInclude]? {
    guard let range = service(at: declaration)?.range,
      case .includedServices(let list)? = result(of: .includedServices(in: range))
    else { return nil }
    return list
  }

  package func characteristics(of declaration: AttributeHandle) -> [GATTCharacteristic]? {
    service(at: declaration).flatMap { characteristics(in: $0.range) }
  }

  package func characteristic(withValue value: AttributeHandle) -> GATTCharacteristic? {
    place(of: value).map { $0.characteristics[$0.index] }
  }

  package func descriptors(ofValue value: AttributeHandle) -> [GATTDescriptor]? {
    guard let range = descriptorRange(ofValue: value),
      case .descriptors(let list)? = result(of: .descriptors(in: range))
    else { return nil }
    return list
  }

  /// Returns the handles at which a characteristic can have descriptors: after its value and before the next
  /// declaration; nil: there is no room for a descriptor, or there is no such characteristic.
  package func descriptorRange(ofValue value: AttributeHandle) -> ClosedRange<AttributeHandle>? {
    guard let place = place(of: value) else { return nil }
    let next = place.characteristics.lazy.map(\.declaration).filter { $0 > value }.min()
    let end = next.map { $0 - 1 } ?? place.service.range.upperBound
    return value < end ? value + 1...end : nil
  }

  /// Returns the result of a discovery that the upper layer may use; nil: there is none.
  private func result(of discovery: GATTDiscovery) -> GATTResponse? {
    guard let result = results[discovery], result.isFound else { return nil }
    return result.response
  }

  private func characteristics(in range: ClosedRange<AttributeHandle>) -> [GATTCharacteristic]? {
    if case .characteristics(let list)? = result(of: .characteristics(in: range)) { list } else { nil }
  }

  /// All found services, sorted by declaration.
  private var services: [Service] {
    let primaries = (primaryServices ?? []).map { Service(service: $0, isPrimary: true) }
    guard !otherServices.isEmpty else { return primaries }
    return (primaries + otherServices).sorted { $0.service.range.lowerBound < $1.service.range.lowerBound }
  }

  // A peer may have tens of thousands of services, so the search takes O(log n).

  private func lookUp(_ declaration: AttributeHandle) -> Service? {
    if let list = primaryServices {
      let index = list.sortedIndex { $0.range.lowerBound >= declaration }
      if index < list.count, list[index].range.lowerBound == declaration {
        return Service(service: list[index], isPrimary: true)
      }
    }
    let index = otherServices.sortedIndex { $0.service.range.lowerBound >= declaration }
    guard index < otherServices.count, otherServices[index].service.range.lowerBound == declaration else { return nil }
    return otherServices[index]
  }

  /// A characteristic, with the service that contains it.
  private typealias Place = (service: GATTService, characteristics: [GATTCharacteristic], index: Int)

  private func place(of value: AttributeHandle) -> Place? {
    // The last service that begins before the value, except when the peer's services overlap, which the specification
    // forbids.
    let primaries = primaryServices ?? []
    for service in primaries[..<primaries.sortedIndex { $0.range.lowerBound > value }].reversed() {
      if let place = place(of: value, in: service) { return place }
    }
    for other in otherServices[..<otherServices.sortedIndex { $0.service.range.lowerBound > value }].reversed() {
      if let place = place(of: value, in: other.service) { return place }
    }
    return nil
  }

  private func place(of value: AttributeHandle, in service: GATTService) -> Place? {
    guard service.range.contains(value), let list = characteristics(in: service.range),
      let index = list.firstIndex(where: { $0.value == value })
    else { return nil }
    return (service, list, index)
  }

  // MARK: Discoveries

  /// Stores the result of a discovery on this link. A new list of primary services keeps the content of services that
  /// have not changed.
  mutating func found(_ response: GATTResponse, by discovery: GATTDiscovery) {
    if case .services(let list) = response { removeServices(missingIn: list) }
    store(response, of: discovery, isFound: true)
    if case .includedServices(let includes) = response { add(includes.map(\.service)) }
  }

  /// Notes that a discovery of this link was answered with its confirmed result.
  mutating func used(_ discovery: GATTDiscovery) {
    if let result = results[discovery], !result.isFound { found(result.response, by: discovery) }
  }

  /// Forgets every found service that overlaps `range`, and all found includes; the list of primary services becomes
  /// incomplete. Returns the ranges of the forgotten services, in order.
  mutating func forget(_ range: ClosedRange<AttributeHandle>) -> [ClosedRange<AttributeHandle>] {
    let all = services
    let forgotten = all.map(\.service.range).filter { $0.overlaps(range) }
    otherServices = all.filter { !$0.service.range.overlaps(range) }
    loseResults { discovery in
      switch discovery {
      case .primaryServices, .includedServices: true
      case .characteristics(let own), .descriptors(let own): own.overlaps(range) || own.begins(in: forgotten)
      }
    }
    return forgotten
  }

  /// Forgets the services that a new list of primary services contradicts.
  private mutating func removeServices(missingIn list: [GATTService]) {
    let old = services
    guard !old.isEmpty else { return }
    let (current, declarations) = (Set(list), Set(list.map(\.range.lowerBound)))
    let gone = old.filter {
      !current.contains($0.service) && ($0.isPrimary || declarations.contains($0.service.range.lowerBound))
    }.map(\.service.range)
    // An include may have named a primary service before it was discovered.
    otherServices.removeAll { $0.isPrimary || declarations.contains($0.service.range.lowerBound) }
    guard !gone.isEmpty else { return }
    loseResults { discovery in
      switch discovery {
      case .primaryServices: false
      case .includedServices(let own), .characteristics(let own), .descriptors(let own): own.begins(in: gone)
      }
    }
  }

  /// Adds the services that are not found yet.
  private mutating func add(_ services: [GATTService]) {
    var added: Set<AttributeHandle> = []
    let new = services.filter { service in
      lookUp(service.range.lowerBound) == nil && added.insert(service.range.lowerBound).inserted
    }
    guard !new.isEmpty else { return }
    otherServices += new.map { Service(service: $0, isPrimary: false) }
    otherServices.sort { $0.service.range.lowerBound < $1.service.range.lowerBound }
  }

  private mutating func loseResults(where isLost: (GATTDiscovery) -> Bool) {
    for (discovery, result) in results where result.isFound && isLost(discovery) {
      if result.trust == .untrusted {
        results[discovery] = nil
      } else {
        results[discovery]?.isFound = false
      }
    }
  }

  private mutating func store(_ response: GATTResponse, of discovery: GATTDiscovery, isFound: Bool) {
    var trust = Trust.untrusted
    if let old = results[discovery] {
      if old.trust == .confirmed, old.response != response {
        confirmedCount -= old.response.cachedSize
      } else {
        trust = old.trust
      }
    }
    results[discovery] = Result(response: response, isFound: isFound, trust: trust)
  }

  // MARK: Confirmation

  /// The number of results that wait for confirmation; a repeated discovery counts again.
  var unverifiedCount: Int { unverified.count }

  /// Returns the confirmed result of a discovery; nil: there is none.
  func confirmedResult(of discovery: GATTDiscovery) -> GATTResponse? {
    guard let result = results[discovery], result.trust == .confirmed else { return nil }
    return result.response
  }

  /// Notes that the result of a discovery was found after the hash was read.
  mutating func awaitConfirmation(of discovery: GATTDiscovery) {
    unverified.append(discovery)
    if let result = results[discovery], result.trust == .untrusted { results[discovery]?.trust = .unverified }
  }

  /// Stores the primary services that the client has discovered by itself. The upper layer does not get them, and may
  /// use them only if it has found the same ones.
  mutating func foundAgain(_ services: [GATTService]) {
    store(.services(services), of: .primaryServices, isFound: primaryServices == services)
    awaitConfirmation(of: .primaryServices)
  }

  /// Confirms the unverified results, as far as a `GATTCache` has room for them.
  mutating func confirm() {
    for discovery in unverified {
      guard let result = results[discovery], result.trust == .unverified else { continue }
      let size = result.response.cachedSize
      if confirmedCount + size <= GATTCache.maximumCount {
        confirmedCount += size
        results[discovery]?.trust = .confirmed
      } else {
        results[discovery] = result.untrusted
      }
    }
    unverified = []
  }

  /// Ends the trust in all results. The upper layer may still use those that it has found.
  mutating func distrust() {
    (unverified, confirmedCount) = ([], 0)
    for (discovery, result) in results where result.trust != .untrusted { results[discovery] = result.untrusted }
  }

  /// Returns true if a found result differs from that of the cache.
  func contradicts(_ cache: GATTCache) -> Bool {
    cache.responses.contains { discovery, response in result(of: discovery).map { $0 != response } ?? false }
  }

  /// Adds the results of a cache whose hash is that of the server. No found result contradicts them.
  mutating func adopt(_ cache: GATTCache) {
    for (discovery, response) in cache.responses {
      results[discovery] = Result(
        response: response, isFound: results[discovery]?.isFound ?? false, trust: .confirmed)
    }
    confirmedCount = cache.count
  }

  /// Returns the confirmed results as the cache for the next link.
  func cache(_ hash: ByteSlice, _ attributes: GATTServiceAttributes) -> GATTCache {
    var cache = GATTCache(hash: hash, attributes: attributes)
    for (discovery, result) in results where result.trust == .confirmed { cache.add(result.response, to: discovery) }
    return cache
  }
}

extension [GATTService] {
  /// Returns the range of the services that are in one of the two lists only; nil: the lists have the same services.
  func difference(from other: [GATTService]) -> ClosedRange<AttributeHandle>? {
    let changed = Set(self).symmetricDifference(other)
    guard let first = changed.map(\.range.lowerBound).min(), let last = changed.map(\.range.upperBound).max() else {
      return nil
    }
    return first...last
  }
}

extension ClosedRange<AttributeHandle> {
  /// Returns true if the range begins in one of `ranges`, which are sorted.
  fileprivate func begins(in ranges: [ClosedRange<AttributeHandle>]) -> Bool {
    let end = ranges.sortedIndex { $0.lowerBound > lowerBound }
    return end > 0 && ranges[end - 1].contains(lowerBound)
  }
}

extension Array {
  /// Returns the index of the first element that satisfies `isBehind`, or `endIndex`. All elements after the first one
  /// must satisfy it, too. Complexity: O(log n).
  func sortedIndex(where isBehind: (Element) -> Bool) -> Int {
    var (low, high) = (startIndex, endIndex)
    while low < high {
      let middle = low + (high - low) / 2
      if isBehind(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
