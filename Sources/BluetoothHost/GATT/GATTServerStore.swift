import BluetoothWire

/// The state of a host's GATT server and clients that outlives links: the local database, the records of bonded
/// clients, and the caches of servers' databases.
struct GATTServerStore {
  var database: GATTDatabase
  /// The records of bonded clients from their last links that were encrypted with the bond's key.
  private(set) var clients: [DeviceAddress: GATTClientRecord] = [:]
  /// True if the database has changed since its hash was stored in the records of `clients`.
  private(set) var hashesAreOutdated = false
  /// The cached databases of servers that are not connected.
  var caches = GATTCacheStore()
  /// The attributes that apps found on links that have ended and are to be re-established, by the server's identity.
  var keptDatabases: [DeviceAddress: RemoteDatabase] = [:]
  /// The attributes of servers without a bond and without Service Changed, oldest link first.
  private var unbondedDatabases: [(server: DeviceAddress, database: RemoteDatabase)] = []

  /// Creates the state with a database of the mandatory services only.
  init(database: GATTDatabase) { self.database = database }

  /// The records of bonded clients, by identity address.
  var clientRecords: [DeviceAddress: GATTClientRecord] {
    get {
      guard hashesAreOutdated else { return clients }
      var copy = self
      copy.updateHashes()
      return copy.clients
    }
    set {
      clients = newValue
      hashesAreOutdated = false
    }
  }

  /// Updates the hash in the records of disconnected clients. It is computed once for any number of changes, because
  /// an app may publish thousands of services.
  private mutating func updateHashes() {
    guard hashesAreOutdated else { return }
    hashesAreOutdated = false
    let hash = database.hash().bytes
    for address in clients.keys { clients[address]?.databaseHash = hash }
  }

  /// Returns the record of a client, which stays in place; nil: there is none.
  mutating func clientRecord(of identity: DeviceAddress) -> GATTClientRecord? {
    updateHashes()
    return clients[identity]
  }

  /// Stores the record of a client whose link has ended.
  mutating func keep(_ record: GATTClientRecord, of identity: DeviceAddress) { clients[identity] = record }

  /// Keeps the attributes of a server without a bond for its next link.
  mutating func keepUnbonded(_ database: RemoteDatabase, of server: DeviceAddress) {
    unbondedDatabases.removeAll { $0.server == server }
    if unbondedDatabases.count == GATTCacheStore.maximumCount { unbondedDatabases.removeFirst() }
    unbondedDatabases.append((server, database))
  }

  /// Returns the kept attributes of a server without a bond; nil: none.
  func unbondedDatabase(of server: DeviceAddress) -> RemoteDatabase? {
    unbondedDatabases.first { $0.server == server }?.database
  }

  /// Forgets the attributes of all servers without a link.
  mutating func forgetDatabases() {
    keptDatabases = [:]
    unbondedDatabases = []
  }

  /// Removes a peer's record as client and the cache of its database.
  mutating func forget(_ identity: DeviceAddress) {
    clients[identity] = nil
    caches.forget(identity)
  }

  /// Updates the records of disconnected clients after a change of the database.
  mutating func databaseChanged(_ range: ClosedRange<AttributeHandle>) {
    for address in clients.keys { clients[address]?.databaseChanged(range, to: database) }
    hashesAreOutdated = !clients.isEmpty
  }
}
