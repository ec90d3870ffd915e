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
  private var declarations: [(service: BluetoothUUID, handle: AttributeHandle)] = []

  package init() {}

  /// Returns the declaration handles of the services that `service` includes, without those that have not been added.
  package func includes(of service: AccessoryService<Owner>) -> [AttributeHandle] {
    service.includes.compactMap { included in declarations.first { $0.service == included }?.handle }
  }

  package mutating func add(_ service: AccessoryService<Owner>, at placement: GATTServicePlacement) {
    declarations.append((service.uuid, placement.range.lowerBound))
    for (characteristic, handle) in zip(service.characteristics, placement.values) {
      paths.append((handle, characteristic.path))
      characteristics.append(characteristic)
    }
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
  /// Returns the definition of the service for the host's GATT server.
  ///
  /// - Parameter includes: the declaration handles of the included services.
  func definition(includes: [AttributeHandle]) -> GATTServiceDefinition {
    GATTServiceDefinition(
      uuid: uuid, isPrimary: isPrimary, includes: includes,
      characteristics: characteristics.map { characteristic in
        GATTCharacteristicDefinition(
          uuid: characteristic.uuid, properties: characteristic.properties,
          extendedProperties: characteristic.extendedProperties, permissions: characteristic.permissions, value: nil,
          subscriptionNeedsEncryption: characteristic.protection == .encrypted,
          descriptors: characteristic.descriptors.map(definition))
      })
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
    case .other(let uuid, let octets):
      return GATTDescriptorDefinition(uuid: uuid, value: ByteSlice(octets))
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

extension AccessoryCharacteristic {
  fileprivate var permissions: AttributePermissions {
    var permissions: AttributePermissions = []
    if properties.contains(.read) { permissions.insert(.readable) }
    if !properties.isDisjoint(with: [.write, .writeWithoutResponse]) { permissions.insert(.writeable) }
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
