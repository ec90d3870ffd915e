import BluetoothWire

/// How the client knows that what it has found out about the server's database is still so · Vol 3, Part G, 2.5.2, 7.
///
/// As soon as services have been asked for it finds the GATT service's attributes, reads Database Hash, and subscribes to
/// Service Changed. What costs an app nothing comes when the link has been quiet for a while: Robust Caching is enabled;
/// services that were told before anything watched over them are looked for again; and Database Hash is read once more,
/// which proves what was found since it was first read. What is proven goes into a `GATTCache`.
struct GATTDatabaseWatch {
  /// A request of the client's own.
  enum Task {
    case request(GATTRequest)
    /// Read By Type, over all handles: a server answers that even if the client has not heard of a change · 2.5.2.1.
    case readHash
  }

  /// What the result of a task says about the database.
  enum Finding {
    case nothing
    /// It is not what the client knew in this range.
    case changed(ClosedRange<AttributeHandle>)
  }

  private enum Step {
    case findService
    case findAttributes(ClosedRange<AttributeHandle>)
    case readHash
    case subscribe
    case readServerFeatures
    case readClientFeatures
    case enableRobustCaching(ByteSlice)
    case findServicesAgain
    case confirm

    /// Whether an app's next request goes first.
    var canWait: Bool {
      switch self {
      case .findService, .findAttributes, .readHash, .subscribe: return false
      case .readServerFeatures, .readClientFeatures, .enableRobustCaching, .findServicesAgain, .confirm: return true
      }
    }
  }

  /// What is over, whatever has come of it.
  private struct Deeds: OptionSet {
    let rawValue: UInt8
    static let hash = Deeds(rawValue: 0x01)
    static let subscription = Deeds(rawValue: 0x02)
    static let serverFeatures = Deeds(rawValue: 0x04)
    static let clientFeatures = Deeds(rawValue: 0x08)
  }

  /// Where the GATT service is looked for.
  private enum Place {
    /// Nobody has asked for services yet.
    case unknown
    case anywhere
    case inRange(ClosedRange<AttributeHandle>)
    case known(GATTServiceAttributes)
    /// The server has none: its database does not change.
    case none
  }

  /// How long a link is quiet before the steps that can wait. Longer than the pause after which the service above does
  /// the same.
  static let pause = TimeSpan.milliseconds(150)
  /// A step that can wait is done between the requests of those above when so many of them have completed.
  static let patience = 16
  /// Of how many handles the GATT service is looked through: it has 10, and apps' requests wait meanwhile.
  private static let maximumHandles = 64
  /// A server whose hash differs so often without a change being told has a hash that is of no use.
  private static let maximumMismatches = 4

  private var place = Place.unknown
  private var done: Deeds = []
  private var running: Step?
  /// Client Supported Features, as it was read.
  private var clientFeatures: ByteSlice?
  /// Server Supported Features · 7.4: of what it can tell, this client uses nothing yet.
  private(set) var serverFeatures: UInt8?
  /// The value handle of Service Changed; also while its service is looked for anew.
  private(set) var serviceChanged: AttributeHandle?

  /// What was known when the link came about, as long as the hash has not been compared.
  private var offered: GATTCache?
  private var isFromCache = false
  /// What is proven to belong to `hash`.
  private var confirmed: GATTCache?
  /// What was found after `hash` was read.
  private var fresh: [(discovery: GATTDiscovery, response: GATTResponse)] = []
  private var hash: ByteSlice?
  /// The database may have changed between `hash` and the subscription.
  private var needsProof = false
  /// All primary services, told before anything watched over them.
  private var told: [GATTService]?
  /// A change was told: the hash is another one.
  private var isHashOutdated = false
  private var mismatches = 0

  /// Whether there is nothing to do; looked at with every request of those above.
  private var isAtRest = true
  private var lastUse = Instant.zero
  private var completions = 0

  // MARK: What is known from before

  /// What the last link to this server has left.
  mutating func offer(_ cache: GATTCache) { offered = cache }

  /// What the next link may begin with.
  var cache: GATTCache? { offered ?? confirmed }

  /// The result of a discovery, if it is certain.
  func response(to discovery: GATTDiscovery, only uuid: BluetoothUUID?) -> GATTResponse? {
    confirmed?.response(to: discovery, only: uuid)
  }

  /// The server knows no such handle: if it was from the cache, the hash has not told the truth, and nothing more is
  /// taken from it.
  mutating func handleWasUnknown() {
    guard isFromCache else { return }
    done.insert(.hash)
    dropFindings()
    settle()
  }

  /// What was found until now may be from somebody who only claims to be the server: it counts for this link alone.
  /// `cache` is from a link that was encrypted with the same bond's key.
  mutating func becameBonded(_ cache: GATTCache?) {
    let services = told
    dropFindings()
    (told, offered) = (services, cache)
    (done, clientFeatures, running, isHashOutdated) = ([], nil, nil, false)
    defer { settle() }
    if case .unknown = place { return }
    place = .anywhere
    isHashOutdated = cache != nil
  }

  private mutating func dropFindings() {
    (offered, confirmed, hash, told) = (nil, nil, nil, nil)
    fresh.removeAll()
    (needsProof, isFromCache) = (false, false)
  }

  // MARK: What those above do

  /// Those above have asked for something, or have got it.
  mutating func linkWasUsed(at now: Instant) { lastUse = now }

  mutating func requestCompleted() { completions &+= 1 }

  /// Those above were told of services, found by this client or known.
  mutating func discovered(_ services: [GATTService], isComplete: Bool) {
    defer { settle() }
    if isComplete, hash == nil, !done.contains(.subscription) { told = services }
    guard case .unknown = place else { return }
    if let service = services.first(where: { $0.uuid == GATTType.gattService }) {
      place = .inRange(service.range)
    } else {
      place = isComplete ? .none : .anywhere
    }
  }

  /// What a discovery has found on the air.
  mutating func learned(_ response: GATTResponse, from discovery: GATTDiscovery) {
    guard hash != nil, fresh.count < GATTCache.maximumCount else { return }
    if case .primaryServices = discovery { told = nil }
    fresh.append((discovery, response))
    settle()
  }

  /// The server's attributes in `range` are not what they were.
  mutating func changed(_ range: ClosedRange<AttributeHandle>) {
    isHashOutdated = hash != nil || offered != nil || isHashOutdated
    dropFindings()
    running = nil
    lookAgain(in: range)
    settle()
  }

  /// The GATT service is looked for anew if it may have moved.
  private mutating func lookAgain(in range: ClosedRange<AttributeHandle>) {
    if case .known(let attributes) = place, !attributes.overlap(range) { return }
    place = .unknown
    done.formIntersection(.hash)
    clientFeatures = nil
  }

  // MARK: What has to be done

  /// Whether a discovery has to wait for the hash.
  var comesFirst: Bool { running == nil && !done.contains(.hash) && (offered != nil || isHashOutdated) }

  /// What has to be done now; nil: nothing.
  mutating func nextTask(at now: Instant) -> Task? {
    guard !isAtRest, running == nil, let step = nextStep else { return nil }
    if step.canWait {
      guard now >= lastUse + Self.pause || completions >= Self.patience else { return nil }
      completions = 0
    }
    running = step
    return task(of: step)
  }

  /// The hash, which those above wait for.
  mutating func firstTask() -> Task {
    running = .readHash
    return .readHash
  }

  /// When a step that can wait is due.
  var deadline: Instant? {
    guard !isAtRest, running == nil, let step = nextStep, step.canWait else { return nil }
    return lastUse + Self.pause
  }

  private mutating func settle() { isAtRest = nextStep == nil }

  private var nextStep: Step? {
    if isHashOutdated, !done.contains(.hash) { return .readHash }
    switch place {
    case .unknown, .none: return nil
    case .anywhere: return .findService
    case .inRange(let range): return .findAttributes(range)
    case .known(let attributes):
      if attributes.databaseHash != nil, hash == nil, !done.contains(.hash) { return .readHash }
      if attributes.configuration != nil, !done.contains(.subscription) { return .subscribe }
      if attributes.serverSupportedFeatures != nil, !done.contains(.serverFeatures) { return .readServerFeatures }
      if attributes.clientSupportedFeatures != nil, !done.contains(.clientFeatures) {
        return clientFeatures.map { .enableRobustCaching($0) } ?? .readClientFeatures
      }
      if told != nil { return .findServicesAgain }
      return hash != nil && (needsProof || !fresh.isEmpty) ? .confirm : nil
    }
  }

  private func task(of step: Step) -> Task? {
    guard case .known(let attributes) = place else {
      switch step {
      case .findService: return .request(.discoverPrimaryService(GATTType.gattService))
      case .findAttributes(let range):
        let end = min(Int(range.upperBound), Int(range.lowerBound) + Self.maximumHandles - 1)
        return .request(.discoverDescriptors(in: range.lowerBound...AttributeHandle(end)))
      default: return .readHash
      }
    }
    switch step {
    case .subscribe: return attributes.configuration.map { .request(.write($0, Self.indications)) }
    case .readServerFeatures: return attributes.serverSupportedFeatures.map { .request(.read($0)) }
    case .readClientFeatures: return attributes.clientSupportedFeatures.map { .request(.read($0)) }
    case .enableRobustCaching(let features):
      return attributes.clientSupportedFeatures.map { .request(.write($0, features)) }
    case .findServicesAgain: return .request(.discoverPrimaryServices)
    default: return .readHash
    }
  }

  private static let indications: ByteSlice = [0x02, 0x00]

  // MARK: What comes of it

  /// Goes on after the result of a task.
  mutating func advance(_ result: Result<GATTResponse, GATTError>) -> Finding {
    guard let step = running else { return .nothing }
    defer { settle() }
    running = nil
    let response = try? result.get()
    switch step {
    case .findService:
      if case .services(let services)? = response, let service = services.first {
        place = .inRange(service.range)
      } else {
        place = .none
      }
    case .findAttributes:
      guard case .descriptors(let found)? = response else {
        place = .none
        break
      }
      let attributes = GATTServiceAttributes(found)
      place = .known(attributes)
      serviceChanged = attributes.serviceChanged ?? serviceChanged
    case .readHash: hashWasRead(response?.hash)
    case .subscribe:
      done.insert(.subscription)
    case .readServerFeatures:
      done.insert(.serverFeatures)
      if case .value(let value)? = response { serverFeatures = value.isEmpty ? 0 : value[0] }
    case .readClientFeatures:
      if case .value(let value)? = response, let features = Self.robustCaching(value) {
        clientFeatures = features
      } else {
        done.insert(.clientFeatures)
      }
    case .enableRobustCaching: done.insert(.clientFeatures)
    case .findServicesAgain:
      defer { told = nil }
      guard case .services(let services)? = response else { break }
      if hash != nil { fresh.append((.primaryServices, .services(services))) }
      guard let told, let range = Self.difference(told, services) else { break }
      lookAgain(in: range)
      return .changed(range)
    case .confirm: return confirm(response?.hash)
    }
    return .nothing
  }

  /// Client Supported Features with bit 0, Robust Caching; no bit that is set may be cleared · 7.2. nil: it is set.
  private static func robustCaching(_ value: ByteSlice) -> ByteSlice? {
    var octets = value.isEmpty ? [0] : value.bytes
    guard octets[0] & 0x01 == 0 else { return nil }
    octets[0] |= 0x01
    return ByteSlice(octets)
  }

  /// The range in which two lists of services differ.
  private static func difference(_ before: [GATTService], _ now: [GATTService]) -> ClosedRange<AttributeHandle>? {
    let changed = Set(before).symmetricDifference(now)
    guard let first = changed.map(\.range.lowerBound).min(), let last = changed.map(\.range.upperBound).max() else {
      return nil
    }
    return first...last
  }

  private mutating func hashWasRead(_ new: ByteSlice?) {
    isHashOutdated = false
    let known = offered
    offered = nil
    hash = new
    guard let new else {
      done.insert(.hash)
      return
    }
    needsProof = !done.contains(.subscription)
    guard let known, known.hash == new else { return }
    confirmed = known
    isFromCache = true
    place = .known(known.attributes)
    serviceChanged = known.attributes.serviceChanged
  }

  private mutating func confirm(_ new: ByteSlice?) -> Finding {
    guard let hash, let new, case .known(let attributes) = place else {
      done.insert(.hash)
      dropFindings()
      return .nothing
    }
    guard new == hash else {
      mismatches += 1
      changed(1...AttributeHandle.max)
      isHashOutdated = false
      if mismatches < Self.maximumMismatches { self.hash = new } else { done.insert(.hash) }
      needsProof = true
      return .changed(1...AttributeHandle.max)
    }
    needsProof = false
    var cache = confirmed ?? GATTCache(hash: hash, attributes: attributes)
    for (discovery, response) in fresh { cache.add(response, to: discovery) }
    fresh.removeAll()
    confirmed = cache
    return .nothing
  }

  /// The range of an indication of Service Changed; nil if it is malformed.
  static func range(_ octets: ByteSlice) -> ClosedRange<AttributeHandle>? {
    var reader = ByteReader(octets)
    guard let start = try? reader.uint16(), let end = try? reader.uint16(), reader.remaining == 0, start > 0,
      start <= end
    else { return nil }
    return start...end
  }
}

extension GATTResponse {
  /// Database Hash · Vol 3, Part G, 7.3: 128 bits.
  fileprivate var hash: ByteSlice? {
    guard case .values(let values) = self, let value = values.first?.value, value.count == 16 else { return nil }
    // Of its own: the storage of a packet belongs to a pool.
    return ByteSlice(value.bytes)
  }
}
