import BluetoothHost
import BluetoothWire

/// The state that the sessions of both roles have.
struct OpenSession {
  fileprivate(set) var counters: SessionCounters
  /// The app that owns the session; nil: none.
  let app: AppIndex?
  /// The user who runs the session's client.
  fileprivate(set) var user: ClientUser
  fileprivate(set) var preservation: SessionPreservation
  /// The number of state changes that were sent to the session; see `SessionCounters.seenStates`.
  fileprivate(set) var reportedStates: UInt32 = 0
  /// True if the session gets reports: of a central manager about its links, of a peripheral manager about all links.
  fileprivate(set) var observesLinks = false

  init(
    counters: SessionCounters, app: AppIndex?, user: ClientUser = .unknown,
    preservation: SessionPreservation = .endsWithApp
  ) {
    (self.counters, self.app, self.user, self.preservation) = (counters, app, user, preservation)
  }

  var client: SessionClient { SessionClient(backlog: counters.backlog, app: app) }

}

/// The client of a session, for comparisons: the sessions of one app are one client.
struct SessionClient {
  let backlog: EventBacklog
  let app: AppIndex?

  /// Returns true if two sessions belong to different clients. The sessions without an app belong to one client, unless
  /// several programs share the adapter.
  func differs(from other: SessionClient, _ shares: AppShares) -> Bool {
    guard backlog !== other.backlog else { return false }
    return app != other.app || app == nil && shares.hasSeveralPrograms
  }
}

/// The open sessions, by the keys of their identifiers.
///
/// The tables are concrete: a generic session of either role would be copied by its witnesses for each event.
struct SessionTable {
  /// The session of one central manager.
  struct Central {
    fileprivate(set) var session: OpenSession
    /// The state of a preserved session when its app ended.
    fileprivate(set) var restored: RestoredCentral?
    /// The state of the session in a former run of the daemon, until the adapter is on; nil: none.
    fileprivate(set) var stored: StoredApp.Central?
    fileprivate(set) var scan: ActiveScan?
    /// The connections of others that the session wants events for; nil: none.
    fileprivate(set) var connectionEvents: ConnectionEventFilter?

    /// True if a preserved session waits for the adapter to be on for the first time.
    fileprivate var awaitsAdapter: Bool { stored != nil && session.preservation.isPreserved }
  }

  /// The session of one peripheral manager.
  struct Peripheral {
    fileprivate(set) var session: OpenSession
    /// The state of a preserved session when its app ended.
    fileprivate(set) var restored: RestoredPeripheral?
    /// The state of the session in a former run of the daemon, until the adapter is on; nil: none.
    fileprivate(set) var stored: StoredApp.Peripheral?

    /// True if a preserved session waits for the adapter to be on for the first time.
    fileprivate var awaitsAdapter: Bool { stored != nil && session.preservation.isPreserved }
  }

  private(set) var centrals = SlotMap<Central>()
  private(set) var peripherals = SlotMap<Peripheral>()

  // MARK: Sessions

  /// The state of a session, copied; nil: the session is closed.
  subscript(session: AnySession) -> OpenSession? {
    switch session {
    case .central(let id): centrals.index(of: id.key).flatMap { centrals.values[$0]?.session }
    case .peripheral(let id): peripherals.index(of: id.key).flatMap { peripherals.values[$0]?.session }
    }
  }

  /// All sessions, those of central managers first.
  var all: [(id: AnySession, session: OpenSession)] {
    var all: [(id: AnySession, session: OpenSession)] = []
    for index in centrals.values.indices {
      guard let session = centrals.values[index]?.session, let key = centrals.key(at: index) else { continue }
      all.append((.central(CentralSessionID(key: key)), session))
    }
    for index in peripherals.values.indices {
      guard let session = peripherals.values[index]?.session, let key = peripherals.key(at: index) else { continue }
      all.append((.peripheral(PeripheralSessionID(key: key)), session))
    }
    return all
  }

  /// The sessions of an app that have state, those of central managers first.
  func all(of app: AppIndex) -> [(id: AnySession, session: OpenSession)] {
    all.filter { $0.session.app == app && !$0.session.preservation.isForwarder }
  }

  /// The sessions of central managers of an app that have state.
  func centrals(of app: AppIndex) -> [CentralSessionID] {
    all(of: app).compactMap { if case .central(let session) = $0.id { session } else { nil } }
  }

  /// The sessions of peripheral managers of an app that have state.
  func peripherals(of app: AppIndex) -> [PeripheralSessionID] {
    all(of: app).compactMap { if case .peripheral(let session) = $0.id { session } else { nil } }
  }

  /// Returns the session that has the state of the session of a request; nil: the session is closed, or its client has
  /// no effect any more.
  func target(of session: CentralSessionID) -> CentralSessionID? {
    guard let index = centrals.index(of: session.key) else { return nil }
    guard centrals.values[index]?.session.app != nil else { return session }
    return centrals.values[index]?.session.preservation.target(session.key).map { CentralSessionID(key: $0) }
  }

  /// Returns the session that has the state of the session of a request; see above.
  func target(of session: PeripheralSessionID) -> PeripheralSessionID? {
    guard let index = peripherals.index(of: session.key) else { return nil }
    guard peripherals.values[index]?.session.app != nil else { return session }
    return peripherals.values[index]?.session.preservation.target(session.key).map { PeripheralSessionID(key: $0) }
  }

  /// Returns the counters of an open session.
  func counters(of session: CentralSessionID) -> SessionCounters? {
    guard let index = centrals.index(of: session.key) else { return nil }
    return centrals.values[index]?.session.counters
  }

  /// Returns the counters of an open session.
  func counters(of session: PeripheralSessionID) -> SessionCounters? {
    guard let index = peripherals.index(of: session.key) else { return nil }
    return peripherals.values[index]?.session.counters
  }

  /// Returns the app that owns a session; nil: none, or the session is closed.
  func owner(of session: CentralSessionID) -> AppIndex? {
    guard let index = centrals.index(of: session.key) else { return nil }
    return centrals.values[index]?.session.app
  }

  /// Returns the app that owns a session; nil: none, or the session is closed.
  func owner(of session: PeripheralSessionID) -> AppIndex? {
    guard let index = peripherals.index(of: session.key) else { return nil }
    return peripherals.values[index]?.session.app
  }

  /// Returns the client of a session; nil: the session is closed.
  func client(of session: AnySession) -> SessionClient? { self[session]?.client }

  /// Returns the client whose session has this backlog; nil: the session is closed.
  func client(with backlog: EventBacklog) -> SessionClient? {
    all.first { $0.session.counters.backlog === backlog }?.session.client
  }

  /// Returns true if a session is preserved.
  func isPreserved(_ session: AnySession) -> Bool { self[session]?.preservation.isPreserved == true }

  /// Returns true if a session gets reports about links.
  func observesLinks(_ session: CentralSessionID) -> Bool {
    guard let index = centrals.index(of: session.key) else { return false }
    return centrals.values[index]?.session.observesLinks == true
  }

  /// Returns true if a session gets reports about links.
  func observesLinks(_ session: PeripheralSessionID) -> Bool {
    guard let index = peripherals.index(of: session.key) else { return false }
    return peripherals.values[index]?.session.observesLinks == true
  }

  /// The sessions of peripheral managers that get reports about links.
  var observingPeripherals: [PeripheralSessionID] {
    peripherals.values.indices.compactMap { index in
      guard peripherals.values[index]?.session.observesLinks == true else { return nil }
      return peripherals.key(at: index).map { PeripheralSessionID(key: $0) }
    }
  }

  // MARK: Life

  /// Adds a session.
  mutating func open(_ id: AnySession, _ session: OpenSession) {
    switch id {
    case .central(let id): centrals.place(Central(session: session), at: id.key)
    case .peripheral(let id): peripherals.place(Peripheral(session: session), at: id.key)
    }
  }

  /// Removes a session and the session that uses it, and returns its state; nil: it has been removed before.
  mutating func close(_ id: AnySession) -> OpenSession? {
    guard let former = remove(id) else { return nil }
    if case .resumed(_, let user) = former.preservation { _ = remove(id.other(user)) }
    return former
  }

  private mutating func remove(_ id: AnySession) -> OpenSession? {
    switch id {
    case .central(let id): centrals.remove(id.key)?.session
    case .peripheral(let id): peripherals.remove(id.key)?.session
    }
  }

  private mutating func update(_ id: AnySession, _ body: (inout OpenSession) -> Void) {
    switch id {
    case .central(let id): centrals.update(id.key) { body(&$0.session) }
    case .peripheral(let id): peripherals.update(id.key) { body(&$0.session) }
    }
  }

  /// Counts a change of state that is sent to a session.
  mutating func noteState(of id: AnySession) { update(id) { $0.reportedStates &+= 1 } }

  /// Starts the reports about links to a session.
  mutating func observeLinks(_ id: AnySession) { update(id) { $0.observesLinks = true } }

  // MARK: Preservation

  /// Preserves a session under an identifier: its app has ended. The session that uses it ends.
  mutating func preserve(_ id: AnySession, as identifier: String) {
    update(id) { session in
      session.preservation = .preserved(identifier)
      // A peripheral manager of the next process asks again if it observes links.
      if case .peripheral = id { session.observesLinks = false }
    }
  }

  /// Ends the session that uses a preserved one.
  mutating func endUse(of id: AnySession) {
    if case .resumed(_, let user)? = self[id]?.preservation { _ = remove(id.other(user)) }
  }

  /// Returns the preserved session of an app with an identifier and the role of a new session; nil: there is none.
  func preserved(_ identifier: String, of app: AppIndex, for new: AnySession) -> AnySession? {
    all(of: app).first { id, session in
      guard case .preserved(identifier) = session.preservation else { return false }
      return id.hasRole(of: new)
    }?.id
  }

  /// Lets a new session use a preserved one.
  mutating func resume(_ preserved: AnySession, by new: AnySession, _ counters: SessionCounters, user: ClientUser) {
    guard let former = self[preserved], let identifier = former.preservation.identifier else { return }
    update(preserved) { session in
      session.counters = counters
      session.user = user
      session.preservation = .resumed(identifier, by: new.key)
      session.reportedStates = 0
    }
    open(new, OpenSession(counters: counters, app: former.app, preservation: .uses(preserved.key)))
  }

  /// The identifiers of the preserved sessions of an app.
  func preservedIdentifiers(of app: AppIndex) -> RestoreIdentifiers {
    var identifiers = RestoreIdentifiers()
    for (id, session) in all(of: app) {
      guard case .preserved(let identifier) = session.preservation else { continue }
      switch id {
      case .central: identifiers.centrals.append(identifier)
      case .peripheral: identifiers.peripherals.append(identifier)
      }
    }
    return identifiers
  }

  /// Returns true if a session of the app is preserved.
  func hasPreserved(_ app: AppIndex) -> Bool { all(of: app).contains { $0.session.preservation.isPreserved } }

  mutating func setRestored(_ restored: RestoredCentral?, of id: CentralSessionID) {
    centrals.update(id.key) { $0.restored = restored }
  }

  mutating func setRestored(_ restored: RestoredPeripheral?, of id: PeripheralSessionID) {
    peripherals.update(id.key) { $0.restored = restored }
  }

  /// Removes and returns the state of a session when its app ended; nil: none.
  mutating func takeRestored(of id: CentralSessionID) -> RestoredCentral? {
    centrals.update(id.key) { $0.restored.take() } ?? nil
  }

  mutating func takeRestored(of id: PeripheralSessionID) -> RestoredPeripheral? {
    peripherals.update(id.key) { $0.restored.take() } ?? nil
  }

  /// Sets what a session had in a former run.
  mutating func setStored(_ stored: StoredApp.Central, of id: CentralSessionID) {
    centrals.update(id.key) { $0.stored = stored }
  }

  mutating func setStored(_ stored: StoredApp.Peripheral, of id: PeripheralSessionID) {
    peripherals.update(id.key) { $0.stored = stored }
  }

  /// Removes and returns what a session had in a former run; nil: nothing.
  mutating func takeStored(of id: CentralSessionID) -> StoredApp.Central? {
    centrals.update(id.key) { $0.stored.take() } ?? nil
  }

  mutating func takeStored(of id: PeripheralSessionID) -> StoredApp.Peripheral? {
    peripherals.update(id.key) { $0.stored.take() } ?? nil
  }

  /// Forgets what sessions had in a former run: the adapter is not on. Returns true if there was something.
  ///
  /// - Parameter isOff: true if the adapter is off. Otherwise a preserved session keeps waiting, because it has seen no
  ///   state.
  mutating func dropStored(isOff: Bool) -> Bool {
    var hasDropped = false
    for index in centrals.values.indices {
      guard let central = centrals.values[index], central.stored != nil, isOff || !central.awaitsAdapter,
        let key = centrals.key(at: index)
      else { continue }
      centrals.update(key) { ($0.stored, $0.restored) = (nil, nil) }
      hasDropped = true
    }
    for index in peripherals.values.indices {
      guard let peripheral = peripherals.values[index], peripheral.stored != nil, isOff || !peripheral.awaitsAdapter,
        let key = peripherals.key(at: index)
      else { continue }
      peripherals.update(key) { ($0.stored, $0.restored) = (nil, nil) }
      hasDropped = true
    }
    return hasDropped
  }

  /// Forgets what a preserved session had: the adapter has gone off.
  mutating func dropRestored(of id: AnySession) {
    switch id {
    case .central(let id): setRestored(nil, of: id)
    case .peripheral(let id): setRestored(nil, of: id)
    }
  }

  /// Returns true if a preserved session waits for the adapter to be on for the first time.
  func awaitsAdapter(_ id: AnySession) -> Bool {
    switch id {
    case .central(let id): centrals.index(of: id.key).flatMap { centrals.values[$0]?.awaitsAdapter } ?? false
    case .peripheral(let id): peripherals.index(of: id.key).flatMap { peripherals.values[$0]?.awaitsAdapter } ?? false
    }
  }

  // MARK: Central managers

  /// Sets the scan of a session; nil: the session does not scan.
  mutating func setScan(_ scan: ScanRequest?, of id: CentralSessionID) {
    centrals.update(id.key) { $0.scan = scan.map { ActiveScan($0) } }
  }

  /// Returns the request of a session's scan; nil: the session does not scan.
  func scanRequest(of id: CentralSessionID) -> ScanRequest? {
    guard let index = centrals.index(of: id.key) else { return nil }
    return centrals.values[index]?.scan?.request
  }

  /// Ends all scans.
  mutating func removeScans() {
    for index in centrals.values.indices {
      if let key = centrals.key(at: index) { centrals.update(key) { $0.scan = nil } }
    }
  }

  /// Returns true if a session gets an event for a peer now; see `ActiveScan.reports`.
  mutating func reports(
    to id: CentralSessionID, _ peer: PeerHandle, _ content: AdvertisingFields, isScanResponse: Bool,
    overflow: [BluetoothUUID], isInBackground: Bool
  ) -> Bool {
    let reports = centrals.update(id.key) {
      $0.scan?.reports(
        peer, content, isScanResponse: isScanResponse, overflow: overflow, isInBackground: isInBackground)
    }
    return reports == true
  }

  /// Registers a session for events about connections of others, in place of its former registration.
  mutating func register(_ id: CentralSessionID, for filter: ConnectionEventFilter?) {
    centrals.update(id.key) { $0.connectionEvents = filter }
  }

  /// Ends all registrations for events about connections of others.
  mutating func endRegistrations() {
    for index in centrals.values.indices {
      if let key = centrals.key(at: index) { centrals.update(key) { $0.connectionEvents = nil } }
    }
  }

  /// Forgets peers that nothing uses.
  mutating func forget(_ peers: Set<PeerHandle>) {
    for index in centrals.values.indices {
      guard let key = centrals.key(at: index) else { continue }
      centrals.update(key) { central in
        central.session.counters.forget(peers)
        central.scan?.forget(peers)
      }
    }
  }
}
