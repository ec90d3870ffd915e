import BluetoothHost
import BluetoothWire

/// A peer's configuration of this device's GATT server, as JSON.
extension GATTClientRecord {
  var json: JSON {
    .members([
      "subscriptions": .array(
        subscriptions.map { subscription in
          .members(["handle": .integer(Int64(subscription.handle)), "bits": .integer(Int64(subscription.bits))])
        }),
      "features": .integer(Int64(features)),
      "isChangeAware": .bool(isChangeAware),
      "change": change.map(\.json),
      "databaseHash": .string(databaseHash.map(\.hexadecimal).joined()),
    ])
  }

  init(_ json: JSONObject) throws(BondDecodingError) {
    var subscriptions: [Subscription] = []
    for object in try json.objects("subscriptions") {
      subscriptions.append(Subscription(handle: try object.handle("handle"), bits: try object.number("bits")))
    }
    self.init(
      subscriptions: subscriptions, features: try json.number("features"),
      isChangeAware: try json.bool("isChangeAware"), change: try json.object("change").map(handles),
      databaseHash: try json.octets("databaseHash"))
  }
}

private func handles(_ object: JSONObject) throws(BondDecodingError) -> ClosedRange<AttributeHandle> {
  try object.handles()
}

/// The cached database of a peer's GATT server, as JSON.
extension GATTCache {
  var json: JSON {
    .members([
      "databaseHash": .string(hash.description),
      "serviceChanged": attributes.serviceChanged.map { .integer(Int64($0)) },
      "serviceChangedConfiguration": attributes.configuration.map { .integer(Int64($0)) },
      "clientSupportedFeatures": attributes.clientSupportedFeatures.map { .integer(Int64($0)) },
      "databaseHashHandle": attributes.databaseHash.map { .integer(Int64($0)) },
      "serverSupportedFeatures": attributes.serverSupportedFeatures.map { .integer(Int64($0)) },
      // Sorted, because the order of a dictionary is random: the same cache must give the same file.
      "discoveries": .array(
        responses.compactMap { discovery, response in discovery.json(response) }
          .sorted { $0.order < $1.order }.map(\.json)),
    ])
  }

  init(_ json: JSONObject) throws(BondDecodingError) {
    var attributes = GATTServiceAttributes()
    attributes.serviceChanged = try json.optionalHandle("serviceChanged")
    attributes.configuration = try json.optionalHandle("serviceChangedConfiguration")
    attributes.clientSupportedFeatures = try json.optionalHandle("clientSupportedFeatures")
    attributes.databaseHash = try json.optionalHandle("databaseHashHandle")
    attributes.serverSupportedFeatures = try json.optionalHandle("serverSupportedFeatures")
    self.init(hash: ByteSlice(try json.octets("databaseHash")), attributes: attributes)
    for object in try json.objects("discoveries") {
      let (discovery, response) = try GATTDiscovery.read(object)
      add(response, to: discovery)
    }
  }
}

extension GATTDiscovery {
  private enum Kind: String {
    case primaryServices, includedServices, characteristics, descriptors
  }

  private var kind: (Kind, ClosedRange<AttributeHandle>?) {
    switch self {
    case .primaryServices: (.primaryServices, nil)
    case .includedServices(let range): (.includedServices, range)
    case .characteristics(let range): (.characteristics, range)
    case .descriptors(let range): (.descriptors, range)
    }
  }

  /// Returns the result of a discovery with its sort key; nil: the result is not stored.
  fileprivate func json(_ response: GATTResponse) -> (order: String, json: JSON)? {
    let found: [JSON]
    switch response {
    case .services(let list): found = list.map(\.json)
    case .includedServices(let list):
      found = list.map { .members(["handle": .integer(Int64($0.declaration)), "service": $0.service.json]) }
    case .characteristics(let list): found = list.map(\.json)
    case .descriptors(let list):
      found = list.map { .members(["handle": .integer(Int64($0.handle)), "uuid": .string($0.uuid.description)]) }
    case .value, .values, .done: return nil
    }
    let (kind, range) = kind
    let json = JSON.members([
      "kind": .string(kind.rawValue), "in": range.map(\.json), "found": .array(found),
    ])
    let order = kind.rawValue + " " + (range?.lowerBound ?? 0).hexadecimal + (range?.upperBound ?? 0).hexadecimal
    return (order, json)
  }

  fileprivate static func read(_ json: JSONObject) throws(BondDecodingError) -> (GATTDiscovery, GATTResponse) {
    let name = try json.text("kind")
    guard let kind = Kind(rawValue: name) else { throw .malformed("unknown kind of discovery \"\(name)\"") }
    let found = try json.objects("found")
    if case .primaryServices = kind { return (.primaryServices, .services(try read(found, service))) }
    guard let range = try json.object("in").map(handles) else {
      throw .malformed("a discovery has no range")
    }
    switch kind {
    case .primaryServices, .includedServices:
      return (.includedServices(in: range), .includedServices(try read(found, include)))
    case .characteristics: return (.characteristics(in: range), .characteristics(try read(found, characteristic)))
    case .descriptors: return (.descriptors(in: range), .descriptors(try read(found, descriptor)))
    }
  }

  private static func read<T>(
    _ objects: [JSONObject], _ one: (JSONObject) throws(BondDecodingError) -> T
  ) throws(BondDecodingError) -> [T] {
    var result: [T] = []
    for object in objects { result.append(try one(object)) }
    return result
  }
}

private func service(_ json: JSONObject) throws(BondDecodingError) -> GATTService {
  GATTService(range: try json.handles(), uuid: try json.uuid("uuid"))
}

private func include(_ json: JSONObject) throws(BondDecodingError) -> GATTInclude {
  guard let object = try json.object("service") else { throw .malformed("an include has no service") }
  return GATTInclude(declaration: try json.handle("handle"), service: try service(object))
}

private func characteristic(_ json: JSONObject) throws(BondDecodingError) -> GATTCharacteristic {
  GATTCharacteristic(
    declaration: try json.handle("handle"), value: try json.handle("value"),
    properties: CharacteristicProperties(rawValue: try json.number("properties")), uuid: try json.uuid("uuid"))
}

private func descriptor(_ json: JSONObject) throws(BondDecodingError) -> GATTDescriptor {
  GATTDescriptor(handle: try json.handle("handle"), uuid: try json.uuid("uuid"))
}

extension GATTService {
  fileprivate var json: JSON {
    .members([
      "first": .integer(Int64(range.lowerBound)), "last": .integer(Int64(range.upperBound)),
      "uuid": .string(uuid.description),
    ])
  }
}

extension GATTCharacteristic {
  fileprivate var json: JSON {
    .members([
      "handle": .integer(Int64(declaration)), "value": .integer(Int64(value)),
      "properties": .integer(Int64(properties.rawValue)), "uuid": .string(uuid.description),
    ])
  }
}

extension ClosedRange<AttributeHandle> {
  fileprivate var json: JSON {
    .members(["first": .integer(Int64(lowerBound)), "last": .integer(Int64(upperBound))])
  }
}
