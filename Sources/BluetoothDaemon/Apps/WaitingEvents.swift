import BluetoothHost
import BluetoothWire

/// The events of an app that does not run, in order. Of events that repeat each other only the newest is kept, so the
/// number of waiting events has a bound that no peer can exceed.
struct WaitingEvents {
  /// The maximum number of events that peers can cause at will and that need no answer: discoveries, write commands,
  /// reports about centrals. The oldest is dropped.
  static let maximumRepeated = 256

  enum Entry {
    case central(CentralSessionID, CentralEvent)
    case peripheral(PeripheralSessionID, PeripheralEvent)

    var session: AnySession {
      switch self {
      case .central(let session, _): .central(session)
      case .peripheral(let session, _): .peripheral(session)
      }
    }

    /// True for a change of the adapter's state.
    fileprivate var isStateChange: Bool {
      switch self {
      case .central(_, .stateChanged), .peripheral(_, .stateChanged): true
      default: false
      }
    }
  }

  private(set) var entries: [Entry] = []

  var isEmpty: Bool { entries.isEmpty }

  /// Returns true if one of the events launches the terminated app.
  func launchApp(under policy: PlatformPolicy) -> Bool {
    entries.contains { entry in
      switch entry {
      case .central(_, let event): event.runsApp(isLoaded: false, under: policy)
      case .peripheral(_, let event): event.runsApp(isLoaded: false, under: policy)
      }
    }
  }

  /// Removes and returns the events of the sessions for which `isWanted` returns true.
  mutating func take(where isWanted: (Entry) -> Bool) -> [Entry] {
    let taken = entries.filter(isWanted)
    entries.removeAll(where: isWanted)
    return taken
  }

  /// Adds events that are older than all that wait.
  mutating func putBack(_ events: [CentralEvent], for session: CentralSessionID) {
    putBack(events.map { Entry.central(session, $0) })
  }

  /// Adds events that are older than all that wait.
  mutating func putBack(_ events: [PeripheralEvent], for session: PeripheralSessionID) {
    putBack(events.map { Entry.peripheral(session, $0) })
  }

  private mutating func putBack(_ older: [Entry]) {
    let all = older + entries
    removeAll()
    for entry in all {
      switch entry {
      case .central(let session, let event): add(event, for: session)
      case .peripheral(let session, let event): add(event, for: session)
      }
    }
  }

  mutating func removeAll() { entries.removeAll() }

  /// The peers that must stay known because an event about their link waits.
  var peers: some Sequence<PeerHandle> {
    entries.lazy.filter { !$0.isRepeatedSighting }.compactMap { entry in
      switch entry {
      case .central(_, let event): event.peer
      case .peripheral(_, let event): event.peer
      }
    }
  }

  /// Removes the events about peers that are not known any more.
  mutating func forget(_ forgotten: Set<PeerHandle>) {
    entries.removeAll { entry in
      guard entry.isRepeatedSighting, case .central(_, let event) = entry else { return false }
      return event.peer.map(forgotten.contains) ?? false
    }
  }

  mutating func removeAll(of session: AnySession) { entries.removeAll { $0.session == session } }

  /// Removes the requests of clients, which have been answered without the app.
  mutating func removeRequests(to session: PeripheralSessionID) {
    remove(of: session) { event in
      switch event {
      case .readRequested, .writeRequested(.some, _, _): true
      default: false
      }
    }
  }

  /// Removes the changes of state: the session is about to get the present state.
  mutating func removeStateChanges(of session: AnySession) {
    entries.removeAll { $0.session == session && $0.isStateChange }
  }

  private mutating func remove(of session: CentralSessionID, where isObsolete: (CentralEvent) -> Bool) {
    entries.removeAll { entry in
      guard case .central(session, let event) = entry else { return false }
      return isObsolete(event)
    }
  }

  private mutating func remove(of session: PeripheralSessionID, where isObsolete: (PeripheralEvent) -> Bool) {
    entries.removeAll { entry in
      guard case .peripheral(session, let event) = entry else { return false }
      return isObsolete(event)
    }
  }

  // MARK: Central managers

  /// Adds an event for a central manager in place of the events that it makes obsolete.
  mutating func add(_ event: CentralEvent, for session: CentralSessionID) {
    switch event {
    // Packets, and the data of trains, have no meaning later.
    case .packetReceived, .synchronization(_, .report, _): return
    case .disconnected(let peer, _, _): removeFormerLoss(of: peer, session)
    default: remove(of: session) { event.replaces($0) }
    }
    entries.append(.central(session, event.withOwnOctets))
    dropOldest(where: \.isRepeatedSighting)
  }

  /// Removes an earlier loss of the same link with everything that followed it: the app gets the latest loss only.
  private mutating func removeFormerLoss(of peer: PeerHandle, _ session: CentralSessionID) {
    let loss = entries.firstIndex { entry in
      if case .central(session, .disconnected(peer, _, _)) = entry { true } else { false }
    }
    guard let loss else { return }
    let rest = entries[loss...].filter { entry in
      guard case .central(session, let event) = entry else { return true }
      return event.linkedPeer != peer
    }
    entries.removeSubrange(loss...)
    entries += rest
  }

  // MARK: Peripheral managers

  /// Adds an event for a peripheral manager in place of the events that it makes obsolete.
  mutating func add(_ event: PeripheralEvent, for session: PeripheralSessionID) {
    if case .unsubscribed(let central, let characteristic) = event {
      let count = entries.count
      remove(of: session) { former in
        guard case .subscribed(let other, characteristic) = former else { return false }
        return other.handle == central.handle
      }
      // The app has not heard of the subscription.
      if entries.count < count { return }
    }
    remove(of: session) { event.replaces($0) }
    entries.append(.peripheral(session, event.withOwnOctets))
    dropOldest { entry in
      guard case .peripheral(_, let event) = entry else { return false }
      switch event {
      case .writeRequested(nil, _, _), .link(_, .ended), .centralDisconnected, .maximumUpdateLengthChanged: return true
      default: return false
      }
    }
  }

  private mutating func dropOldest(where isRepeated: (Entry) -> Bool) {
    guard entries.count > Self.maximumRepeated, entries.count(where: isRepeated) > Self.maximumRepeated,
      let oldest = entries.firstIndex(where: isRepeated)
    else { return }
    entries.remove(at: oldest)
  }
}

extension AdapterState {
  /// Returns true if an app that learns of this state need not learn of the `former` one: this state ends everything
  /// that the former one has ended. An app that has slept through a power cycle learns of both states, or it would not
  /// know that its links have ended.
  fileprivate func ends(_ former: AdapterState) -> Bool { rank <= former.rank }

  /// The order of the states: those below `poweredOn` end scans, links and services, those below `poweredOff` also end
  /// the use of peripherals.
  private var rank: Int {
    switch self {
    case .unknown, .resetting, .unsupported, .unauthorized: 0
    case .poweredOff: 1
    case .poweredOn: 2
    }
  }
}

extension CentralEvent {
  /// Returns false for an event that waits until another event runs the app, such as one that comes from the system's
  /// own use of a link.
  ///
  /// - Parameter isLoaded: true if the app is suspended, false if it is terminated.
  func runsApp(isLoaded: Bool, under policy: PlatformPolicy) -> Bool {
    switch self {
    case .nameChanged, .maximumWriteLengthChanged: false
    case .readyToWriteWithoutResponse: policy.background?.writeReadinessRunsApps ?? true
    case .stateChanged: isLoaded || policy.restoresAfterPowerChange
    default: true
    }
  }

  /// Returns true if this event tells everything that the earlier event told.
  fileprivate func replaces(_ former: CentralEvent) -> Bool {
    switch (self, former) {
    case (.stateChanged(let new), .stateChanged(let old)): new.ends(old)
    case (.discovered(let new), .discovered(let old)): new.peer.handle == old.peer.handle
    case (.nameChanged(let new, _), .nameChanged(let old, _)): new == old
    case (.maximumWriteLengthChanged(let new, _), .maximumWriteLengthChanged(let old, _)): new == old
    case (.connectionEvent(let new, _), .connectionEvent(let old, _)): new.handle == old.handle
    case (.link(let new, .changed), .link(let old, .changed)): new == old
    case (.rssiRead(let new, _), .rssiRead(let old, _)): new == old
    case (.readyToWriteWithoutResponse(let new), .readyToWriteWithoutResponse(let old)): new == old
    case (.valueChanged(let new, let attribute, _), .valueChanged(let old, let other, _)):
      new == old && attribute == other
    case (.valueLimitReached(let new, let attribute, _), .valueLimitReached(let old, let other, _)):
      new == old && attribute == other
    case (.notificationSharingChanged(let new), .notificationSharingChanged(let old)): new == old
    case (.servicesModified(let new, let services), .servicesModified(let old, let others)):
      new == old && Set(others).isSubset(of: services)
    default: false
    }
  }

  /// The peer that the event is about; nil: none.
  var peer: PeerHandle? {
    switch self {
    case .discovered(let discovery): discovery.peer.handle
    case .packetReceived(let packet): packet.peer.handle
    case .connectionEvent(let peer, _): peer.handle
    case .nameChanged(let peer, _): peer
    default: linkedPeer
    }
  }

  /// The peer whose link the event is about.
  fileprivate var linkedPeer: PeerHandle? {
    switch self {
    case .connected(let peer, _), .connectionFailed(let peer, _), .disconnected(let peer, _, _),
      .maximumWriteLengthChanged(let peer, _), .link(let peer, _), .rssiRead(let peer, _),
      .servicesDiscovered(let peer, _), .includedServicesDiscovered(let peer, _, _),
      .characteristicsDiscovered(let peer, _, _), .descriptorsDiscovered(let peer, _, _), .valueRead(let peer, _, _),
      .valueChanged(let peer, _, _), .valueLimitReached(let peer, _, _), .written(let peer, _, _),
      .notifyStateChanged(let peer, _, _, _), .readyToWriteWithoutResponse(let peer), .channelOpened(let peer, _),
      .notificationSharingChanged(let peer),
      .servicesModified(let peer, _):
      peer
    case .restored, .stateChanged, .discovered, .packetReceived, .synchronization, .connectionEvent, .nameChanged,
      .barrierReached:
      nil
    }
  }

  /// The event with octets that stay valid after the daemon's input.
  package var withOwnOctets: CentralEvent {
    switch self {
    case .discovered(var discovery):
      discovery.serviceData = discovery.serviceData.map { ($0.0, ByteSlice($0.1.bytes)) }
      discovery.manufacturerData = discovery.manufacturerData.map { ByteSlice($0.bytes) }
      return .discovered(discovery)
    case .valueRead(let peer, let attribute, .success(let value)):
      return .valueRead(peer, attribute, .success(ByteSlice(value.bytes)))
    case .valueChanged(let peer, let attribute, let value):
      return .valueChanged(peer, attribute, ByteSlice(value.bytes))
    default: return self
    }
  }
}

extension WaitingEvents.Entry {
  /// True for an event that peers cause at will by being there.
  fileprivate var isRepeatedSighting: Bool {
    switch self {
    case .central(_, .discovered), .central(_, .connectionEvent): true
    default: false
    }
  }
}

extension PeripheralEvent {
  /// The peer that the event is about; nil: none.
  var peer: PeerHandle? {
    switch self {
    case .link(let central, _), .subscribed(let central, _), .unsubscribed(let central, _),
      .maximumUpdateLengthChanged(let central), .readRequested(_, let central, _, _),
      .writeRequested(_, let central, _), .centralDisconnected(let central), .channelOpened(let central, _),
      .indicationConfirmed(let central, _):
      central.handle
    case .restored, .stateChanged, .advertisingStarted, .advertisingSetStarted, .advertisingSetEnded, .serviceAdded,
      .channelPublished, .channelUnpublished, .readyToUpdate, .barrierReached:
      nil
    }
  }

  /// Returns false for an event that waits until another event runs the app, such as one that comes from the system's
  /// own use of a link.
  ///
  /// - Parameter isLoaded: true if the app is suspended, false if it is terminated.
  func runsApp(isLoaded: Bool, under policy: PlatformPolicy) -> Bool {
    switch self {
    case .maximumUpdateLengthChanged, .indicationConfirmed: false
    case .stateChanged: isLoaded || policy.restoresAfterPowerChange
    default: true
    }
  }

  /// Returns true if this event tells everything that the earlier event told.
  fileprivate func replaces(_ former: PeripheralEvent) -> Bool {
    switch (self, former) {
    case (.stateChanged(let new), .stateChanged(let old)): new.ends(old)
    case (.readyToUpdate, .readyToUpdate): true
    case (.maximumUpdateLengthChanged(let new), .maximumUpdateLengthChanged(let old)): new.handle == old.handle
    case (.link(let new, .changed), .link(let old, .changed)): new.handle == old.handle
    case (.centralDisconnected(let new), .centralDisconnected(let old)): new.handle == old.handle
    // The requests of a central are void after its disconnection.
    case (.centralDisconnected(let new), .readRequested(_, let old, _, _)): new.handle == old.handle
    case (.centralDisconnected(let new), .writeRequested(.some, let old, _)): new.handle == old.handle
    case (.centralDisconnected(let new), .maximumUpdateLengthChanged(let old)): new.handle == old.handle
    default: false
    }
  }

  /// The event with octets that stay valid after the daemon's input.
  package var withOwnOctets: PeripheralEvent {
    guard case .writeRequested(let request, let central, let writes) = self else { return self }
    return .writeRequested(
      request, central,
      writes.map { write in
        var copy = write
        copy.value = ByteSlice(write.value.bytes)
        return copy
      })
  }
}
