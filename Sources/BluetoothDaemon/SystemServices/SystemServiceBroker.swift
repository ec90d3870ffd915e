import BluetoothHost
import BluetoothWire

/// The broker of the services that the system itself provides: it passes the events of their attributes to their
/// servers. Each peer can use the services, also one to which the adapter has connected as the central.
struct SystemServiceBroker {
  private var servers: [any SystemServer] = []

  /// True if the system has no such services, as in most adapters.
  var isEmpty: Bool { servers.isEmpty }

  /// The earliest deadline of the servers.
  var deadline: Instant? {
    var deadline: Instant?
    for server in servers { deadline = earliest(deadline, server.deadline) }
    return deadline
  }

  /// Adds a server, and starts it if the adapter is on.
  mutating func add(_ server: any SystemServer, isOn: Bool, at now: Instant, _ context: inout DaemonContext) {
    servers.append(server)
    guard isOn else { return }
    server.started(&context.host, at: now)
    for link in context.links.indices {
      let connection = context.links[link].link.handle
      server.linkBegan(connection, &context.host, at: now)
    }
  }

  /// Starts the servers: the adapter is on.
  func start(at now: Instant, _ host: inout Host) {
    for server in servers { server.started(&host, at: now) }
  }

  /// Stops the servers: the adapter is no longer on.
  func stop(at now: Instant) {
    for server in servers { server.stopped(at: now) }
  }

  /// Notes a new link, unless the daemon has refused it.
  func linkBegan(_ connection: HCI.ConnectionHandle, at now: Instant, _ context: inout DaemonContext) {
    guard !servers.isEmpty, context.links.index(of: connection) != nil else { return }
    for server in servers { server.linkBegan(connection, &context.host, at: now) }
  }

  /// Notes the end of a link.
  func linkEnded(
    _ connection: HCI.ConnectionHandle, _ reason: HCI.ErrorCode, at now: Instant, _ host: inout Host
  ) {
    for server in servers { server.linkEnded(connection, reason, &host, at: now) }
  }

  /// Handles an event of the GATT server. Returns false if the event concerns no service of the system.
  func handle(_ event: GATTEvent, on link: DaemonLinkIndex, at now: Instant, _ context: inout DaemonContext) -> Bool {
    guard let handle = event.servedAttribute, let server = servers.first(where: { $0.owns(handle) }) else {
      return false
    }
    let connection = context.links[link].link.handle
    server.handle(event, on: connection, &context.host, at: now)
    return true
  }

  /// Calls the servers whose deadline has come.
  func timeReached(_ now: Instant, _ host: inout Host) {
    for server in servers {
      if let deadline = server.deadline, deadline <= now { server.timeReached(&host, at: now) }
    }
  }
}

extension GATTEvent {
  /// The attribute of the local server that the event concerns; nil: an event of the client or of the link. For a
  /// reliable write, this is the first attribute.
  fileprivate var servedAttribute: AttributeHandle? {
    switch self {
    case .readRequested(_, let handle, _): handle
    case .writeRequested(_, let parts): parts.first?.handle
    case .subscriptionChanged(let handle, _): handle
    case .updateSent(let handle): handle
    case .broadcastChanged(let handle, _): handle
    default: nil
    }
  }
}
