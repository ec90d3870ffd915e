// Design: cache validation
//
// `DatabaseCacheValidator` performs the client's cache validation; requests of apps go first. After the first discovery
// of services it finds the attributes of the GATT service in one request, reads Database Hash, and subscribes to
// Service Changed. When the link is idle (`BackgroundSchedule`) it reads the features, enables Robust Caching, repeats
// the discovery of services that were reported before the subscription, and reads the hash again. If the hash is the
// same, it confirms everything that was found in between. A difference is reported as a change. So no change goes
// unnoticed, and an app's first answer is not delayed.

import BluetoothWire

/// The client's cache validation: it makes sure that the client's view of the server's database is up to date
/// · Vol 3, Part G, 2.5.2, 7.
///
/// After the first discovery of services, it finds the attributes of the GATT service, reads the Database Hash, and
/// subscribes to Service Changed. When the link has been quiet for a while, the steps without a benefit for the
/// current app follow: it enables Robust Caching, repeats a discovery of services that was reported before the
/// subscription, and reads the Database Hash again, which confirms what was found since the first read.
///
/// The validation owns the link's view of the database: it decides which results the upper layer may use, which are
/// confirmed, and when they are forgotten.
struct DatabaseCacheValidator {
  /// A request that the cache validation makes, not an app.
  enum Task {
    case request(GATTRequest)
    /// Reads the Database Hash with Read By Type over all handles, which a server answers even if the client is not
    /// change-aware · 2.5.2.1.
    case readHash
  }

  /// The conclusion from the result of a task about the database.
  enum Outcome {
    case nothing
    /// The database differs from the client's view in this range. The services with the other ranges were known, and
    /// are forgotten.
    case changed(ClosedRange<AttributeHandle>, services: [ClosedRange<AttributeHandle>])
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

    /// True if an app's next request goes before this step; see `BackgroundSchedule`.
    var canWait: Bool {
      switch self {
      case .findService, .findAttributes, .readHash, .subscribe: return false
      case .readServerFeatures, .readClientFeatures, .enableRobustCaching, .findServicesAgain, .confirm: return true
      }
    }
  }

  /// The steps that have ended, successfully or not.
  private struct CompletedSteps: OptionSet {
    let rawValue: UInt8
    static let hash = CompletedSteps(rawValue: 0x01)
    static let subscription = CompletedSteps(rawValue: 0x02)
    static let serverFeatures = CompletedSteps(rawValue: 0x04)
    static let clientFeatures = CompletedSteps(rawValue: 0x08)
  }

  /// The client's knowledge of the GATT service.
  private enum ServiceLocation {
    /// No app has discovered services yet.
    case unknown
    case anywhere
    case inRange(ClosedRange<AttributeHandle>)
    case known(GATTServiceAttributes)
    /// The server has no GATT service, so its database does not change.
    case none
  }

  /// The client's knowledge of the server's database.
  private enum DatabaseState {
    /// The hash has not been read. `cached` is the cache of the last link, until the hash has been compared.
    /// `isAwaited`: the hash must be read before everything else, because a change was reported or the link has become
    /// bonded.
    case unread(cached: GATTCache?, isAwaited: Bool)
    case read(Validation)
  }

  /// The validation with a hash.
  private struct Validation {
    let hash: ByteSlice
    /// The attributes of the GATT service that were confirmed first with the hash; nil: nothing is confirmed.
    var confirmed: GATTServiceAttributes?
    /// True if the database may have changed between the read of the hash and the subscription.
    var needsProof: Bool
    /// True if the confirmed results are from the last link.
    var isFromCache = false
  }

  /// The number of handles searched for the attributes of the GATT service (it uses 10). App requests wait during the
  /// search.
  private static let maximumHandles = 64
  /// The number of unannounced changes of the Database Hash after which the client stops using the hash.
  private static let maximumMismatches = 4

  private var location = ServiceLocation.unknown
  private var completedSteps: CompletedSteps = []
  private var running: Step?
  /// The value read from Client Supported Features.
  private var clientFeatures: ByteSlice?
  /// The value read from Server Supported Features · 7.4. The client does not use any of these features yet.
  private(set) var serverFeatures: UInt8?
  /// The value handle of Service Changed; it stays valid while the client searches for the GATT service again.
  private(set) var serviceChanged: AttributeHandle?

  /// The known results of discoveries.
  private(set) var database = RemoteDatabase()
  private var databaseState = DatabaseState.unread(cached: nil, isAwaited: false) { didSet { noteExpectation() } }
  /// True if the hash must be read, to validate the offered cache or to evaluate a reported change. The value is stored
  /// because every app request checks it.
  private var isHashExpected = false
  /// True if the primary services of `database` were reported to the app before the subscription.
  private var mustFindServicesAgain = false
  private var mismatches = 0

  /// True if no step is pending. It is stored because every app request checks it.
  private var isAtRest = true

  // MARK: Cache

  /// Takes the cache that the last link to this server has left.
  mutating func offer(_ cache: GATTCache) { databaseState = .unread(cached: cache, isAwaited: isHashAwaited) }

  /// Takes the attributes that apps have found on an earlier link and go on using.
  ///
  /// - Parameter isChecked: true if they are checked as those of a discovery are.
  mutating func resume(_ former: RemoteDatabase, isChecked: Bool) {
    database = former
    discovered(former.primaryServices ?? [], isComplete: former.primaryServices != nil)
    guard !isChecked else { return }
    mustFindServicesAgain = false
    settle()
  }

  /// True if the server is known to have no Service Changed characteristic.
  var lacksServiceChanged: Bool {
    switch location {
    case .known(let attributes): attributes.serviceChanged == nil
    case .none: true
    case .unknown, .anywhere, .inRange: false
    }
  }

  /// The cache for the next link.
  var cache: GATTCache? {
    switch databaseState {
    case .unread(let cached, _): cached
    case .read(let validation): validation.confirmed.map { database.cache(validation.hash, $0) }
    }
  }

  private var isHashAwaited: Bool {
    if case .unread(_, true) = databaseState { true } else { false }
  }

  /// True if the hash has been read.
  private var hasHash: Bool {
    if case .read = databaseState { true } else { false }
  }

  /// Answers a discovery of the upper layer with its confirmed result; nil: there is none.
  mutating func answer(_ discovery: GATTDiscovery, only uuid: BluetoothUUID?) -> GATTResponse? {
    guard let response = database.confirmedResult(of: discovery) else { return nil }
    if uuid == nil { database.used(discovery) }
    return response.limited(to: uuid)
  }

  /// Handles an Invalid Handle error. If the cache is from the last link, the invalid handle may be from the cache
  /// although the hash matches. The client then discards the cache and does not read the hash again.
  mutating func handleWasUnknown() {
    guard case .read(let validation) = databaseState, validation.isFromCache else { return }
    completedSteps.insert(.hash)
    dropDatabaseState()
    settle()
  }

  /// Excludes results that were received before encryption from the cache, because an impostor may have sent them. The
  /// client uses these results on this link only.
  ///
  /// - Parameter cache: The cache of a link that was encrypted with the key of the same bond.
  mutating func becameBonded(_ cache: GATTCache?) {
    database.distrust()
    databaseState = .unread(cached: cache, isAwaited: false)
    (completedSteps, clientFeatures, running) = ([], nil, nil)
    defer { settle() }
    if case .unknown = location { return }
    location = .anywhere
    databaseState = .unread(cached: cache, isAwaited: cache != nil)
  }

  private mutating func dropDatabaseState() {
    database.distrust()
    databaseState = .unread(cached: nil, isAwaited: false)
    mustFindServicesAgain = false
  }

  // MARK: Discoveries of apps

  /// Notes services that were reported to the app, discovered or from the cache.
  mutating func discovered(_ services: [GATTService], isComplete: Bool) {
    defer { settle() }
    if isComplete, !hasHash, !completedSteps.contains(.subscription) { mustFindServicesAgain = true }
    guard case .unknown = location else { return }
    if let service = services.first(where: { $0.uuid == GATTType.gattService }) {
      location = .inRange(service.range)
    } else {
      location = isComplete ? .none : .anywhere
    }
  }

  /// Adds the result of a discovery that needed requests.
  mutating func learned(_ response: GATTResponse, from discovery: GATTDiscovery) -> Outcome {
    var outcome = Outcome.nothing
    if let range = database.difference(of: response, by: discovery) {
      outcome = .changed(range, services: database.forget(range))
    }
    database.found(response, by: discovery)
    guard hasHash, database.unverifiedCount < GATTCache.maximumCount else { return outcome }
    if case .primaryServices = discovery { mustFindServicesAgain = false }
    database.awaitConfirmation(of: discovery)
    settle()
    return outcome
  }

  /// Handles a change of the server's attributes in `range`. Returns the ranges of the services that are forgotten.
  mutating func changed(_ range: ClosedRange<AttributeHandle>) -> [ClosedRange<AttributeHandle>] {
    let isAwaited =
      switch databaseState {
      case .unread(let cached, let isAwaited): isAwaited || cached != nil
      case .read: true
      }
    dropDatabaseState()
    databaseState = .unread(cached: nil, isAwaited: isAwaited)
    running = nil
    lookAgain(in: range)
    settle()
    return database.forget(range)
  }

  /// Forgets the GATT service until the next discovery of services, unless its known attributes lie outside `range`.
  private mutating func lookAgain(in range: ClosedRange<AttributeHandle>) {
    if case .known(let attributes) = location, !attributes.overlap(range) { return }
    location = .unknown
    completedSteps.formIntersection(.hash)
    clientFeatures = nil
  }

  // MARK: Tasks

  /// True if the hash must be read before a discovery.
  var comesFirst: Bool { isHashExpected && running == nil && !completedSteps.contains(.hash) }

  private mutating func noteExpectation() {
    switch databaseState {
    case .unread(let cached, let isAwaited): isHashExpected = isAwaited || cached != nil
    case .read: isHashExpected = false
    }
  }

  /// Returns the task to run now; nil: none.
  mutating func nextTask(_ schedule: inout BackgroundSchedule, at now: Instant) -> Task? {
    guard !isAtRest, running == nil, let step = nextStep else { return nil }
    if step.canWait, !schedule.startValidation(at: now) { return nil }
    running = step
    return task(of: step)
  }

  /// Returns the task that reads the hash, which a discovery is waiting for.
  mutating func firstTask() -> Task {
    running = .readHash
    return .readHash
  }

  /// True if the next step can wait.
  var isWaiting: Bool { !isAtRest && running == nil && nextStep?.canWait == true }

  private mutating func settle() { isAtRest = nextStep == nil }

  private var nextStep: Step? {
    if isHashAwaited, !completedSteps.contains(.hash) { return .readHash }
    switch location {
    case .unknown, .none: return nil
    case .anywhere: return .findService
    case .inRange(let range): return .findAttributes(range)
    case .known(let attributes):
      if attributes.databaseHash != nil, !hasHash, !completedSteps.contains(.hash) { return .readHash }
      if attributes.configuration != nil, !completedSteps.contains(.subscription) { return .subscribe }
      if attributes.serverSupportedFeatures != nil, !completedSteps.contains(.serverFeatures) {
        return .readServerFeatures
      }
      if attributes.clientSupportedFeatures != nil, !completedSteps.contains(.clientFeatures) {
        return clientFeatures.map { .enableRobustCaching($0) } ?? .readClientFeatures
      }
      if mustFindServicesAgain { return .findServicesAgain }
      guard case .read(let validation) = databaseState, validation.needsProof || database.unverifiedCount > 0 else {
        return nil
      }
      return .confirm
    }
  }

  private func task(of step: Step) -> Task? {
    guard case .known(let attributes) = location else {
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
  mutating func advance(_ result: Result<GATTResponse, GATTError>) -> Outcome {
    guard let step = running else { return .nothing }
    defer { settle() }
    running = nil
    let response = try? result.get()
    switch step {
    case .findService:
      if case .services(let services)? = response, let service = services.first {
        location = .inRange(service.range)
      } else {
        location = .none
      }
    case .findAttributes:
      guard case .descriptors(let found)? = response else {
        location = .none
        break
      }
      let attributes = GATTServiceAttributes(found)
      location = .known(attributes)
      serviceChanged = attributes.serviceChanged ?? serviceChanged
    case .readHash: return hashWasRead(response?.hash)
    case .subscribe:
      completedSteps.insert(.subscription)
    case .readServerFeatures:
      completedSteps.insert(.serverFeatures)
      if case .value(let value)? = response { serverFeatures = value.isEmpty ? 0 : value[0] }
    case .readClientFeatures:
      if case .value(let value)? = response, let features = Self.robustCaching(value) {
        clientFeatures = features
      } else {
        completedSteps.insert(.clientFeatures)
      }
    case .enableRobustCaching: completedSteps.insert(.clientFeatures)
    case .findServicesAgain:
      mustFindServicesAgain = false
      guard case .services(let services)? = response else { break }
      return foundAgain(services)
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

  /// Compares the primary services with those that were reported before the subscription.
  private mutating func foundAgain(_ services: [GATTService]) -> Outcome {
    var outcome = Outcome.nothing
    if let reported = database.primaryServices, let range = services.difference(from: reported) {
      lookAgain(in: range)
      outcome = .changed(range, services: database.forget(range))
    }
    if hasHash { database.foundAgain(services) }
    return outcome
  }

  private mutating func hashWasRead(_ new: ByteSlice?) -> Outcome {
    guard let new else {
      databaseState = .unread(cached: nil, isAwaited: false)
      completedSteps.insert(.hash)
      return .nothing
    }
    if case .unread(let cached?, _) = databaseState, cached.hash != new, database.hasStaleResults {
      // The server has changed since the link on which apps found the attributes.
      let all = 1...AttributeHandle.max
      let forgotten = changed(all)
      databaseState = .read(Validation(hash: new, needsProof: true))
      return .changed(all, services: forgotten)
    }
    var validation = Validation(hash: new, needsProof: !completedSteps.contains(.subscription))
    var outcome = Outcome.nothing
    if case .unread(let cached?, _) = databaseState, cached.hash == new {
      // Before the link became bonded, the server had other attributes, or an impostor has sent them.
      if database.contradicts(cached) {
        let all = 1...AttributeHandle.max
        outcome = .changed(all, services: database.forget(all))
      }
      database.adopt(cached)
      validation.confirmed = cached.attributes
      validation.isFromCache = true
      location = .known(cached.attributes)
      serviceChanged = cached.attributes.serviceChanged
    }
    databaseState = .read(validation)
    return outcome
  }

  private mutating func confirm(_ new: ByteSlice?) -> Outcome {
    guard case .read(var validation) = databaseState, let new, case .known(let attributes) = location else {
      completedSteps.insert(.hash)
      dropDatabaseState()
      return .nothing
    }
    guard new == validation.hash else {
      mismatches += 1
      let forgotten = changed(1...AttributeHandle.max)
      if mismatches < Self.maximumMismatches {
        databaseState = .read(Validation(hash: new, needsProof: true))
      } else {
        databaseState = .unread(cached: nil, isAwaited: false)
        completedSteps.insert(.hash)
      }
      return .changed(1...AttributeHandle.max, services: forgotten)
    }
    validation.needsProof = false
    validation.confirmed = validation.confirmed ?? attributes
    database.confirm()
    databaseState = .read(validation)
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
