import BluetoothDBus
import BluetoothWire

/// The filter of a client's discovery · `Adapter1.SetDiscoveryFilter`.
struct DiscoveryFilter: Hashable {
  /// The services of which a device must advertise one; empty: all devices match.
  var services: [BluetoothUUID] = []
  /// The lowest RSSI in dBm; nil: any.
  var rssi: Int?
  /// The highest path loss in dB; nil: any.
  var pathLoss: Int?
  /// True if the client wants manufacturer and service data with every packet.
  var wantsDuplicates = false
  /// The beginning of the address or of the name of a device; nil: any.
  var pattern: String?
  /// False for a discovery of BR/EDR devices alone, of which there are none.
  var includesLE = true

  /// True if the filter lets all LE devices pass, and wants no duplicates: as without a filter.
  var isEmpty: Bool {
    services.isEmpty && rssi == nil && pathLoss == nil && !wantsDuplicates && pattern == nil && includesLE
  }

  /// The names of the options, as `GetDiscoveryFilters` lists them.
  static let names = ["UUIDs", "RSSI", "Pathloss", "Transport", "DuplicateData", "Discoverable", "Pattern"]

  /// Reads the argument of `SetDiscoveryFilter`. An empty dictionary is no filter. Returns false if an option is unknown,
  /// or has another type or a wrong value.
  static func read(_ options: [String: DBusValue], _ filter: inout DiscoveryFilter?) -> Bool {
    filter = nil
    guard !options.isEmpty else { return true }
    var result = DiscoveryFilter()
    for (name, value) in options where !result.read(name, value.content) { return false }
    // BlueZ takes one of the two.
    guard result.rssi == nil || result.pathLoss == nil else { return false }
    filter = result
    return true
  }

  private mutating func read(_ name: String, _ value: DBusValue) -> Bool {
    switch (name, value) {
    case ("UUIDs", _):
      guard let texts = value.texts else { return false }
      for text in texts {
        guard let uuid = BluetoothUUID(text) else { return false }
        services.append(uuid)
      }
    case ("RSSI", .int16(let level)):
      guard -127...20 ~= level else { return false }
      rssi = Int(level)
    case ("Pathloss", .uint16(let loss)):
      guard loss <= 137 else { return false }
      pathLoss = Int(loss)
    case ("Transport", .string(let transport)):
      guard ["auto", "le", "bredr"].contains(transport) else { return false }
      includesLE = transport != "bredr"
    case ("DuplicateData", .bool(let isOn)): wantsDuplicates = isOn
    case ("Discoverable", .bool): break
    case ("Pattern", .string(let text)): pattern = text
    default: return false
    }
    return true
  }

  /// Returns true if the services and the distance of a sighting match.
  func matches(_ services: [BluetoothUUID], rssi level: Int8, txPower: Int8?) -> Bool {
    guard includesLE, self.services.isEmpty || self.services.contains(where: services.contains) else { return false }
    if let rssi, Int(level) < rssi { return false }
    guard let pathLoss else { return true }
    return txPower.map { Int($0) - Int(level) <= pathLoss } ?? false
  }

  /// Returns true if the pattern is the beginning of the address or of the name. An empty pattern matches.
  func matchesPattern(_ address: String, _ name: String?) -> Bool {
    guard let pattern else { return true }
    return address.lowercased().hasPrefix(pattern.lowercased()) || name?.hasPrefix(pattern) == true
  }
}

/// The discoveries of all clients of an adapter, merged as BlueZ does: a device is reported to all clients if it matches
/// the filter of one of them · `is_filter_match`, `device_is_discoverable` in src/adapter.c of BlueZ.
struct DiscoverySessions {
  /// The filters of the clients that discover; nil: no filter.
  private var active: [String: DiscoveryFilter?] = [:]
  /// The filters of clients that do not discover yet.
  private var prepared: [String: DiscoveryFilter] = [:]

  var isActive: Bool { !active.isEmpty }

  /// True if at least one client wants duplicates.
  private(set) var wantsDuplicates = false
  /// True if a client has a filter: the RSSI of every packet is announced · `filtered_discovery` in src/adapter.c.
  private(set) var isFiltered = false

  /// The parameters of the scan that serves all clients; nil: no client discovers LE devices.
  var scans: Bool { active.values.contains { $0?.includesLE ?? true } }

  func isActive(_ client: String) -> Bool { active[client] != nil }

  /// Starts a client's discovery. Returns false if it runs already.
  mutating func start(_ client: String) -> Bool {
    guard active[client] == nil else { return false }
    active[client] = .some(prepared.removeValue(forKey: client))
    update()
    return true
  }

  /// Stops a client's discovery, and forgets its filter. Returns false if it does not run.
  mutating func stop(_ client: String) -> Bool {
    guard active.removeValue(forKey: client) != nil else { return false }
    update()
    return true
  }

  mutating func setFilter(_ filter: DiscoveryFilter?, of client: String) {
    if active[client] != nil { active[client] = .some(filter) } else { prepared[client] = filter }
    update()
  }

  /// Forgets a client that has left the bus.
  mutating func remove(_ client: String) {
    prepared[client] = nil
    active[client] = nil
    update()
  }

  /// Forgets all discoveries: the adapter is off.
  mutating func removeAll() {
    active.removeAll()
    update()
  }

  private mutating func update() {
    wantsDuplicates = active.values.contains { $0?.wantsDuplicates == true }
    isFiltered = active.values.contains { $0?.isEmpty == false }
  }

  /// Returns true if a sighting is reported.
  func match(_ data: DeviceAdvertisement, address: String, name: String?, rssi: Int8) -> Bool {
    // Patterns narrow the discoveries of all clients, as in BlueZ.
    let patterns = active.values.filter { $0?.pattern != nil }
    if !patterns.isEmpty, !patterns.contains(where: { $0?.matchesPattern(address, data.name ?? name) == true }) {
      return false
    }
    return active.values.contains { filter in
      filter?.matches(data.services, rssi: rssi, txPower: data.txPower) ?? true
    }
  }
}
