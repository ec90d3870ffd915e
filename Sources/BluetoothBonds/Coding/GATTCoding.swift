import BluetoothHost
import BluetoothWire

// MARK: The peer as a client

extension GATTClientRecord: Codable {
  private enum Key: CodingKey { case subscriptions, features, isChangeAware, change, databaseHash }

  package init(from decoder: any Decoder) throws {
    let json = try decoder.container(keyedBy: Key.self)
    self.init(
      subscriptions: try json.decode([Subscription].self, forKey: .subscriptions),
      features: try json.number(.features), isChangeAware: try json.decode(Bool.self, forKey: .isChangeAware),
      change: try json.decodeIfPresent(HandleRange.self, forKey: .change)?.range,
      databaseHash: try json.octets(.databaseHash))
  }

  package func encode(to encoder: any Encoder) throws {
    var json = encoder.container(keyedBy: Key.self)
    try json.encode(subscriptions, forKey: .subscriptions)
    try json.encode(features, forKey: .features)
    try json.encode(isChangeAware, forKey: .isChangeAware)
    try json.encodeIfPresent(change.map(HandleRange.init), forKey: .change)
    try json.encode(databaseHash.map(\.hexadecimal).joined(), forKey: .databaseHash)
  }
}

extension GATTClientRecord.Subscription: Codable {
  private enum Key: CodingKey { case handle, bits }

  package init(from decoder: any Decoder) throws {
    let json = try decoder.container(keyedBy: Key.self)
    self.init(handle: try json.handle(.handle), bits: try json.number(.bits))
  }

  package func encode(to encoder: any Encoder) throws {
    var json = encoder.container(keyedBy: Key.self)
    try json.encode(handle, forKey: .handle)
    try json.encode(bits, forKey: .bits)
  }
}

// MARK: The peer as a server

extension GATTCache: Codable {
  private enum Key: CodingKey {
    case databaseHash, serviceChanged, serviceChangedConfiguration, clientSupportedFeatures, databaseHashHandle
    case serverSupportedFeatures, discoveries
  }

  package init(from decoder: any Decoder) throws {
    let json = try decoder.container(keyedBy: Key.self)
    var attributes = GATTServiceAttributes()
    attributes.serviceChanged = try json.optionalHandle(.serviceChanged)
    attributes.configuration = try json.optionalHandle(.serviceChangedConfiguration)
    attributes.clientSupportedFeatures = try json.optionalHandle(.clientSupportedFeatures)
    attributes.databaseHash = try json.optionalHandle(.databaseHashHandle)
    attributes.serverSupportedFeatures = try json.optionalHandle(.serverSupportedFeatures)
    self.init(hash: ByteSlice(try json.octets(.databaseHash)), attributes: attributes)
    for entry in try json.decode([CachedDiscovery].self, forKey: .discoveries) {
      add(entry.response, to: entry.discovery)
    }
  }

  package func encode(to encoder: any Encoder) throws {
    var json = encoder.container(keyedBy: Key.self)
    try json.encode(hash.description, forKey: .databaseHash)
    try json.encodeIfPresent(attributes.serviceChanged, forKey: .serviceChanged)
    try json.encodeIfPresent(attributes.configuration, forKey: .serviceChangedConfiguration)
    try json.encodeIfPresent(attributes.clientSupportedFeatures, forKey: .clientSupportedFeatures)
    try json.encodeIfPresent(attributes.databaseHash, forKey: .databaseHashHandle)
    try json.encodeIfPresent(attributes.serverSupportedFeatures, forKey: .serverSupportedFeatures)
    // Sorted, because the order of a dictionary is random: the same cache must give the same file.
    try json.encode(
      responses.map(CachedDiscovery.init).filter(\.isStored).sorted { $0.order < $1.order }, forKey: .discoveries)
  }
}

private struct CachedDiscovery: Codable {
  private enum Key: CodingKey { case kind, `in`, found }
  private enum Kind: String { case primaryServices, includedServices, characteristics, descriptors }

  let discovery: GATTDiscovery
  let response: GATTResponse

  init(discovery: GATTDiscovery, response: GATTResponse) {
    self.discovery = discovery
    self.response = response
  }

  /// False for responses that are not the result of a discovery.
  var isStored: Bool {
    switch response {
    case .services, .includedServices, .characteristics, .descriptors: true
    case .value, .values, .done: false
    }
  }

  private var kind: (Kind, ClosedRange<AttributeHandle>?) {
    switch discovery {
    case .primaryServices: (.primaryServices, nil)
    case .includedServices(let range): (.includedServices, range)
    case .characteristics(let range): (.characteristics, range)
    case .descriptors(let range): (.descriptors, range)
    }
  }

  /// The sort key.
  var order: String {
    let (kind, range) = kind
    return kind.rawValue + " " + (range?.lowerBound ?? 0).hexadecimal + (range?.upperBound ?? 0).hexadecimal
  }

  init(from decoder: any Decoder) throws {
    let json = try decoder.container(keyedBy: Key.self)
    func found<T: Decodable>() throws -> [T] { try json.decode([T].self, forKey: .found) }
    func range() throws -> ClosedRange<AttributeHandle> { try json.decode(HandleRange.self, forKey: .in).range }
    switch try json.word(.kind) as Kind {
    case .primaryServices: self.init(discovery: .primaryServices, response: .services(try found()))
    case .includedServices:
      self.init(discovery: .includedServices(in: try range()), response: .includedServices(try found()))
    case .characteristics:
      self.init(discovery: .characteristics(in: try range()), response: .characteristics(try found()))
    case .descriptors: self.init(discovery: .descriptors(in: try range()), response: .descriptors(try found()))
    }
  }

  func encode(to encoder: any Encoder) throws {
    var json = encoder.container(keyedBy: Key.self)
    let (kind, range) = kind
    try json.encode(kind.rawValue, forKey: .kind)
    try json.encodeIfPresent(range.map(HandleRange.init), forKey: .in)
    switch response {
    case .services(let list): try json.encode(list, forKey: .found)
    case .includedServices(let list): try json.encode(list, forKey: .found)
    case .characteristics(let list): try json.encode(list, forKey: .found)
    case .descriptors(let list): try json.encode(list, forKey: .found)
    case .value, .values, .done: break
    }
  }
}

private struct HandleRange: Codable {
  private enum Key: CodingKey { case first, last }

  let range: ClosedRange<AttributeHandle>

  init(_ range: ClosedRange<AttributeHandle>) { self.range = range }

  init(from decoder: any Decoder) throws {
    let json = try decoder.container(keyedBy: Key.self)
    let first = try json.handle(.first)
    range = first...(try json.number(.last, in: first...AttributeHandle.max))
  }

  func encode(to encoder: any Encoder) throws {
    var json = encoder.container(keyedBy: Key.self)
    try json.encode(range.lowerBound, forKey: .first)
    try json.encode(range.upperBound, forKey: .last)
  }
}

extension GATTService: Codable {
  private enum Key: CodingKey { case uuid }

  package init(from decoder: any Decoder) throws {
    self.init(range: try HandleRange(from: decoder).range, uuid: try decoder.container(keyedBy: Key.self).uuid(.uuid))
  }

  package func encode(to encoder: any Encoder) throws {
    try HandleRange(range).encode(to: encoder)
    var json = encoder.container(keyedBy: Key.self)
    try json.encode(uuid.description, forKey: .uuid)
  }
}

extension GATTInclude: Codable {
  private enum Key: CodingKey { case handle, service }

  package init(from decoder: any Decoder) throws {
    let json = try decoder.container(keyedBy: Key.self)
    self.init(declaration: try json.handle(.handle), service: try json.decode(GATTService.self, forKey: .service))
  }

  package func encode(to encoder: any Encoder) throws {
    var json = encoder.container(keyedBy: Key.self)
    try json.encode(declaration, forKey: .handle)
    try json.encode(service, forKey: .service)
  }
}

extension GATTCharacteristic: Codable {
  private enum Key: CodingKey { case handle, value, properties, uuid }

  package init(from decoder: any Decoder) throws {
    let json = try decoder.container(keyedBy: Key.self)
    self.init(
      declaration: try json.handle(.handle), value: try json.handle(.value),
      properties: CharacteristicProperties(rawValue: try json.number(.properties)), uuid: try json.uuid(.uuid))
  }

  package func encode(to encoder: any Encoder) throws {
    var json = encoder.container(keyedBy: Key.self)
    try json.encode(declaration, forKey: .handle)
    try json.encode(value, forKey: .value)
    try json.encode(properties.rawValue, forKey: .properties)
    try json.encode(uuid.description, forKey: .uuid)
  }
}

extension GATTDescriptor: Codable {
  private enum Key: CodingKey { case handle, uuid }

  package init(from decoder: any Decoder) throws {
    let json = try decoder.container(keyedBy: Key.self)
    self.init(handle: try json.handle(.handle), uuid: try json.uuid(.uuid))
  }

  package func encode(to encoder: any Encoder) throws {
    var json = encoder.container(keyedBy: Key.self)
    try json.encode(handle, forKey: .handle)
    try json.encode(uuid.description, forKey: .uuid)
  }
}
