import BluetoothHost
import BluetoothProfiles
import BluetoothWire

/// A client's subscription to a characteristic of an accessory.
package struct AccessorySubscriber: Equatable, Sendable {
  package var link: HCI.ConnectionHandle
  package var handle: AttributeHandle
  package var path: CharacteristicPath
}

/// The attribute handles of an accessory's characteristics, with their subscriptions.
package struct AccessoryAttributes<Owner: Accessory> {
  private var paths: [(handle: AttributeHandle, path: CharacteristicPath)] = []
  /// The characteristics, each with the index of its path.
  private var characteristics: [AccessoryCharacteristic<Owner>] = []
  package private(set) var subscriptions: [AccessorySubscriber] = []
  /// The characteristic values that clients have configured to be broadcast.
  private var broadcasts: Set<AttributeHandle> = []
  /// The services, each with its index in `Accessory.services` and its handles, of which the first is the declaration.
  private var services: [(index: Int, uuid: BluetoothUUID, handles: ClosedRange<AttributeHandle>)] = []

  package init() {}

  /// Returns the declaration handles of the services that `service` includes, without those that have not been added.
  ///
  /// - Parameter all: the services of the accessory, of which some may come later.
  package func includes(of service: AccessoryService<Owner>, in all: [AccessoryService<Owner>]) -> [AttributeHandle] {
    let handles = service.includedHandles.filter { handle in
      !all.indices.contains { all[$0].handle == handle && declaration(ofServiceAt: $0) == nil }
    }
    return service.includes.compactMap { included in services.first { $0.uuid == included }?.handles.lowerBound }
      + handles
  }

  /// Adds the service with this index in `Accessory.services`.
  package mutating func add(_ service: AccessoryService<Owner>, index: Int, at placement: GATTServicePlacement) {
    services.append((index, service.uuid, placement.range))
    for (characteristic, handle) in zip(service.characteristics, placement.values) {
      paths.append((handle, characteristic.path))
      characteristics.append(characteristic)
    }
  }

  /// Returns the declaration of the service with this index; nil: the service is not there.
  package func declaration(ofServiceAt index: Int) -> AttributeHandle? {
    services.first { $0.index == index }?.handles.lowerBound
  }

  /// Removes the service with this index, and the subscriptions to its values.
  package mutating func removeService(at index: Int) {
    guard let place = services.firstIndex(where: { $0.index == index }) else { return }
    let handles = services.remove(at: place).handles
    characteristics = zip(paths, characteristics).filter { !handles.contains($0.0.handle) }.map(\.1)
    paths.removeAll { handles.contains($0.handle) }
    subscriptions.removeAll { handles.contains($0.handle) }
    broadcasts = broadcasts.filter { !handles.contains($0) }
  }

  package func path(at handle: AttributeHandle) -> CharacteristicPath? { paths.first { $0.handle == handle }?.path }

  /// Returns the characteristic whose value has this handle.
  package func characteristic(at handle: AttributeHandle) -> AccessoryCharacteristic<Owner>? {
    paths.firstIndex { $0.handle == handle }.map { characteristics[$0] }
  }

  /// Returns the characteristic with this path, and the handle of its value.
  package func characteristic(
    _ path: CharacteristicPath
  ) -> (handle: AttributeHandle, definition: AccessoryCharacteristic<Owner>)? {
    paths.firstIndex { $0.path == path }.map { (paths[$0].handle, characteristics[$0]) }
  }

  /// The characteristics that are told about events of their clients.
  package var controlPoints: [AccessoryCharacteristic<Owner>] { characteristics.filter { $0.clientEvent != nil } }

  /// The characteristics with at least one subscriber or a configured broadcast, each once.
  package var observed: [AccessoryCharacteristic<Owner>] {
    paths.indices.filter { index in
      isBroadcast(paths[index].handle) || subscriptions.contains { $0.handle == paths[index].handle }
    }.map { characteristics[$0] }
  }

  package func isBroadcast(_ handle: AttributeHandle) -> Bool { broadcasts.contains(handle) }

  package mutating func setBroadcast(of handle: AttributeHandle, _ isOn: Bool) {
    if isOn { broadcasts.insert(handle) } else { broadcasts.remove(handle) }
  }

  /// Notes the subscription of a client, or its end.
  ///
  /// - Returns: false if the subscription has not changed.
  @discardableResult
  package mutating func setSubscription(
    of link: HCI.ConnectionHandle, to handle: AttributeHandle, _ isOn: Bool
  ) -> Bool {
    let wasOn = subscriptions.contains { $0.link == link && $0.handle == handle }
    guard isOn != wasOn else { return false }
    if isOn, let path = path(at: handle) {
      subscriptions.append(AccessorySubscriber(link: link, handle: handle, path: path))
    } else {
      subscriptions.removeAll { $0.link == link && $0.handle == handle }
    }
    return true
  }

  package mutating func forget(_ link: HCI.ConnectionHandle) { subscriptions.removeAll { $0.link == link } }
}

extension AccessoryService {
  /// Returns the indices of the services in an order in which each follows those that it includes by their handles.
  /// Services that include each other keep their order: the database has an error for the first of them.
  package static func orderOfInclusion(_ services: [Self]) -> [Int] {
    var waiting = Array(services.indices)
    var order: [Int] = []
    while !waiting.isEmpty {
      let missing = Set(waiting.compactMap { services[$0].handle })
      let next = waiting.firstIndex { missing.isDisjoint(with: services[$0].includedHandles) } ?? 0
      order.append(waiting.remove(at: next))
    }
    return order
  }

  /// Returns the indices of the services that the service with this index includes.
  package static func servicesIncluded(by index: Int, in services: [Self]) -> [Int] {
    services[index].includes.compactMap { uuid in services[..<index].firstIndex { $0.uuid == uuid } }
      + services[index].includedHandles.compactMap { handle in services.firstIndex { $0.handle == handle } }
  }

  /// Returns the definition of the service for the host's GATT server.
  ///
  /// - Parameter includes: the declaration handles of the included services.
  func definition(includes: [AttributeHandle]) -> GATTServiceDefinition {
    GATTServiceDefinition(
      uuid: uuid, isPrimary: isPrimary, includes: includes, characteristics: characteristics.map(definition),
      handle: handle)
  }

  private func definition(of characteristic: AccessoryCharacteristic<Owner>) -> GATTCharacteristicDefinition {
    var definition = GATTCharacteristicDefinition(
      uuid: characteristic.uuid, properties: characteristic.properties,
      extendedProperties: characteristic.extendedProperties,
      permissions: characteristic.permissions ?? characteristic.neededPermissions, value: nil,
      subscriptionNeedsEncryption: characteristic.protection == .encrypted,
      descriptors: characteristic.descriptors.map(self.definition))
    definition.shownProperties = characteristic.shownProperties
    definition.handle = characteristic.handle
    return definition
  }

  private func definition(of descriptor: AccessoryDescriptor) -> GATTDescriptorDefinition {
    switch descriptor {
    case .userDescription(let text, let isWritable):
      return GATTDescriptorDefinition(
        uuid: 0x2901, content: .stored(ByteSlice(Array(text.utf8))),
        permissions: isWritable ? [.readable, .writeable] : .readable)
    case .presentationFormat(let format):
      return GATTDescriptorDefinition(uuid: 0x2904, value: ByteSlice(format.octets))
    case .aggregateFormat(let parts):
      return GATTDescriptorDefinition(uuid: 0x2905, content: .formats(parts.compactMap(formatPath)))
    case .other(let uuid, let octets, let permissions, let handle):
      var definition = GATTDescriptorDefinition(
        uuid: uuid, content: .stored(ByteSlice(octets)), permissions: permissions)
      definition.handle = handle
      return definition
    }
  }

  /// Returns the position of the first presentation format of a characteristic.
  private func formatPath(of uuid: BluetoothUUID) -> GATTDescriptorPath? {
    guard let characteristic = characteristics.firstIndex(where: { $0.uuid == uuid }) else { return nil }
    let format = characteristics[characteristic].descriptors.firstIndex {
      if case .presentationFormat = $0 { true } else { false }
    }
    return format.map { GATTDescriptorPath(characteristic: characteristic, descriptor: $0) }
  }
}

extension GATTDatabaseError {
  /// The reason in words for the author of an accessory.
  fileprivate var reason: String {
    switch self {
    case .full: "no attribute handles are left"
    case .invalidHandle(let handle):
      "the attribute handle \(handle) is taken, or not after those before it"
    case .unknownService(let handle):
      "no service has the attribute handle \(handle), or the services include each other"
    case .invalidValueLength: "a value is longer than \(ATT.maximumValueLength) octets"
    case .invalidDescriptor(let uuid): "the descriptor \(uuid) has a value or permissions that it can't have"
    }
  }
}

extension Accessory {
  /// Returns the index of the first service that the database of a host refuses, with the reason; nil: it takes all of
  /// them, if all are there at the same time and if they come and go.
  ///
  /// - Parameter changes: the services that are added and removed after the start, by their indices, in this order.
  package func refusedService(
    after changes: [(index: Int, isPresent: Bool)] = []
  ) -> (index: Int, reason: String)? {
    let services = services
    let order = AccessoryService.orderOfInclusion(services)
    // In this order, a service includes only those before it.
    var trial = ServiceTrial<Self>(firstHandle: firstHandle)
    for index in order {
      if let reason = trial.add(services[index], index, in: []) { return (index, reason) }
    }
    trial = ServiceTrial(firstHandle: firstHandle)
    let first = order.filter { services[$0].isPresentAtStart }.map { (index: $0, isPresent: true) }
    for change in first + changes {
      if change.isPresent, let reason = trial.add(services[change.index], change.index, in: services) {
        return (change.index, reason)
      }
      if !change.isPresent { trial.remove(change.index) }
    }
    return nil
  }
}

/// The database of a host, on which services are tried.
private struct ServiceTrial<Owner: Accessory> {
  private var database: GATTDatabase
  private var attributes = AccessoryAttributes<Owner>()

  init(firstHandle: AttributeHandle) {
    database = GATTDatabase(deviceName: "", appearance: 0, firstHandle: firstHandle)
  }

  /// Adds a service, unless it is there. Returns the reason why the database refuses it; nil: it does not.
  mutating func add(
    _ service: AccessoryService<Owner>, _ index: Int, in all: [AccessoryService<Owner>]
  ) -> String? {
    guard attributes.declaration(ofServiceAt: index) == nil else { return nil }
    do throws(GATTDatabaseError) {
      let placement = try database.add(service.definition(includes: attributes.includes(of: service, in: all)))
      attributes.add(service, index: index, at: placement)
      return nil
    } catch {
      return error.reason
    }
  }

  /// Removes a service, if it is there.
  mutating func remove(_ index: Int) {
    guard let declaration = attributes.declaration(ofServiceAt: index) else { return }
    _ = database.remove(declaration: declaration)
    attributes.removeService(at: index)
  }
}

extension AccessoryCharacteristic {
  /// The permissions that the properties and the protection need.
  fileprivate var neededPermissions: AttributePermissions {
    var permissions: AttributePermissions = []
    if properties.contains(.read) { permissions.insert(.readable) }
    let writes: CharacteristicProperties = [.write, .writeWithoutResponse, .authenticatedSignedWrites]
    if !properties.isDisjoint(with: writes) { permissions.insert(.writeable) }
    if protection == .encrypted {
      if permissions.contains(.readable) { permissions.insert(.readEncryptionRequired) }
      if permissions.contains(.writeable) { permissions.insert(.writeEncryptionRequired) }
    }
    return permissions
  }

  fileprivate var extendedProperties: GATTExtendedProperties {
    var extended: GATTExtendedProperties = []
    if hasReliableWrite { extended.insert(.reliableWrite) }
    let isWritable = descriptors.contains { if case .userDescription(_, true) = $0 { true } else { false } }
    if isWritable { extended.insert(.writableAuxiliaries) }
    return extended
  }
}
