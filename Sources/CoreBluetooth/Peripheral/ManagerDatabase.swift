import BluetoothDaemon
import BluetoothHost
import BluetoothWire
import Foundation
import NIOConcurrencyHelpers

/// The services that an app has published, by the identifiers that the daemon uses.
struct ManagerDatabase {
  private struct Entry {
    let service: CBMutableService
    let characteristics: [LocalAttributeID]
  }

  enum Refusal: Error {
    case invalid
    /// Another manager has published one of the objects.
    case publishedElsewhere
  }

  private var services: [LocalAttributeID: Entry] = [:]
  private var characteristics: [LocalAttributeID: CBMutableCharacteristic] = [:]
  /// The identifiers of services and characteristics. `services` and `characteristics` retain the objects.
  private var ids: [ObjectIdentifier: LocalAttributeID] = [:]
  private var lastNumber: UInt32 = 0

  init() {}

  /// Creates an empty database whose identifiers do not occur in `other`.
  init(after other: ManagerDatabase) { lastNumber = other.lastNumber }

  var isEmpty: Bool { services.isEmpty }
  var allCharacteristics: [CBMutableCharacteristic] {
    characteristics.sorted { $0.key.number < $1.key.number }.map(\.value)
  }

  func id(of characteristic: CBMutableCharacteristic) -> LocalAttributeID? { ids[ObjectIdentifier(characteristic)] }
  func characteristic(_ id: LocalAttributeID) -> CBMutableCharacteristic? { characteristics[id] }

  /// Ends the publication of all objects: their subscriptions end, and any manager can publish them.
  func releaseObjects() {
    for entry in services.values { entry.service.content.withLockedValue { $0.publisher = nil } }
    for characteristic in characteristics.values { characteristic.endPublication() }
  }

  private mutating func number(_ object: AnyObject) -> LocalAttributeID {
    lastNumber &+= 1
    let id = LocalAttributeID(number: lastNumber)
    ids[ObjectIdentifier(object)] = id
    return id
  }

  /// Adds a service and returns its definition for the daemon, a snapshot that later changes of the app's objects
  /// don't affect.
  mutating func add(_ service: CBMutableService, for owner: ManagerIdentity) -> Result<LocalServiceInfo, Refusal> {
    let content = service.content.withLockedValue { $0 }
    guard ids[ObjectIdentifier(service)] == nil else { return .failure(.invalid) }
    // The daemon may not have added an included service yet. It adds services in order, and reports an error for this
    // service if an included service is missing.
    let includes = (content.includedServices ?? []).map { ids[ObjectIdentifier($0)] }
    let mutables = (content.characteristics ?? []).map { $0 as? CBMutableCharacteristic }
    let objects = mutables.compactMap { $0 }
    // A characteristic object may occur only once, in one service.
    let isEachNew =
      Set(objects.map { ObjectIdentifier($0) }).count == objects.count
      && objects.allSatisfy { ids[ObjectIdentifier($0)] == nil }
    let isAllowed = objects.allSatisfy { $0.properties.isDisjoint(with: [.broadcast, .extendedProperties]) }
    guard includes.allSatisfy({ $0 != nil }), objects.count == mutables.count, isEachNew, isAllowed else {
      return .failure(.invalid)
    }
    guard service.claim(objects, for: owner) else { return .failure(.publishedElsewhere) }
    let definitions = objects.map { LocalCharacteristicInfo(id: number($0), definition: $0.definition) }
    let definition = LocalServiceInfo(
      id: number(service), uuid: service.uuid.wire, isPrimary: service.isPrimary,
      includes: includes.compactMap { $0 }, characteristics: definitions, handle: service.fixedHandle)
    services[definition.id] = Entry(service: service, characteristics: definitions.map(\.id))
    for (object, definition) in zip(objects, definitions) { characteristics[definition.id] = object }
    return .success(definition)
  }

  /// Adds a service that the daemon has kept, under the identifiers that the daemon knows.
  mutating func restore(_ definition: LocalServiceInfo, for owner: ManagerIdentity) -> CBMutableService {
    let service = CBMutableService(type: CBUUID(definition.uuid), primary: definition.isPrimary)
    let objects = definition.characteristics.map { CBMutableCharacteristic($0.definition) }
    service.characteristics = objects
    if !definition.includes.isEmpty {
      service.includedServices = definition.includes.compactMap { services[$0]?.service }
    }
    _ = service.claim(objects, for: owner)
    ids[ObjectIdentifier(service)] = definition.id
    services[definition.id] = Entry(service: service, characteristics: definition.characteristics.map(\.id))
    for (object, characteristic) in zip(objects, definition.characteristics) {
      ids[ObjectIdentifier(object)] = characteristic.id
      characteristics[characteristic.id] = object
    }
    let numbers = definition.characteristics.map(\.id.number) + [definition.id.number]
    lastNumber = numbers.reduce(lastNumber, max)
    return service
  }

  /// Handles the daemon's reply to the addition of a service. Returns nil if the app has removed the service
  /// meanwhile.
  mutating func added(_ id: LocalAttributeID, isRefused: Bool) -> CBMutableService? {
    guard let service = services[id]?.service else { return nil }
    if isRefused { _ = remove(service) }
    return service
  }

  /// Removes a service and returns its identifier; nil if it is not in the database.
  mutating func remove(_ service: CBMutableService) -> LocalAttributeID? {
    guard let id = ids.removeValue(forKey: ObjectIdentifier(service)),
      let entry = services.removeValue(forKey: id)
    else { return nil }
    service.content.withLockedValue { $0.publisher = nil }
    for characteristic in entry.characteristics {
      guard let object = characteristics.removeValue(forKey: characteristic) else { continue }
      ids[ObjectIdentifier(object)] = nil
      object.endPublication()
    }
    return id
  }

  /// Removes all services. Returns the former content, which must be released outside the manager's lock.
  mutating func removeAll() -> ManagerDatabase {
    let before = self
    self = ManagerDatabase(after: before)
    before.releaseObjects()
    return before
  }
}

extension CBMutableService {
  /// Stops the program if a characteristic with a cached value allows other operations than reading.
  func checkCachedValues() {
    for case let characteristic as CBMutableCharacteristic in content.withLockedValue({ $0.characteristics }) ?? [] {
      let content = characteristic.content.withLockedValue { $0 }
      let isReadOnly = content.properties.isSubset(of: .read) && content.permissions.isSubset(of: .readable)
      if content.value != nil, !isReadOnly { raise("Characteristics with cached values must be read-only") }
    }
  }
}

extension CBMutableService {
  /// Makes `owner` the publisher of the service and of `characteristics`. Returns false, without any change, if one
  /// of them already has a publisher.
  fileprivate func claim(_ characteristics: [CBMutableCharacteristic], for owner: ManagerIdentity) -> Bool {
    guard content.withLockedValue({ $0.claim(for: owner) }) else { return false }
    for (index, characteristic) in characteristics.enumerated() {
      if characteristic.content.withLockedValue({ $0.claim(for: owner) }) { continue }
      content.withLockedValue { $0.publisher = nil }
      for claimed in characteristics[..<index] { claimed.endPublication() }
      return false
    }
    return true
  }
}

extension CBService.Content {
  fileprivate mutating func claim(for owner: ManagerIdentity) -> Bool {
    guard publisher == nil else { return false }
    publisher = owner
    return true
  }
}

extension CBCharacteristic.Content {
  fileprivate mutating func claim(for owner: ManagerIdentity) -> Bool {
    guard publisher == nil else { return false }
    publisher = owner
    return true
  }
}

extension CBMutableCharacteristic {
  /// Creates the object of a characteristic that the daemon has kept.
  fileprivate convenience init(_ definition: GATTCharacteristicDefinition) {
    var properties = CBCharacteristicProperties(rawValue: UInt(definition.properties.rawValue))
    if definition.subscriptionNeedsEncryption {
      if properties.contains(.notify) { properties.insert(.notifyEncryptionRequired) }
      if properties.contains(.indicate) { properties.insert(.indicateEncryptionRequired) }
    }
    self.init(
      type: CBUUID(definition.uuid), properties: properties, value: definition.value.map { Data($0) },
      permissions: CBAttributePermissions(rawValue: UInt(definition.permissions.rawValue)))
    guard !definition.descriptors.isEmpty else { return }
    descriptors = definition.descriptors.compactMap { descriptor in
      // Descriptors of apps have a stored value.
      guard case .stored(let octets) = descriptor.content else { return nil }
      let value = CBDescriptor.value(of: Data(octets), for: descriptor.uuid)
      return CBMutableDescriptor(anyType: CBUUID(descriptor.uuid), value: value)
    }
  }

  fileprivate func endPublication() {
    content.withLockedValue {
      $0.publisher = nil
      $0.subscribedCentrals = []
    }
  }

  /// The definition of the characteristic for the host's GATT server.
  fileprivate var definition: GATTCharacteristicDefinition {
    let content = content.withLockedValue { $0 }
    var properties = content.properties
    // Apple's encryption bits imply that the client can subscribe.
    if properties.contains(.notifyEncryptionRequired) { properties.insert(.notify) }
    if properties.contains(.indicateEncryptionRequired) { properties.insert(.indicate) }
    var definition = GATTCharacteristicDefinition(
      uuid: uuid.wire, properties: CharacteristicProperties(rawValue: UInt8(truncatingIfNeeded: properties.rawValue)),
      permissions: AttributePermissions(rawValue: UInt8(truncatingIfNeeded: content.permissions.rawValue))
        .intersection([.readable, .writeable, .readEncryptionRequired, .writeEncryptionRequired]),
      value: content.value.map { ByteSlice($0) },
      subscriptionNeedsEncryption: !properties.isDisjoint(with: [
        .notifyEncryptionRequired, .indicateEncryptionRequired,
      ]),
      descriptors: (content.descriptors ?? []).compactMap { $0 as? CBMutableDescriptor }.map {
        var definition = GATTDescriptorDefinition(uuid: $0.uuid.wire, value: ByteSlice($0.octets))
        definition.handle = $0.fixedHandle
        return definition
      })
    definition.handle = fixedHandle
    return definition
  }
}
