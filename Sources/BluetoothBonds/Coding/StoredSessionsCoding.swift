// Design: sessions on disk
//
// The sessions of apps that a server preserves are in `sessions.json` beside the bonds (`StoredApp`, `StoredSessions`),
// with the identifier of the machine's run (`SystemFiles.boot`): what another run has stored is removed. An app has at
// most 64 KiB, so that it takes no room from others. A daemon reserves the file by a lock on `sessions.lock`
// (`BondStore.reserveStoredApps`) until `holdStoredApps`; without it, it neither reads nor writes the file. The lock is
// not that of the folder, which devices of a world do not reserve.

import BluetoothDaemon
import BluetoothHost
import BluetoothWire

/// The file with the sessions of apps that the system preserves.
struct StoredSessions: BondFile {
  private enum Key: CodingKey { case boot, apps }

  /// The maximum size of one app in octets of JSON, so that no app takes the room of the others.
  static let maximumAppSize = 1 << 16

  /// The run of the machine in which the sessions were stored.
  let boot: String
  let apps: [StoredApp]

  init(boot: String, apps: [StoredApp]) {
    self.boot = boot
    self.apps = apps
  }

  /// Returns the file with as many of the apps as fit into `limit` octets, in their order, and the names of the others.
  static func fitting(_ apps: [StoredApp], boot: String, limit: Int) -> (file: StoredSessions, missing: [String]) {
    var kept: [StoredApp] = []
    var missing: [String] = []
    var size = 0
    for app in apps {
      // The size of a file of its own is more than the app adds to the others.
      let own = StoredSessions(boot: boot, apps: [app]).jsonText.utf8.count
      if own <= maximumAppSize, size + own <= limit {
        size += own
        kept.append(app)
      } else {
        missing.append(app.name)
      }
    }
    return (StoredSessions(boot: boot, apps: kept), missing)
  }

  init(from decoder: any Decoder) throws {
    let json = try decoder.container(keyedBy: Key.self)
    boot = try json.decode(String.self, forKey: .boot)
    apps = try json.decode([StoredApp].self, forKey: .apps)
  }

  func encode(to encoder: any Encoder) throws {
    var json = encoder.container(keyedBy: Key.self)
    try json.encode(boot, forKey: .boot)
    try json.encode(apps, forKey: .apps)
  }
}

extension StoredApp: Codable {
  private enum Key: CodingKey {
    case name, backgroundModes, usageDescription, setsUpAccessories, wasRunning, centrals, peripherals
  }

  package init(from decoder: any Decoder) throws {
    let json = try decoder.container(keyedBy: Key.self)
    let modes = try json.decode([String].self, forKey: .backgroundModes)
    self.init(
      name: try json.decode(String.self, forKey: .name),
      manifest: AppManifest(
        backgroundModes: Set(modes.compactMap { AppManifest.BackgroundMode(rawValue: $0) }),
        usageDescription: try json.decodeIfPresent(String.self, forKey: .usageDescription),
        setsUpAccessories: try json.decodeIfPresent(Bool.self, forKey: .setsUpAccessories) ?? false),
      wasRunning: try json.decode(Bool.self, forKey: .wasRunning),
      centrals: try json.decode([Central].self, forKey: .centrals),
      peripherals: try json.decode([Peripheral].self, forKey: .peripherals))
  }

  package func encode(to encoder: any Encoder) throws {
    var json = encoder.container(keyedBy: Key.self)
    try json.encode(name, forKey: .name)
    try json.encode(manifest.backgroundModes.map(\.rawValue).sorted(), forKey: .backgroundModes)
    try json.encodeIfPresent(manifest.usageDescription, forKey: .usageDescription)
    if manifest.setsUpAccessories { try json.encode(true, forKey: .setsUpAccessories) }
    try json.encode(wasRunning, forKey: .wasRunning)
    try json.encode(centrals, forKey: .centrals)
    try json.encode(peripherals, forKey: .peripherals)
  }
}

// MARK: Central managers

extension StoredApp.Central: Codable {
  private enum Key: CodingKey { case identifier, peers, scan }

  package init(from decoder: any Decoder) throws {
    let json = try decoder.container(keyedBy: Key.self)
    self.init(
      identifier: try json.decode(String.self, forKey: .identifier),
      peers: try json.decode([StoredApp.Connection].self, forKey: .peers),
      scan: try json.decodeIfPresent(Scan.self, forKey: .scan)?.request)
  }

  package func encode(to encoder: any Encoder) throws {
    var json = encoder.container(keyedBy: Key.self)
    try json.encode(identifier, forKey: .identifier)
    try json.encode(peers, forKey: .peers)
    try json.encodeIfPresent(scan.map(Scan.init), forKey: .scan)
  }
}

extension StoredApp.Connection: Codable {
  private enum Key: CodingKey {
    case address, addressType, name, reconnects, hasBeenConnected, alerts, requiresNotifications
  }

  package init(from decoder: any Decoder) throws {
    let json = try decoder.container(keyedBy: Key.self)
    self.init(
      address: try json.address(.address, type: .addressType),
      name: try json.decodeIfPresent(String.self, forKey: .name),
      reconnects: try json.decode(Bool.self, forKey: .reconnects),
      hasBeenConnected: try json.decode(Bool.self, forKey: .hasBeenConnected),
      alerts: AlertKinds(rawValue: try json.number(.alerts)),
      requiresNotifications: try json.decode(Bool.self, forKey: .requiresNotifications))
  }

  package func encode(to encoder: any Encoder) throws {
    var json = encoder.container(keyedBy: Key.self)
    try json.encode(address.digits, forKey: .address)
    try json.encode(address.kind.word, forKey: .addressType)
    try json.encodeIfPresent(name, forKey: .name)
    try json.encode(reconnects, forKey: .reconnects)
    try json.encode(hasBeenConnected, forKey: .hasBeenConnected)
    try json.encode(alerts.rawValue, forKey: .alerts)
    try json.encode(requiresNotifications, forKey: .requiresNotifications)
  }
}

private struct Scan: Codable {
  private enum Key: CodingKey { case services, solicitedServices, allowsDuplicates }

  let request: ScanRequest

  init(_ request: ScanRequest) { self.request = request }

  init(from decoder: any Decoder) throws {
    let json = try decoder.container(keyedBy: Key.self)
    request = ScanRequest(
      services: try json.has(.services) ? json.uuids(.services) : nil,
      solicitedServices: try json.uuids(.solicitedServices),
      allowsDuplicates: try json.decode(Bool.self, forKey: .allowsDuplicates))
  }

  func encode(to encoder: any Encoder) throws {
    var json = encoder.container(keyedBy: Key.self)
    try json.encodeIfPresent(request.services?.map(\.description), forKey: .services)
    try json.encode(request.solicitedServices.map(\.description), forKey: .solicitedServices)
    try json.encode(request.allowsDuplicates, forKey: .allowsDuplicates)
  }
}

extension KeyedDecodingContainer {
  fileprivate func uuids(_ key: Key) throws -> [BluetoothUUID] {
    try decode([String].self, forKey: key).map { text in
      guard let uuid = BluetoothUUID(digits: text) else { throw invalid(key, "expected UUIDs") }
      return uuid
    }
  }

  /// Decodes a range of lengths from its two bounds.
  fileprivate func lengths(_ key: Key) throws -> ClosedRange<Int> {
    let bounds = try decode([Int].self, forKey: key)
    guard bounds.count == 2, bounds[0] >= 0, bounds[0] <= bounds[1] else { throw invalid(key, "expected two lengths") }
    return bounds[0]...bounds[1]
  }
}

// MARK: Peripheral managers

extension StoredApp.Peripheral: Codable {
  private enum Key: CodingKey { case identifier, services, advertising }

  package init(from decoder: any Decoder) throws {
    let json = try decoder.container(keyedBy: Key.self)
    self.init(
      identifier: try json.decode(String.self, forKey: .identifier),
      services: try json.decode([LocalServiceInfo].self, forKey: .services),
      advertising: try json.decodeIfPresent(RestoredPeripheral.Advertising.self, forKey: .advertising))
  }

  package func encode(to encoder: any Encoder) throws {
    var json = encoder.container(keyedBy: Key.self)
    try json.encode(identifier, forKey: .identifier)
    try json.encode(services, forKey: .services)
    try json.encodeIfPresent(advertising, forKey: .advertising)
  }
}

extension RestoredPeripheral.Advertising: Codable {
  private enum Key: CodingKey { case localName, services }

  package init(from decoder: any Decoder) throws {
    let json = try decoder.container(keyedBy: Key.self)
    self.init(
      localName: try json.decodeIfPresent(String.self, forKey: .localName), services: try json.uuids(.services))
  }

  package func encode(to encoder: any Encoder) throws {
    var json = encoder.container(keyedBy: Key.self)
    try json.encodeIfPresent(localName, forKey: .localName)
    try json.encode(services.map(\.description), forKey: .services)
  }
}

extension LocalServiceInfo: Codable {
  private enum Key: CodingKey { case id, uuid, isPrimary, includes, characteristics, handle }

  package init(from decoder: any Decoder) throws {
    let json = try decoder.container(keyedBy: Key.self)
    self.init(
      id: LocalAttributeID(number: try json.number(.id)), uuid: try json.uuid(.uuid),
      isPrimary: try json.decode(Bool.self, forKey: .isPrimary),
      includes: try json.decode([UInt32].self, forKey: .includes).map { LocalAttributeID(number: $0) },
      characteristics: try json.decode([LocalCharacteristicInfo].self, forKey: .characteristics),
      handle: try json.decodeIfPresent(UInt16.self, forKey: .handle))
  }

  package func encode(to encoder: any Encoder) throws {
    var json = encoder.container(keyedBy: Key.self)
    try json.encode(id.number, forKey: .id)
    try json.encode(uuid.description, forKey: .uuid)
    try json.encode(isPrimary, forKey: .isPrimary)
    try json.encode(includes.map(\.number), forKey: .includes)
    try json.encode(characteristics, forKey: .characteristics)
    try json.encodeIfPresent(handle, forKey: .handle)
  }
}

extension LocalCharacteristicInfo: Codable {
  private enum Key: CodingKey {
    case id, uuid, properties, extendedProperties, permissions, minimumKeySize, value, lengths
    case subscriptionNeedsEncryption, descriptors, handle
  }

  package init(from decoder: any Decoder) throws {
    let json = try decoder.container(keyedBy: Key.self)
    self.init(
      id: LocalAttributeID(number: try json.number(.id)),
      definition: GATTCharacteristicDefinition(
        uuid: try json.uuid(.uuid), properties: CharacteristicProperties(rawValue: try json.number(.properties)),
        extendedProperties: GATTExtendedProperties(rawValue: try json.number(.extendedProperties)),
        permissions: AttributePermissions(rawValue: try json.number(.permissions)),
        minimumKeySize: try json.number(.minimumKeySize),
        value: try json.has(.value) ? ByteSlice(json.octets(.value)) : nil, lengths: try json.lengths(.lengths),
        subscriptionNeedsEncryption: try json.decode(Bool.self, forKey: .subscriptionNeedsEncryption),
        descriptors: try json.decode([GATTDescriptorDefinition].self, forKey: .descriptors)))
    definition.handle = try json.decodeIfPresent(UInt16.self, forKey: .handle)
  }

  package func encode(to encoder: any Encoder) throws {
    var json = encoder.container(keyedBy: Key.self)
    try json.encode(id.number, forKey: .id)
    try json.encode(definition.uuid.description, forKey: .uuid)
    try json.encode(definition.properties.rawValue, forKey: .properties)
    try json.encode(definition.extendedProperties.rawValue, forKey: .extendedProperties)
    try json.encode(definition.permissions.rawValue, forKey: .permissions)
    try json.encode(definition.minimumKeySize, forKey: .minimumKeySize)
    try json.encodeIfPresent(definition.value?.bytes.map(\.hexadecimal).joined(), forKey: .value)
    try json.encode([definition.lengths.lowerBound, definition.lengths.upperBound], forKey: .lengths)
    try json.encode(definition.subscriptionNeedsEncryption, forKey: .subscriptionNeedsEncryption)
    try json.encode(definition.descriptors, forKey: .descriptors)
    try json.encodeIfPresent(definition.handle, forKey: .handle)
  }
}

extension GATTDescriptorDefinition: Codable {
  private enum Key: CodingKey { case uuid, value, formats, permissions, lengths, handle }

  package init(from decoder: any Decoder) throws {
    let json = try decoder.container(keyedBy: Key.self)
    var content = Content.dynamic
    if try json.has(.value) {
      content = .stored(ByteSlice(try json.octets(.value)))
    } else if try json.has(.formats) {
      // Pairs of a characteristic's index and a descriptor's index.
      content = .formats(
        try json.decode([[Int]].self, forKey: .formats).map { pair in
          guard pair.count == 2, pair.allSatisfy({ $0 >= 0 }) else { throw json.invalid(.formats, "expected pairs") }
          return GATTDescriptorPath(characteristic: pair[0], descriptor: pair[1])
        })
    }
    self.init(
      uuid: try json.uuid(.uuid), content: content,
      permissions: AttributePermissions(rawValue: try json.number(.permissions)), lengths: try json.lengths(.lengths))
    handle = try json.decodeIfPresent(UInt16.self, forKey: .handle)
  }

  package func encode(to encoder: any Encoder) throws {
    var json = encoder.container(keyedBy: Key.self)
    try json.encode(uuid.description, forKey: .uuid)
    switch content {
    case .stored(let value): try json.encode(value.bytes.map(\.hexadecimal).joined(), forKey: .value)
    case .dynamic: break
    case .formats(let paths): try json.encode(paths.map { [$0.characteristic, $0.descriptor] }, forKey: .formats)
    }
    try json.encode(permissions.rawValue, forKey: .permissions)
    try json.encode([lengths.lowerBound, lengths.upperBound], forKey: .lengths)
    try json.encodeIfPresent(handle, forKey: .handle)
  }
}
