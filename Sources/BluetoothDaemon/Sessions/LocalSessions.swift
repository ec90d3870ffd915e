import BluetoothWire
import NIOConcurrencyHelpers
import Synchronization

/// The sessions of one adapter whose clients are in the daemon's process: the transport between the clients and the
/// daemon. It passes requests through a queue and events by calls, and holds the memory that both sides share
/// (`SessionCounters`, `ChannelPipe`).
package final class LocalSessions: Sendable {
  /// A client's end of a session. Only the client of the session's role is set.
  ///
  /// An object, because a copy of weak references costs more than the delivery of an event. `@unchecked`, because the
  /// lock of `state` protects its properties, which the compiler can't see: no code uses an end without that lock.
  fileprivate final class ClientEnd: @unchecked Sendable {
    @exclusivity(unchecked) private(set) weak var central: (any CentralClient)?
    @exclusivity(unchecked) private(set) weak var peripheral: (any PeripheralClient)?
    let counters: SessionCounters
    /// The app that owns the session.
    let app: String?
    /// True if the client gets no more events.
    @exclusivity(unchecked) var isClosed: Bool

    init(
      central: (any CentralClient)? = nil, peripheral: (any PeripheralClient)? = nil, counters: SessionCounters,
      app: String?, isClosed: Bool = false
    ) {
      (self.central, self.peripheral, self.counters) = (central, peripheral, counters)
      (self.app, self.isClosed) = (app, isClosed)
    }

    /// Creates an end with the client of another one.
    init(ofClientOf other: ClientEnd) {
      (central, peripheral, counters) = (other.central, other.peripheral, other.counters)
      (app, isClosed) = (other.app, other.isClosed)
    }
  }

  fileprivate struct ChannelEntry {
    /// The pipe until a client takes the channel; then the client and the daemon retain it.
    var untaken: ChannelPipe?
    weak var pipe: ChannelPipe?
    /// True if neither end uses the channel any more.
    var isGone: Bool { untaken == nil && pipe == nil }
  }

  fileprivate struct State {
    var centrals = SlotMap<ClientEnd>()
    var peripherals = SlotMap<ClientEnd>()
    var channels = SlotMap<ChannelEntry>()
    var apps: [String: AppEnd] = [:]
    weak var system: (any SystemClient)?
  }

  fileprivate struct AppEnd {
    weak var client: (any AppClient)?
  }

  /// The queue of requests to the daemon.
  package let requests = RequestQueue()
  /// Created with the first session or channel, because a crowd has thousands of adapters that no app uses.
  private let lazyState = LazyObject<SharedState>()
  private var state: NIOLockedValueBox<State> { (lazyState.value ?? lazyState.make { SharedState() }).box }

  private final class SharedState: Sendable {
    let box = NIOLockedValueBox(State())
    /// The number of events that the daemon has sent and its adapter has not delivered.
    let undelivered = Atomic(0)
  }

  /// The number of requests that wait for the daemon, and of events that wait for delivery.
  var pendingCount: Int { requests.count + (lazyState.value?.undelivered.load(ordering: .relaxed) ?? 0) }

  /// Notes the number of events that wait for delivery. An adapter that handles requests before it delivers events
  /// calls this function, so that clients with many requests can be slowed down.
  package func setUndelivered(_ count: Int) { lazyState.value?.undelivered.store(count, ordering: .relaxed) }

  package init() {}

  // MARK: Clients

  func open(_ client: any CentralClient, _ counters: SessionCounters, _ owner: SessionOwner?) -> CentralSessionID {
    let end = ClientEnd(central: client, counters: counters, app: owner?.app)
    let key = state.withLockedValue { $0.centrals.insert(end) }
    requests.post(.openCentral(SessionID(key: key), owner))
    return SessionID(key: key)
  }

  func open(_ client: any PeripheralClient, _ counters: SessionCounters, _ owner: SessionOwner?) -> PeripheralSessionID
  {
    let end = ClientEnd(peripheral: client, counters: counters, app: owner?.app)
    let key = state.withLockedValue { $0.peripherals.insert(end) }
    requests.post(.openPeripheral(SessionID(key: key), owner))
    return SessionID(key: key)
  }

  /// Closes a session for the client with these counters; nil: for whatever client it has. A client whose session was
  /// preserved and given to another client has no effect on it.
  func close(_ session: CentralSessionID, _ counters: SessionCounters? = nil) {
    close(.central(session), counters, .closeCentral(session))
  }

  func close(_ session: PeripheralSessionID, _ counters: SessionCounters? = nil) {
    close(.peripheral(session), counters, .closePeripheral(session))
  }

  /// Closes a session, once. Its slot becomes vacant after the request, so that the daemon learns of the end before it
  /// learns of the next session in this slot.
  private func close(_ session: AnySession, _ counters: SessionCounters?, _ request: DaemonRequest) {
    let wasOpen = state.withLockedValue { state in
      guard let end = state[keyPath: session.ends][session.key] else { return false }
      if let counters, end.counters !== counters { return false }
      defer { end.isClosed = true }
      return !end.isClosed
    }
    guard wasOpen else { return }
    requests.post(request)
    end(session)
  }

  // MARK: Apps

  /// Sets the receiver of an app's events, which is held weakly.
  package func setClient(_ client: any AppClient, ofApp app: String) {
    state.withLockedValue { $0.apps[app] = AppEnd(client: client) }
  }

  /// Sends a message about the life of an app. The clients of a terminated app get no event from now on, and their
  /// slots stay occupied until the daemon decides which sessions to preserve.
  package func send(_ request: AppRequest, ofApp app: String) {
    if case .terminated = request { detach(app: app) }
    requests.post(.app(app, request))
  }

  /// Gives the clients of an app no more events.
  func detach(app: String) {
    state.withLockedValue { state in
      Self.detach(state.centrals, ofApp: app)
      Self.detach(state.peripherals, ofApp: app)
    }
  }

  /// Sets the receiver of events that belong to no app, which is held weakly.
  package func setSystemClient(_ client: any SystemClient) { state.withLockedValue { $0.system = client } }

  private static func detach(_ ends: SlotMap<ClientEnd>, ofApp app: String) {
    for end in ends.values where end?.app == app { end?.isClosed = true }
  }

  /// Makes a session without a client, for an app that the daemon has preserved in a former run.
  func reserveCentral(ofApp app: String) -> CentralSessionID {
    let end = ClientEnd(counters: SessionCounters(), app: app, isClosed: true)
    return SessionID(key: state.withLockedValue { $0.centrals.insert(end) })
  }

  /// Makes a session without a client; see above.
  func reservePeripheral(ofApp app: String) -> PeripheralSessionID {
    let end = ClientEnd(counters: SessionCounters(), app: app, isClosed: true)
    return SessionID(key: state.withLockedValue { $0.peripherals.insert(end) })
  }

  /// Ends the client's part of a session that the daemon has closed.
  func end(_ session: AnySession) { state.withLockedValue { _ = $0[keyPath: session.ends].remove(session.key) } }

  /// Gives the events of a preserved session to the client of a new one with the same role. Returns false if the new
  /// session is closed.
  func attach(_ new: AnySession, to preserved: AnySession) -> Bool {
    // The clients are retained until the lock is released: the last reference to one must not be released under it.
    let (isAttached, clients) = state.withLockedValue { state -> (Bool, [AnyObject]) in
      guard let end = state[keyPath: new.ends][new.key], !end.isClosed else { return (false, []) }
      let clients = [end.central as AnyObject?, end.peripheral as AnyObject?].compactMap { $0 }
      return (state[keyPath: new.ends].update(preserved.key) { $0 = ClientEnd(ofClientOf: end) } != nil, clients)
    }
    return withExtendedLifetime(clients) { isAttached }
  }

  // MARK: Daemon

  /// Returns the counters of a session that has just opened. If the session is already closed, returns new counters,
  /// which have no effect.
  package func counters(of session: CentralSessionID) -> SessionCounters {
    state.withLockedValue { $0.centrals[session.key]?.counters } ?? SessionCounters()
  }

  package func counters(of session: PeripheralSessionID) -> SessionCounters {
    state.withLockedValue { $0.peripherals[session.key]?.counters } ?? SessionCounters()
  }

  /// Returns the counters of a session that has just opened; see above.
  func counters(of session: AnySession) -> SessionCounters {
    switch session {
    case .central(let session): counters(of: session)
    case .peripheral(let session): counters(of: session)
    }
  }

  // MARK: Events

  /// Returns true if the event has a receiver.
  package func hasReceiver(of event: DaemonEvent) -> Bool {
    switch event {
    case .central(let session, _): client(of: session) != nil
    case .peripheral(let session, _): client(of: session) != nil
    case .channel(let channel): pipe(of: channel) != nil
    case .app(let app, _): client(ofApp: app) != nil
    case .system: systemClient != nil
    }
  }

  /// Calls the client that `event` is for. Closes the session if its client has been deallocated.
  package func deliver(_ event: DaemonEvent) {
    switch event {
    case .central(let session, let event):
      guard let client = client(of: session) else { return drop(event, session) }
      if case .stateChanged = event, !client.queuesEvents { counters(of: session).noteStateSeen() }
      client.receive(event)
    case .peripheral(let session, let event):
      guard let client = client(of: session) else { return drop(event, session) }
      if case .stateChanged = event, !client.queuesEvents { counters(of: session).noteStateSeen() }
      client.receive(event)
    case .channel(let channel): pipe(of: channel)?.announce()
    case .app(let app, let event): client(ofApp: app)?.receive(event)
    case .system(let event): systemClient?.receive(event)
    }
  }

  private var systemClient: (any SystemClient)? { state.withLockedValue { $0.system } }

  private func client(ofApp app: String) -> (any AppClient)? { state.withLockedValue { $0.apps[app]?.client } }

  private func drop(_ event: CentralEvent, _ session: CentralSessionID) {
    if case .channelOpened(_, .success(let channel)) = event { _ = takeChannel(channel) }
    close(session)
  }

  private func drop(_ event: PeripheralEvent, _ session: PeripheralSessionID) {
    if case .channelOpened(_, let channel) = event { _ = takeChannel(channel) }
    close(session)
  }

  /// Returns the client of a session; nil: the session is closed, or the client has been deallocated.
  func client(of session: CentralSessionID) -> (any CentralClient)? {
    state.withLockedValue { state in
      guard let end = state.centrals[session.key], !end.isClosed else { return nil }
      return end.central
    }
  }

  func client(of session: PeripheralSessionID) -> (any PeripheralClient)? {
    state.withLockedValue { state in
      guard let end = state.peripherals[session.key], !end.isClosed else { return nil }
      return end.peripheral
    }
  }

  // MARK: Channels

  /// Creates the pipe of a channel that the host has opened.
  package func makePipe() -> ChannelPipe {
    state.withLockedValue { state in
      // Remove the channels that neither end uses any more.
      for index in state.channels.values.indices where state.channels.values[index]?.isGone == true {
        _ = state.channels.remove(at: index)
      }
      let key = state.channels.insert(ChannelEntry())
      let pipe = ChannelPipe(ChannelHandle(key: key), requests: requests)
      state.channels.update(key) { entry in
        entry.untaken = pipe
        entry.pipe = pipe
      }
      return pipe
    }
  }

  /// Returns the pipe of a channel; nil: neither end uses the channel any more.
  package func pipe(of channel: ChannelHandle) -> ChannelPipe? {
    state.withLockedValue { state in
      guard let index = state.channels.index(of: channel.key) else { return nil }
      return state.channels.values[index]?.pipe
    }
  }

  /// Returns an open channel for its app; nil if it was taken before. The channel closes when the result is released.
  func takeChannel(_ channel: ChannelInfo) -> OpenChannel? {
    let pipe = state.withLockedValue { state in
      state.channels.update(channel.handle.key) { $0.untaken.take() }
    }
    return pipe.flatMap { $0 }.map { OpenChannel(psm: channel.psm, pipe: $0) }
  }
}

extension AnySession {
  /// The clients' ends of the sessions with the same role.
  fileprivate var ends: WritableKeyPath<LocalSessions.State, SlotMap<LocalSessions.ClientEnd>> {
    switch self {
    case .central: \.centrals
    case .peripheral: \.peripherals
    }
  }
}
