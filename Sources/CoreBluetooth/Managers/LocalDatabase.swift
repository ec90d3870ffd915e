import BluetoothDaemon
import BluetoothHost
import BluetoothWire
import Foundation
import NIOConcurrencyHelpers

/// The services that an app has published, by the numbers under which the service knows them.
struct LocalDatabase {
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
  /// Of services and characteristics; the objects are held above.
  private var ids: [ObjectIdentifier: LocalAttributeID] = [:]
  private var lastNumber: UInt32 = 0

  init() {}

  /// An empty one, whose numbers do not occur in `other`.
  init(after other: LocalDatabase) { lastNumber = other.lastNumber }

  var isEmpty: Bool { services.isEmpty }
  var allCharacteristics: [CBMutableCharacteristic] {
    characteristics.sorted { $0.key.number < $1.key.number }.map(\.value)
  }

  func id(of characteristic: CBMutableCharacteristic) -> LocalAttributeID? { ids[ObjectIdentifier(characteristic)] }
  func characteristic(_ id: LocalAttributeID) -> CBMutableCharacteristic? { characteristics[id] }

  /// Ends the publication of all objects: they have no subscribers, and any manager can publish them.
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

  /// What the service is to add: the service as it is now, whatever the app does to its objects later.
  mutating func add(_ service: CBMutableService, for owner: ManagerIdentity) -> Result<LocalService, Refusal> {
    let content = service.content.withLockedValue { $0 }
    guard ids[ObjectIdentifier(service)] == nil else { return .failure(.invalid) }
    // One that was handed over before will be there when this one's turn comes, or that answers with the error.
    let includes = (content.includedServices ?? []).map { ids[ObjectIdentifier($0)] }
    let mutables = (content.characteristics ?? []).map { $0 as? CBMutableCharacteristic }
    let objects = mutables.compactMap { $0 }
    // Twice in one service, or in two of them, is once too many.
    let isEachNew =
      Set(objects.map { ObjectIdentifier($0) }).count == objects.count
      && objects.allSatisfy { ids[ObjectIdentifier($0)] == nil }
    let isAllowed = objects.allSatisfy { $0.properties.isDisjoint(with: [.broadcast, .extendedProperties]) }
    guard includes.allSatisfy({ $0 != nil }), objects.count == mutables.count, isEachNew, isAllowed else {
      return .failure(.invalid)
    }
    guard service.claim(objects, for: owner) else { return .failure(.publishedElsewhere) }
    let definitions = objects.map { LocalCharacteristic(id: number($0), definition: $0.definition) }
    let definition = LocalService(
      id: number(service), uuid: service.uuid.wire, isPrimary: service.isPrimary,
      includes: includes.compactMap { $0 }, characteristics: definitions)
    services[definition.id] = Entry(service: service, characteristics: definitions.map(\.id))
    for (object, definition) in zip(objects, definitions) { characteristics[definition.id] = object }
    return .success(definition)
  }

  /// The service has answered; nil: the app took the service back meanwhile.
  mutating func added(_ id: LocalAttributeID, isRefused: Bool) -> CBMutableService? {
    guard let service = services[id]?.service else { return nil }
    if isRefused { _ = remove(service) }
    return service
  }

  /// nil: it is not there.
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

  /// Everything that was there, to be released outside of the manager's lock.
  mutating func removeAll() -> LocalDatabase {
    let before = self
    self = LocalDatabase(after: before)
    before.releaseObjects()
    return before
  }
}

extension CBMutableService {
  /// Stops the program if a characteristic with a cached value allows more than reading.
  func checkCachedValues() {
    for case let characteristic as CBMutableCharacteristic in content.withLockedValue({ $0.characteristics }) ?? [] {
      let content = characteristic.content.withLockedValue { $0 }
      let isReadOnly = content.properties.isSubset(of: .read) && content.permissions.isSubset(of: .readable)
      if content.value != nil, !isReadOnly { raise("Characteristics with cached values must be read-only") }
    }
  }
}

extension CBMutableService {
  /// Makes `owner` the publisher of the service and of `characteristics`. False, and nothing changes: one of them has a
  /// publisher.
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
  fileprivate func endPublication() {
    content.withLockedValue {
      $0.publisher = nil
      $0.subscribedCentrals = []
    }
  }

  /// The characteristic as the host's database is to have it.
  fileprivate var definition: GATTCharacteristicDefinition {
    let content = content.withLockedValue { $0 }
    var properties = content.properties
    // Apple's own bits say how to subscribe, and imply that one can.
    if properties.contains(.notifyEncryptionRequired) { properties.insert(.notify) }
    if properties.contains(.indicateEncryptionRequired) { properties.insert(.indicate) }
    return GATTCharacteristicDefinition(
      uuid: uuid.wire, properties: GATTProperties(rawValue: UInt8(truncatingIfNeeded: properties.rawValue)),
      permissions: GATTPermissions(rawValue: UInt8(truncatingIfNeeded: content.permissions.rawValue))
        .intersection([.readable, .writeable, .readEncryptionRequired, .writeEncryptionRequired]),
      value: content.value.map { ByteSlice($0) },
      subscriptionNeedsEncryption: !properties.isDisjoint(with: [
        .notifyEncryptionRequired, .indicateEncryptionRequired,
      ]),
      descriptors: (content.descriptors ?? []).compactMap { $0 as? CBMutableDescriptor }.map {
        GATTDescriptorDefinition(uuid: $0.uuid.wire, value: ByteSlice($0.octets))
      })
  }
}
