import BluetoothDaemonProtocol
import BluetoothTransport

/// The clients of a server and what they share. Unchecked: `connections` belongs to the server's event loop.
final class ServerClients: @unchecked Sendable {
  let adapters: [ServedAdapter]
  let limits: ServerLimits
  var metrics: ServerMetrics { apps.metrics }
  let apps: ServerApps
  let log: ClientLog
  /// The connections whose clients have not said who they are, and have no place yet.
  private var strangers: StrangerTable<ServerConnection>
  private var connections: [ObjectIdentifier: ServerConnection] = [:]
  private var places: ClientPlaces
  private var placesByClient: [ObjectIdentifier: ClientPlaces.Place] = [:]
  private var refusals = RefusalLog()

  init(_ adapters: [ServedAdapter], _ limits: ServerLimits, _ apps: ServerApps) {
    self.apps = apps
    self.adapters = adapters
    self.limits = limits
    log = apps.log
    strangers = StrangerTable(limit: limits.strangers)
    places = ClientPlaces(limits.clients)
  }

  /// Returns the adapter of that name, the first one if the name is empty; nil: there is none.
  func adapter(named name: String) -> ServedAdapter? {
    name.isEmpty ? adapters.first : adapters.first { $0.name == name }
  }

  /// Adds a connection whose client has not said who it is. May end another such connection.
  func addStranger(_ stranger: ServerConnection, from origin: ConnectionOrigin) {
    apps.gate.check()
    strangers.add(stranger, from: origin)?.refuse(
      .tooMany, "too many connections without a greeting: \(limits.strangers)")
  }

  /// Gives a place to a client that has said who it is, unless there are too many.
  func add(_ connection: ServerConnection, of client: ClientIdentity) throws(ClientPlaces.Full) {
    apps.gate.check()
    strangers.remove(connection)
    let key = ObjectIdentifier(connection)
    placesByClient[key] = try places.take(for: ClientPlaces.Owner(client), mayControl: apps.setup.mayControl(client))
    connections[key] = connection
    metrics.setClients(connections.count)
  }

  /// Removes a connection. Has no effect on one that has not been added.
  func remove(_ connection: ServerConnection) {
    apps.gate.check()
    strangers.remove(connection)
    let key = ObjectIdentifier(connection)
    guard let place = placesByClient.removeValue(forKey: key) else { return }
    places.free(place)
    connections[key] = nil
    metrics.setClients(connections.count)
  }

  // MARK: Refusals

  /// Counts and logs that a client is disconnected. The log has one line for each program and reason, until the server
  /// accepts the program.
  func noteRefusal(_ reason: RefusalReason, _ text: String, of client: ClientIdentity?, from origin: ConnectionOrigin) {
    apps.gate.check()
    metrics.noteRefusal(reason)
    let line = "\(client?.text ?? "a client"): disconnected: \(text)"
    if client.map({ refusals.isNew(reason, of: $0) }) ?? true {
      log.log(from: "\(origin)") { ServerLog.warn(line, about: client) }
    } else {
      ServerLog.trace(line)
    }
  }

  /// Notes that the server has accepted a client.
  func noteAcceptance(of client: ClientIdentity) { refusals.accepted(client) }

  // MARK: Lists

  var identities: [ClientIdentity] {
    apps.gate.check()
    return connections.values.compactMap(\.identity)
  }

  /// The clients for a list, sorted by their processes.
  var descriptions: [ConnectedClient] {
    connections.values.compactMap(\.description).sorted {
      ($0.process ?? 0, $0.sessions) < ($1.process ?? 0, $1.sessions)
    }
  }

  /// Ends all connections, because the server stops.
  func refuseAll() {
    apps.gate.check()
    for connection in strangers.connections + Array(connections.values) {
      connection.refuse(.stopping, "the server is stopping")
    }
  }
}
