import BluetoothWire

/// The client's cache validation: it makes sure that the client's view of the server's database is up to date
/// · Vol 3, Part G, 2.5.2, 7.
///
/// After the first discovery of services, it finds the attributes of the GATT service, reads the Database Hash, and
/// subscribes to Service Changed. When the link has been quiet for a while, the steps without a benefit for the
/// current app follow: it enables Robust Caching, repeats a discovery of services that was reported before the
/// subscription, and reads the Database Hash again, which confirms what was found since the first read. Confirmed
/// results go into a `GATTCache`.
struct DatabaseCacheValidator {
  /// A request that the client makes by itself.
  enum Task {
    case request(GATTRequest)
    /// Reads the Database Hash with Read By Type over all handles, which a server answers even if the client is not
    /// change-aware · 2.5.2.1.
    case readHash
  }

  /// The conclusion from the result of a task about the database.
  enum Finding {
    case nothing
    /// The database differs from the client's view in this range.
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

    /// True if an app's next request goes before this step.
    var canWait: Bool {
      switch self {
      case .findService, .findAttributes, .readHash, .subscribe: return false
      case .readServerFeatures, .readClientFeatures, .enableRobustCaching, .findServicesAgain, .confirm: return true
      }
    }
  }

  /// The steps that have ended, successfully or not.
  private struct Deeds: OptionSet {
    let rawValue: UInt8
    static let hash = Deeds(rawValue: 0x01)
    static let subscription = Deeds(rawValue: 0x02)
    static let serverFeatures = Deeds(rawValue: 0x04)
    static let clientFeatures = Deeds(rawValue: 0x08)
  }

  /// The client's knowledge of the GATT service.
  private enum Place {
    /// No app has discovered services yet.
    case unknown
    case anywhere
    case inRange(ClosedRange<AttributeHandle>)
    case known(GATTServiceAttributes)
    /// The server has no GATT service, so its database does not change.
    case none
  }

  /// What the client knows of the server's database.
  private enum Findings {
    /// The hash has not been read. `offered` is the cache of the last link, until the hash has been compared.
    /// `isAwaited`: the hash must be read before everything else, because a change was reported.
    case unread(offered: GATTCache?, isAwaited: Bool)
    case read(Validation)
  }

  /// The results that belong to a hash.
  private struct Validation {
    let hash: ByteSlice
    /// The results that are confirmed for the hash.
    var confirmed: GATTCache?
    /// The results found since the hash was read.
    var fresh: [(discovery: GATTDiscovery, response: GATTResponse)] = []
    /// True if the database may have changed between the read of the hash and the subscription.
    var needsProof: Bool
    /// True if the confirmed results are from the last link.
    var isFromCache = false
  }

  /// The time that a link must be quiet before the steps that can wait. It exceeds the pause after which the upper
  /// layer does the same.
  static let pause = TimeSpan.milliseconds(150)
  /// The number of completed app requests after which a step that can wait runs although the link is busy.
  static let patience = 16
  /// The number of handles searched for the attributes of the GATT service (it uses 10). App requests wait during the
  /// search.
  private static let maximumHandles = 64
  /// The number of unannounced changes of the Database Hash after which the client stops using the hash.
  private static let maximumMismatches = 4

  private var place = Place.unknown
  private var done: Deeds = []
  private var running: Step?
  /// The value read from Client Supported Features.
  private var clientFeatures: ByteSlice?
  /// The value read from Server Supported Features · 7.4. The client does not use any of these features yet.
  private(set) var serverFeatures: UInt8?
  /// The value handle of Service Changed; it stays valid while the GATT service is searched for again.
  private(set) var serviceChanged: AttributeHandle?

  private var findings = Findings.unread(offered: nil, isAwaited: false) { didSet { noteExpectation() } }
  /// True if the hash decides whether there is a valid cache, or what has changed. It is stored because every app
  /// request checks it.
  private var isHashExpected = false
  /// The primary services that were reported to the app before the subscription.
  private var told: [GATTService]?
  private var mismatches = 0

  /// True if no step is pending. It is stored because every app request checks it.
  private var isAtRest = true
  private var lastUse = Instant.zero
  private var completions = 0

  // MARK: Cache

  /// Takes the cache that the last link to this server has left.
  mutating func offer(_ cache: GATTCache) { findings = .unread(offered: cache, isAwaited: isHashAwaited) }

  /// The cache for the next link.
  var cache: GATTCache? {
    switch findings {
    case .unread(let offered, _): offered
    case .read(let validation): validation.confirmed
    }
  }

  private var isHashAwaited: Bool {
    if case .unread(_, true) = findings { true } else { false }
  }

  /// True if the hash has been read.
  private var hasHash: Bool {
    if case .read = findings { true } else { false }
  }

  /// Returns the confirmed result of a discovery; nil: there is none.
  func response(to discovery: GATTDiscovery, only uuid: BluetoothUUID?) -> GATTResponse? {
    guard case .read(let validation) = findings else { return nil }
    return validation.confirmed?.response(to: discovery, only: uuid)
  }

  /// Handles an Invalid Handle error. If the client has used the cache, the handle may be from it and the hash
  /// misleading, so the client discards the cache.
  mutating func handleWasUnknown() {
    guard case .read(let validation) = findings, validation.isFromCache else { return }
    done.insert(.hash)
    dropFindings()
    settle()
  }

  /// Keeps the results from before the encryption out of the cache, because they may come from an impostor. They
  /// count for this link alone.
  ///
  /// - Parameter cache: The cache of a link that was encrypted with the key of the same bond.
  mutating func becameBonded(_ cache: GATTCache?) {
    findings = .unread(offered: cache, isAwaited: false)
    (done, clientFeatures, running) = ([], nil, nil)
    defer { settle() }
    if case .unknown = place { return }
    place = .anywhere
    findings = .unread(offered: cache, isAwaited: cache != nil)
  }

  private mutating func dropFindings() {
    findings = .unread(offered: nil, isAwaited: false)
    told = nil
  }

  /// Adds a result to those found since the hash was read.
  private mutating func add(_ response: GATTResponse, from discovery: GATTDiscovery) {
    guard case .read(var validation) = findings else { return }
    // Release the enum's reference, so that the array grows in place.
    findings = .unread(offered: nil, isAwaited: false)
    validation.fresh.append((discovery, response))
    findings = .read(validation)
  }

  // MARK: App activity

  /// Notes the time of an app's request or its completion.
  mutating func linkWasUsed(at now: Instant) { lastUse = now }

  mutating func requestCompleted() { completions &+= 1 }

  /// Notes services that were reported to the app, discovered or from the cache.
  mutating func discovered(_ services: [GATTService], isComplete: Bool) {
    defer { settle() }
    if isComplete, !hasHash, !done.contains(.subscription) { told = services }
    guard case .unknown = place else { return }
    if let service = services.first(where: { $0.uuid == GATTType.gattService }) {
      place = .inRange(service.range)
    } else {
      place = isComplete ? .none : .anywhere
    }
  }

  /// Adds the result of a discovery that needed requests.
  mutating func learned(_ response: GATTResponse, from discovery: GATTDiscovery) {
    guard case .read(let validation) = findings, validation.fresh.count < GATTCache.maximumCount else { return }
    if case .primaryServices = discovery { told = nil }
    add(response, from: discovery)
    settle()
  }

  /// Handles a change of the server's attributes in `range`.
  mutating func changed(_ range: ClosedRange<AttributeHandle>) {
    let isAwaited =
      switch findings {
      case .unread(let offered, let isAwaited): isAwaited || offered != nil
      case .read: true
      }
    dropFindings()
    findings = .unread(offered: nil, isAwaited: isAwaited)
    running = nil
    lookAgain(in: range)
    settle()
  }

  /// Searches for the GATT service again, unless its known attributes lie outside `range`.
  private mutating func lookAgain(in range: ClosedRange<AttributeHandle>) {
    if case .known(let attributes) = place, !attributes.overlap(range) { return }
    place = .unknown
    done.formIntersection(.hash)
    clientFeatures = nil
  }

  // MARK: Tasks

  /// True if the hash must be read before a discovery.
  var comesFirst: Bool { isHashExpected && running == nil && !done.contains(.hash) }

  private mutating func noteExpectation() {
    switch findings {
    case .unread(let offered, let isAwaited): isHashExpected = isAwaited || offered != nil
    case .read: isHashExpected = false
    }
  }

  /// Returns the task to run now; nil: none.
  mutating func nextTask(at now: Instant) -> Task? {
    guard !isAtRest, running == nil, let step = nextStep else { return nil }
    if step.canWait {
      guard now >= lastUse + Self.pause || completions >= Self.patience else { return nil }
      completions = 0
    }
    running = step
    return task(of: step)
  }

  /// Returns the task that reads the hash, which a discovery is waiting for.
  mutating func firstTask() -> Task {
    running = .readHash
    return .readHash
  }

  /// The time at which a step that can wait is due.
  var deadline: Instant? {
    guard !isAtRest, running == nil, let step = nextStep, step.canWait else { return nil }
    return lastUse + Self.pause
  }

  private mutating func settle() { isAtRest = nextStep == nil }

  private var nextStep: Step? {
    if isHashAwaited, !done.contains(.hash) { return .readHash }
    switch place {
    case .unknown, .none: return nil
    case .anywhere: return .findService
    case .inRange(let range): return .findAttributes(range)
    case .known(let attributes):
      if attributes.databaseHash != nil, !hasHash, !done.contains(.hash) { return .readHash }
      if attributes.configuration != nil, !done.contains(.subscription) { return .subscribe }
      if attributes.serverSupportedFeatures != nil, !done.contains(.serverFeatures) { return .readServerFeatures }
      if attributes.clientSupportedFeatures != nil, !done.contains(.clientFeatures) {
        return clientFeatures.map { .enableRobustCaching($0) } ?? .readClientFeatures
      }
      if told != nil { return .findServicesAgain }
      guard case .read(let validation) = findings, validation.needsProof || !validation.fresh.isEmpty else {
        return nil
      }
      return .confirm
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

  // MARK: Results

  /// Processes the result of a task.
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
      add(.services(services), from: .primaryServices)
      guard let told, let range = Self.difference(told, services) else { break }
      lookAgain(in: range)
      return .changed(range)
    case .confirm: return confirm(response?.hash)
    }
    return .nothing
  }

  /// Returns the value of Client Supported Features with bit 0, Robust Caching, added, because a client must not
  /// clear bits · 7.2; nil: the bit is already set.
  private static func robustCaching(_ value: ByteSlice) -> ByteSlice? {
    var octets = value.isEmpty ? [0] : value.bytes
    guard octets[0] & 0x01 == 0 else { return nil }
    octets[0] |= 0x01
    return ByteSlice(octets)
  }

  /// Returns the range in which two lists of services differ.
  private static func difference(_ before: [GATTService], _ now: [GATTService]) -> ClosedRange<AttributeHandle>? {
    let changed = Set(before).symmetricDifference(now)
    guard let first = changed.map(\.range.lowerBound).min(), let last = changed.map(\.range.upperBound).max() else {
      return nil
    }
    return first...last
  }

  private mutating func hashWasRead(_ new: ByteSlice?) {
    let known = cache
    guard let new else {
      findings = .unread(offered: nil, isAwaited: false)
      done.insert(.hash)
      return
    }
    var validation = Validation(hash: new, needsProof: !done.contains(.subscription))
    if let known, known.hash == new {
      validation.confirmed = known
      validation.isFromCache = true
      place = .known(known.attributes)
      serviceChanged = known.attributes.serviceChanged
    }
    findings = .read(validation)
  }

  private mutating func confirm(_ new: ByteSlice?) -> Finding {
    guard case .read(var validation) = findings, let new, case .known(let attributes) = place else {
      done.insert(.hash)
      dropFindings()
      return .nothing
    }
    guard new == validation.hash else {
      mismatches += 1
      changed(1...AttributeHandle.max)
      if mismatches < Self.maximumMismatches {
        findings = .read(Validation(hash: new, needsProof: true))
      } else {
        findings = .unread(offered: nil, isAwaited: false)
        done.insert(.hash)
      }
      return .changed(1...AttributeHandle.max)
    }
    validation.needsProof = false
    var cache = validation.confirmed ?? GATTCache(hash: new, attributes: attributes)
    for (discovery, response) in validation.fresh { cache.add(response, to: discovery) }
    validation.fresh.removeAll()
    validation.confirmed = cache
    findings = .read(validation)
    return .nothing
  }

  /// Returns the range in an indication of Service Changed; nil if it is malformed.
  static func range(_ octets: ByteSlice) -> ClosedRange<AttributeHandle>? {
    var reader = ByteReader(octets)
    guard let start = try? reader.uint16(), let end = try? reader.uint16(), reader.remaining == 0, start > 0,
      start <= end
    else { return nil }
    return start...end
  }
}

extension GATTResponse {
  /// The Database Hash in a response, 128 bits · Vol 3, Part G, 7.3.
  fileprivate var hash: ByteSlice? {
    guard case .values(let values) = self, let value = values.first?.value, value.count == 16 else { return nil }
    // Copy it, because the packet's storage belongs to a pool.
    return ByteSlice(value.bytes)
  }
}
